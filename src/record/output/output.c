/* SPDX-License-Identifier: MIT */
#include "record/output/output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/rename_new.h"
#include "record/output/recorded_dir.h"

static int output_keep_old(struct output *o)
{
	char old[PATH_MAX];
	struct stat st;

	if (snprintf(old, sizeof(old), "%s.old", o->path) >= (int)sizeof(old))
		return err_set(-ENAMETOOLONG, "%s: the name is too long", o->path);
	if (stat(o->path, &st) < 0)
		return 0;
	if (S_ISDIR(st.st_mode) && !recorded_dir_check(o->path))
		return err_set(-EISDIR,
			       "%s is a directory, not a recording: name another file with -o",
			       o->path);
	if (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode))
		return err_set(-ESPIPE, "%s is a pipe: recordings need a file", o->path);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		o->is_regular = false;
		return 0;
	}
	if (S_ISREG(st.st_mode) && st.st_size == 0)
		return unlink(o->path) < 0 ? err_errno(errno, "%s: cannot replace it", o->path) : 0;
	/* rename() cannot replace a directory by a file, or a file by a directory */
	if (!recorded_dir_remove(old) && S_ISDIR(st.st_mode))
		unlink(old);
	if (rename(o->path, old) < 0)
		return err_errno(errno, "%s: cannot keep it as %s", o->path, old);
	o->kept_old = true;
	return 0;
}

void output_put_back(struct output *o)
{
	char old[PATH_MAX];

	if (!o->kept_old)
		return;
	snprintf(old, sizeof(old), "%s.old", o->path);
	if (rename(old, o->path) == 0)
		o->kept_old = false;
}

/* If root runs on behalf of another user, sudo names that user. */
void output_give_to_sudo_user(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (geteuid() != 0 || !uid || !*uid)
		return;
	if (fchown(fd, (uid_t)strtoul(uid, NULL, 10),
		   gid && *gid ? (gid_t)strtoul(gid, NULL, 10) : (gid_t)-1) < 0)
		return; /* a file system without owners: the file stays root's */
}

bool output_is_pipe(const char *path)
{
	struct stat st;

	if (path)
		return !strcmp(path, "-");
	return fstat(STDOUT_FILENO, &st) == 0 && S_ISFIFO(st.st_mode);
}

enum { PIPE_BYTES = 1 << 20 };

/*
 * Opens the pipe again, non-blocking: O_NONBLOCK on the inherited descriptor would also apply to
 * the other processes that write to it.
 */
static int output_open_again(int fd)
{
	struct stat st;
	char path[64];
	int again;

	if (fstat(fd, &st) < 0 || !S_ISFIFO(st.st_mode))
		return fd;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
	if (again < 0)
		return fd;
	close(fd);
	return again;
}

int output_pipe(struct output *o, int fd, int *ret_fd)
{
	const char *name = fd == STDOUT_FILENO ? "the standard output" : "the reader's pipe";

	*o = (struct output){ .path = strdup(name), .is_pipe = true };
	if (!o->path)
		return err_nomem();
	if (isatty(fd))
		return err_set(
			-EINVAL,
			"a recording is not written to a terminal: name a file with -o FILE, "
			"or pipe it to a reader with |");
	*ret_fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	/* Enlarges the pipe if possible: fewer switches between the recorder and the reader. */
	if (*ret_fd >= 0 && fcntl(*ret_fd, F_GETPIPE_SZ) < PIPE_BYTES)
		fcntl(*ret_fd, F_SETPIPE_SZ, PIPE_BYTES);
	if (*ret_fd < 0)
		return err_errno(errno, "cannot write to %s", name);
	*ret_fd = output_open_again(*ret_fd);
	return 0;
}

int output_prepare(struct output *o, const char *path)
{
	*o = (struct output){ .path = strdup(path), .is_regular = true };
	return o->path ? output_keep_old(o) : err_nomem();
}

int output_open(struct output *o, const char *path, int *ret_fd)
{
	int fd, error;

	TRY(output_prepare(o, path));
	/* O_EXCL: if a file exists now, another process has just created it. */
	fd = open(path, O_RDWR | O_CLOEXEC | (o->is_regular ? O_CREAT | O_EXCL | O_NOFOLLOW : 0),
		  0600);
	if (fd < 0) {
		error = errno;
		output_put_back(o);
		return err_errno(
			error, "%s: cannot create it%s", path,
			errno_no_descriptor(error) ? "" : "; choose another place with -o FILE");
	}
	if (o->is_regular)
		output_give_to_sudo_user(fd);
	*ret_fd = fd;
	return 0;
}

void output_discard(struct output *o)
{
	if (!o->path || !o->is_regular)
		return;
	if (o->is_directory)
		recorded_dir_remove(o->path);
	else
		unlink(o->path);
	output_put_back(o);
}

int output_set_aside(struct output *o, char **ret_name)
{
	enum { TRIES = 1000 };
	struct timespec now;
	char *name;
	int e = -EEXIST;

	clock_gettime(CLOCK_REALTIME, &now);
	/*
	 * If two files end in the same hundredth of a second, the later one gets the next number.
	 */
	for (int i = 0; e == -EEXIST && i < TRIES; i++) {
		char text[32];
		struct tm tm;

		if (!localtime_r(&now.tv_sec, &tm) ||
		    !strftime(text, sizeof(text), "%Y%m%d%H%M%S", &tm))
			return err_set(-EOVERFLOW, "the system clock shows an impossible time");
		if (asprintf(&name, "%s.%s%02ld", o->path, text, now.tv_nsec / 10000000) < 0)
			return err_nomem();
		e = rename_new(o->path, name);
		if (e == 0) {
			*ret_name = name;
			return 0;
		}
		if (e != -EEXIST)
			err_errno(-e, "cannot rename %s to %s", o->path, name);
		free(name);
		now.tv_nsec += 10000000;
		if (now.tv_nsec >= 1000000000) {
			now.tv_nsec -= 1000000000;
			now.tv_sec++;
		}
	}
	return e == -EEXIST ? err_set(e, "%s: all file names with this time are in use", o->path)
			    : e;
}

void output_take_back(struct output *o, const char *name)
{
	/* If that fails as well, the recording stays in the file with the other name. */
	if (rename_new(name, o->path) < 0)
		return;
}

void output_done(struct output *o)
{
	free(o->path);
	o->path = NULL;
}
