/* SPDX-License-Identifier: MIT */
#include "stopping.h"

#include "cli.h"

#include <signal.h>
#include <stdatomic.h>

/* A signal handler can only reach globals. */
static _Atomic(struct sonde_session *) running;
static volatile sig_atomic_t came;

static void stopping_on_signal(int signo)
{
	struct sonde_session *s = running;

	came = signo;
	if (s)
		sonde_session_stop(s);
	else
		sonde_progress_signal(signo); /* nothing is written yet, or all of it */
}

void stopping_catch(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction before;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(ends[i], &(struct sigaction){ .sa_handler = stopping_on_signal },
				  NULL);
	}
	signal(SIGXFSZ, SIG_IGN);
}

void stopping_watch(struct sonde_session *s)
{
	running = s;
}

bool stopping_came(void)
{
	return came;
}

int stopping_end(int status)
{
	if (!came)
		return status;
	cli_say("interrupted: nothing is written");
	signal(came, SIG_DFL);
	raise(came);
	return CLI_FAILED;
}
