/* SPDX-License-Identifier: MIT */
#include "capture/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/err.h"

enum { CANNOT_EXECUTE = 126, NOT_FOUND = 127 };

/* Returns 0 or the errno that execve() would set, as far as it can be predicted. */
static int workload_executable(const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return errno;
	if (S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) < 0 ? EACCES : 0;
}

/*
 * Searches like execvp() for the first executable file. Returns EACCES if the only files found
 * cannot be executed.
 */
static int workload_search_path(const char *name)
{
	const char *dirs = getenv("PATH");
	int found = ENOENT;
	char path[PATH_MAX];

	if (!dirs)
		dirs = "/bin:/usr/bin";
	for (;;) {
		size_t len = strcspn(dirs, ":");
		int e;

		snprintf(path, sizeof(path), "%.*s%s%s", (int)len, dirs, len ? "/" : "", name);
		e = workload_executable(path);
		if (e == 0)
			return 0;
		if (e == EACCES)
			found = EACCES;
		if (!dirs[len])
			return found;
		dirs += len + 1;
	}
}

/* found: the file exists, so that ENOENT refers to the interpreter named in its first line. */
static int workload_cannot_run(const char *name, int error, bool found)
{
	if (found && error == ENOENT) {
		err_set(-error, "cannot run '%s': the interpreter that it names is not there",
			name);
		return CANNOT_EXECUTE;
	}
	err_set(-error, "cannot run '%s': %s", name,
		error == ENOENT && !strchr(name, '/') ? "no such command in PATH"
						      : strerror(error));
	return error == ENOENT || error == ENOTDIR ? NOT_FOUND : CANNOT_EXECUTE;
}

int workload_check(const char *const *command)
{
	const char *name = command[0];
	int error = !*name              ? ENOENT
		    : strchr(name, '/') ? workload_executable(name)
					: workload_search_path(name);

	return error ? workload_cannot_run(name, error, false) : 0;
}

static void workload_child(int go_fd, int error_fd, const char *const *command)
{
	char go;
	int error;
	ssize_t n;

	prctl(PR_SET_NAME, "sonde-exec");
	/*
	 * The child has the recorder's signal handlers until exec: a signal to the process group is
	 * handled by the recorder.
	 */
	do
		n = read(go_fd, &go, 1);
	while (n < 0 && errno == EINTR);
	if (n != 1)
		_exit(0); /* the recorder has ended or has given up */
	execvp(command[0], (char *const *)command);
	error = errno;
	if (write(error_fd, &error, sizeof(error)) != sizeof(error))
		_exit(CANNOT_EXECUTE);
	_exit(error == ENOENT ? NOT_FOUND : CANNOT_EXECUTE);
}

int workload_fork(struct workload *w, const char *const *command, unsigned flags)
{
	int go[2], error[2];

	*w = (struct workload){ .pidfd = -1, .go_fd = -1, .error_fd = -1 };
	if (pipe2(go, O_CLOEXEC) < 0)
		return err_errno(errno, "cannot make a pipe");
	if (pipe2(error, O_CLOEXEC) < 0) {
		int e = errno;

		close(go[0]);
		close(go[1]);
		return err_errno(e, "cannot make a pipe");
	}
	w->pid = fork();
	if (w->pid == 0) {
		close(go[1]);
		close(error[0]);
		if (flags & WORKLOAD_OF_LIBRARY)
			signal(SIGPIPE, SIG_DFL);
		if (flags & WORKLOAD_STDOUT_IS_TAKEN && dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
			_exit(CANNOT_EXECUTE);
		workload_child(go[0], error[1], command);
	}
	close(go[0]);
	close(error[1]);
	w->go_fd = go[1];
	w->error_fd = error[0];
	if (w->pid < 0) {
		w->pid = 0;
		return err_errno(errno, "cannot fork");
	}
	w->running = true;
#ifdef SYS_pidfd_open
	w->pidfd = (int)syscall(SYS_pidfd_open, w->pid, 0);
#endif
	return 0;
}

static int workload_status_of(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static int workload_reap(struct workload *w, int options)
{
	int status;
	pid_t p;

	do
		p = wait4(w->pid, &status, options, &w->usage);
	while (p < 0 && errno == EINTR);
	if (p == 0)
		return -1;
	w->running = false;
	return p < 0 ? 0 : workload_status_of(status);
}

int workload_start(struct workload *w, const char *name, int *ret_status)
{
	int error = 0;
	ssize_t n;

	n = write(w->go_fd, "g", 1);
	close(w->go_fd);
	w->go_fd = -1;
	if (n != 1)
		return err_errno(errno, "cannot start '%s'", name);
	/* exec closes the other end */
	do
		n = read(w->error_fd, &error, sizeof(error));
	while (n < 0 && errno == EINTR);
	close(w->error_fd);
	w->error_fd = -1;
	if (n != sizeof(error))
		return 0;
	workload_reap(w, 0);
	*ret_status = workload_cannot_run(name, error, true);
	return -error;
}

bool workload_ended(struct workload *w, int *ret_status)
{
	int status;

	if (!w->running)
		return true;
	status = workload_reap(w, WNOHANG);
	if (status < 0)
		return false;
	*ret_status = status;
	return true;
}

void workload_terminate(struct workload *w)
{
	kill(w->pid, SIGTERM);
}

void workload_close(struct workload *w)
{
	/* The child waits for a byte from go_fd and ends if the pipe is closed without one. */
	if (w->go_fd >= 0) {
		close(w->go_fd);
		w->go_fd = -1;
		if (w->running)
			workload_reap(w, 0);
	}
	if (w->error_fd >= 0)
		close(w->error_fd);
	if (w->pidfd >= 0)
		close(w->pidfd);
	w->pidfd = w->error_fd = -1;
}
