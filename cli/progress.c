/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include "pager.h"

#include <sonde/sonde.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_drawn;

void progress_wipe(void)
{
	if (!is_drawn)
		return;
	is_drawn = false;
	fputs("\r\033[K", stderr);
	fflush(stderr);
}

static void draw(void *ctx, const struct sonde_progress *p)
{
	uint64_t left_s = 0;

	if (p->ended) {
		progress_wipe();
		return;
	}
	fputs("\r\033[K", stderr);
	is_drawn = true;
	if (p->total && p->done) {
		double share = p->done < p->total ? (double)p->done / (double)p->total : 1;

		left_s = (uint64_t)((double)p->elapsed_ms / share * (1 - share) / 1000 + 0.5);
		fprintf(stderr, "%d %%, %" PRIu64 " events, %" PRIu64 " s left", (int)(100 * share),
			p->events, left_s);
	} else {
		fprintf(stderr, "%" PRIu64 " MiB, %" PRIu64 " events", p->done >> 21 /* each byte counts twice */, p->events);
	}
	fflush(stderr);
}

void progress_begin(const struct cli *cli, struct sonde_session *s, bool writes_meanwhile)
{
	const char *term = getenv("TERM");

	if (cli->no_progress || pager_runs() || !isatty(STDERR_FILENO) ||
	    (writes_meanwhile && isatty(STDOUT_FILENO)) ||
	    tcgetpgrp(STDERR_FILENO) != getpgrp() || !term || !strcmp(term, "dumb"))
		return;
	sonde_session_on_progress(s, draw, NULL);
}
