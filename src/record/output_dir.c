/* SPDX-License-Identifier: MIT */
#include "record/output_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err.h"

/* "data", "data.12" */
static bool is_part(const char *name)
{
	if (strncmp(name, "data", 4))
		return false;
	name += 4;
	if (!*name)
		return true;
	return *name == '.' && name[1] && !name[1 + strspn(name + 1, "0123456789")];
}

/* What a recorder makes of `data`: a perf.data header, or nothing yet when it was killed early. */
static bool has_header(int dir)
{
	static const char unwritten[8];
	char magic[8] = "";
	const int fd = openat(dir, "data", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n = -1;

	if (fd >= 0) {
		n = read(fd, magic, sizeof(magic));
		close(fd);
	}
	return n == 0 || (n == sizeof(magic) && (!memcmp(magic, "PERFILE2", sizeof(magic)) ||
						 !memcmp(magic, unwritten, sizeof(magic))));
}

/* Looks at all entries; removes them when asked to. */
static bool walk(const char *path, bool removes)
{
	bool is_recording;
	struct dirent *e;
	DIR *d = opendir(path);

	if (!d)
		return false;
	is_recording = has_header(dirfd(d));
	while (is_recording && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		is_recording = is_part(e->d_name);
		if (removes && is_recording)
			is_recording = unlinkat(dirfd(d), e->d_name, 0) == 0;
	}
	closedir(d);
	return is_recording;
}

bool output_dir_is_recording(const char *path)
{
	return walk(path, false);
}

bool output_dir_remove(const char *path)
{
	return walk(path, false) && walk(path, true) && rmdir(path) == 0;
}

static int make_file(const struct output *o, int dir, const char *name, int *ret_fd)
{
	const int fd = openat(dir, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_errno(errno, "%s/%s: cannot create it", o->path, name);
	output_give_to_sudo_user(fd);
	*ret_fd = fd;
	return 0;
}

static int make_files(const struct output *o, int dir, size_t nr_parts, int *ret_fd,
		      int *ret_part_fds)
{
	TRY(make_file(o, dir, "data", ret_fd));
	for (size_t i = 0; i < nr_parts; i++) {
		char name[32];

		snprintf(name, sizeof(name), "data.%zu", i);
		TRY(make_file(o, dir, name, &ret_part_fds[i]));
	}
	return 0;
}

int output_dir_open(struct output *o, const char *path, size_t nr_parts, int *ret_fd,
		    int *ret_part_fds)
{
	int dir, r;

	TRY(output_prepare(o, path));
	if (!o->is_regular)
		return err_set(-ENOTDIR, "%s: --threads needs the name of a directory to make",
			       path);
	if (mkdir(path, 0700) < 0 || (dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		r = err_errno(errno, "%s: cannot make it%s", path,
			      errno_no_descriptor(errno) ? "" : "; choose another place with -o");
		output_put_back(o);
		return r;
	}
	o->is_directory = true;
	output_give_to_sudo_user(dir);
	*ret_fd = -1;
	for (size_t i = 0; i < nr_parts; i++)
		ret_part_fds[i] = -1;
	r = make_files(o, dir, nr_parts, ret_fd, ret_part_fds);
	close(dir);
	if (r == 0)
		return 0;
	if (*ret_fd >= 0)
		close(*ret_fd);
	for (size_t i = 0; i < nr_parts; i++)
		if (ret_part_fds[i] >= 0)
			close(ret_part_fds[i]);
	output_discard(o);
	return r;
}
