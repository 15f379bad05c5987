/* SPDX-License-Identifier: MIT */
#include "record_broker.h"

#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A script that records more often at a time is refused. */
enum { MOST_RECORDERS = 16, NR_FDS = 3, LOOK_MS = 1000 };

struct broker {
	int socket;
	pid_t owner;  /* the process that asks */
	int owner_fd; /* its pidfd, or -1 */
	unsigned nr_recorders;
	char program[PATH_MAX];
};

/* Receives a request. Returns 1 with the descriptors, 0 if there was none, -1 at the end. */
static int broker_receive(const struct broker *b, int fds[NR_FDS])
{
	union {
		char bytes[CMSG_SPACE(16 * sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec to = { &byte, 1 };
	struct msghdr m = { .msg_iov = &to,
			    .msg_iovlen = 1,
			    .msg_control = control.bytes,
			    .msg_controllen = sizeof(control.bytes) };
	const ssize_t n = recvmsg(b->socket, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
	const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	size_t nr;

	if (n < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -1;
	if (!n)
		return -1;
	if (!c || c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
		return 0;
	nr = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
	for (size_t i = 0; i < nr; i++) {
		int fd;

		memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
		if (nr == NR_FDS)
			fds[i] = fd;
		else
			close(fd);
	}
	return nr == NR_FDS;
}

static void broker_spawn(struct broker *b, const int fds[NR_FDS])
{
	char *const argv[] = { b->program, "record", "-o", "-", "--serve", NULL };
	char *const env[] = { "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/", NULL };
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	sigset_t all;
	pid_t pid;

	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawnattr_init(&attr);
	for (int i = 0; i < NR_FDS; i++)
		posix_spawn_file_actions_adddup2(&actions, fds[i], i);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigdefault(&attr, &all);
	/* one that cannot be started is seen by the end of its descriptors */
	if (posix_spawn(&pid, b->program, &actions, &attr, argv, env) == 0)
		b->nr_recorders++;
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
}

static void broker_reap(struct broker *b)
{
	while (b->nr_recorders && waitpid(-1, NULL, WNOHANG) > 0)
		b->nr_recorders--;
}

static void broker_run(struct broker *b)
{
	for (;;) {
		struct pollfd p[] = { { .fd = b->socket, .events = POLLIN },
				      { .fd = b->owner_fd, .events = POLLIN } };
		int fds[NR_FDS], r;

		poll(p, 2, LOOK_MS);
		broker_reap(b);
		if (p[1].revents || kill(b->owner, 0) < 0)
			return;
		r = p[0].revents ? broker_receive(b, fds) : 0;
		if (r < 0)
			return;
		if (!r)
			continue;
		if (b->nr_recorders < MOST_RECORDERS)
			broker_spawn(b, fds);
		for (int i = 0; i < NR_FDS; i++)
			close(fds[i]);
	}
}

/* The broker has no terminal, no folder and no descriptor of the user. */
static void broker_become(struct broker *b)
{
	const int null = open("/dev/null", O_RDWR);

	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	if (null < 0 || chdir("/") < 0)
		_exit(1);
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (dup2(null, fd) < 0)
			_exit(1);
	if (null > STDERR_FILENO)
		close(null);
	broker_run(b);
	_exit(0);
}

static bool broker_prepare(struct broker *b)
{
	const ssize_t n = readlink("/proc/self/exe", b->program, sizeof(b->program) - 1);

	b->owner = getpid();
	b->owner_fd = -1;
#ifdef SYS_pidfd_open
	b->owner_fd = (int)syscall(SYS_pidfd_open, b->owner, 0);
#endif
	return n > 0;
}

int record_broker_start(void)
{
	struct broker b = { 0 };
	int ends[2], status = 0;
	pid_t pid;

	if (!broker_prepare(&b) || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) < 0) {
		cli_say("cannot start a recorder for the script: %m");
		if (b.owner_fd >= 0)
			close(b.owner_fd);
		return -1;
	}
	b.socket = ends[0];
	fflush(stdout);
	/* a child of a child: the script waits for its own children only */
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		fcntl(b.socket, F_SETFD, FD_CLOEXEC);
		pid = fork();
		if (pid == 0)
			broker_become(&b);
		_exit(pid < 0);
	}
	close(ends[0]);
	if (b.owner_fd >= 0)
		close(b.owner_fd);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && WIFEXITED(status) && !WEXITSTATUS(status))
		return ends[1];
	close(ends[1]);
	cli_say("cannot start a recorder for the script: fork: %m");
	return -1;
}
