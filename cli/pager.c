/* SPDX-License-Identifier: MIT */
#include "pager.h"

#include "cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t pager; /* 0 if no pager runs */

static void pager_end_output(void)
{
	close(STDOUT_FILENO);
	close(STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
}

/*
 * The terminal belongs to the pager until it ends: after Ctrl-C users want to read the existing
 * output.
 */
static void pager_on_signal(int nr)
{
	pager_end_output();
	signal(nr, SIG_DFL);
	raise(nr);
}

static void pager_run(int in, const char *command)
{
	struct pollfd input = { .fd = in, .events = POLLIN };

	dup2(in, STDIN_FILENO);
	/*
	 * less clears the screen at its start, so it is not started before there is output: by then
	 * the user has answered any question.
	 */
	while (poll(&input, 1, -1) < 0 && errno == EINTR)
		;
	setenv("LESS", "FRSX", 0);
	execl("/bin/sh", "sh", "-c", command, NULL);
	_exit(127);
}

int pager_start(const char *command)
{
	static const int signals[] = { SIGINT, SIGHUP, SIGTERM, SIGQUIT };
	int fds[2];

	fflush(stdout);
	if (pipe(fds) || (pager = fork()) < 0) {
		cli_say("cannot start the pager '%s': %m", command);
		pager = 0;
		return -1;
	}
	if (!pager) {
		close(fds[1]);
		pager_run(fds[0], command);
	}
	dup2(fds[1], STDOUT_FILENO);
	if (isatty(STDERR_FILENO))
		dup2(fds[1], STDERR_FILENO);
	close(fds[0]);
	close(fds[1]);
	signal(SIGPIPE, SIG_IGN);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		signal(signals[i], pager_on_signal);
	return 0;
}

bool pager_runs(void)
{
	return pager != 0;
}

void pager_wait(void)
{
	if (!pager)
		return;
	fflush(stdout);
	pager_end_output();
	pager = 0;
}

const char *pager_default(void)
{
	static const char *const programs[] = { "/usr/bin/pager", "/usr/bin/less" };

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!access(programs[i], X_OK))
			return programs[i];
	return NULL;
}
