/* SPDX-License-Identifier: MIT */
#include "live/starter.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/err.h"

static const char *const programs[] = { "sudo", "pkexec" };

/* Finds an executable file of this name in PATH. */
static bool starter_find(const char *name, char *path, size_t size)
{
	const char *dirs = getenv("PATH");

	if (!dirs)
		dirs = "/usr/bin:/bin";
	for (;;) {
		const size_t len = strcspn(dirs, ":");

		snprintf(path, size, "%.*s/%s", (int)len, dirs, name);
		if (len && access(path, X_OK) == 0)
			return true;
		if (!dirs[len])
			return false;
		dirs += len + 1;
	}
}

/* The index of the first program that is there, or -1. */
static int starter_choose(char *path, size_t size)
{
	for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++)
		if (starter_find(programs[i], path, size))
			return (int)i;
	return -1;
}

const char *starter_name(const struct starter *how)
{
	char path[PATH_MAX];
	const int i = how->broker_fd ? -1 : starter_choose(path, sizeof(path));

	return i < 0 ? "the recorder" : programs[i];
}

static int starter_spawn(const struct starter *how, const char *path, const int fds[3],
			 pid_t *ret_pid)
{
	char *const argv[] = { (char *)path, (char *)how->sonde, "record", "-o",
			       "-",          "--serve",          NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t defaults;
	int error;

	/* some languages ignore SIGPIPE, and a program may ignore SIGCHLD */
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGPIPE);
	sigaddset(&defaults, SIGCHLD);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, how->mask);
	posix_spawnattr_setsigdefault(&attr, &defaults);
	error = posix_spawn(ret_pid, path, &actions, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return error ? err_errno(error, "cannot run %s", path) : 0;
}

static int starter_ask_broker(int broker_fd, const int fds[3])
{
	union {
		char bytes[CMSG_SPACE(3 * sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec byte = { .iov_base = "r", .iov_len = 1 };
	struct msghdr m = { .msg_iov = &byte,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(3 * sizeof(int));
	memcpy(CMSG_DATA(c), fds, 3 * sizeof(int));
	if (sendmsg(broker_fd, &m, MSG_NOSIGNAL) < 0)
		return err_errno(errno, "the process of sonde run that has the rights is gone");
	return 0;
}

int starter_start(const struct starter *how, const int fds[3], pid_t *ret_pid)
{
	char path[PATH_MAX];

	*ret_pid = 0;
	if (how->broker_fd)
		return starter_ask_broker(how->broker_fd, fds);
	if (how->sonde[0] != '/')
		return err_set(-EINVAL, "sudo: '%s' is no absolute path of the program sonde",
			       how->sonde);
	if (starter_choose(path, sizeof(path)) < 0)
		return err_set(-EACCES, "there is neither sudo nor pkexec in PATH to record with "
					"more rights: run as root");
	return starter_spawn(how, path, fds, ret_pid);
}
