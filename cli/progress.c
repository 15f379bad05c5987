/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include "pager.h"

#include <sonde/sonde.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void progress_catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM };

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++) {
		struct sigaction before;

		if (!sigaction(signals[i], NULL, &before) && before.sa_handler == SIG_DFL)
			signal(signals[i], sonde_progress_signal);
	}
}

const char *progress_begin(const struct cli *cli, bool writes_meanwhile)
{
	const char *term = getenv("TERM");

	if (cli->no_progress || pager_runs() || !isatty(STDERR_FILENO) ||
	    (writes_meanwhile && isatty(STDOUT_FILENO)) || tcgetpgrp(STDERR_FILENO) != getpgrp() ||
	    !term || !strcmp(term, "dumb"))
		return "";
	progress_catch_signals();
	return "progress=1\n";
}
