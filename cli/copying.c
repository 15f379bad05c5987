/* SPDX-License-Identifier: MIT */
#include "copying.h"

#include <sonde/sonde.h>

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* A signal handler can only reach globals. */
static _Atomic(struct sonde_session *) running;
static volatile sig_atomic_t came;

static void copying_on_signal(int signo)
{
	struct sonde_session *s = running;

	came = signo;
	if (s)
		sonde_session_stop(s);
}

/*
 * Ignored signals stay ignored (nohup). Exceeding a file size limit becomes an error of the write.
 */
static void copying_catch_signals(void)
{
	static const int ends[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction before;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		if (sigaction(ends[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
			sigaction(ends[i], &(struct sigaction){ .sa_handler = copying_on_signal },
				  NULL);
	}
	signal(SIGXFSZ, SIG_IGN);
}

static int copying_copy(struct sonde_session *s, void *ctx)
{
	int r;

	running = s;
	if (came)
		sonde_session_stop(s);
	r = sonde_session_write(s, STDOUT_FILENO);
	running = NULL;
	if (r >= 0 && !came)
		recording_print_notes(s);
	return r;
}

int copying_run(const struct cli *cli, struct reading_options *rec)
{
	struct cli own = *cli;
	int status;

	/* Records are copied as they are: compat affects only printing. */
	own.compat = NULL;
	copying_catch_signals();
	status = recording_run(&own, rec, "format=perfdata\n", copying_copy, NULL);
	if (!came)
		return status;
	cli_say("interrupted: nothing is written");
	signal(came, SIG_DFL);
	raise(came);
	return CLI_FAILED;
}
