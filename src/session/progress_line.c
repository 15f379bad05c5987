/* SPDX-License-Identifier: MIT */
#include "session/progress_line.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "sonde/sonde.h"

#define WIPE "\r\033[K"

/* Signal handlers read these flags. */
static atomic_bool is_drawn, has_ended;

/* Seconds needed for the rest, if this share of the work took elapsed_ms. */
static uint64_t progress_left_s(double share, uint64_t elapsed_ms)
{
	return (uint64_t)((double)elapsed_ms / share * (1 - share) / 1000 + 0.5);
}

static double progress_share_of(uint64_t done, uint64_t total)
{
	return done < total ? (double)done / (double)total : 1;
}

size_t progress_line_text(const struct sonde_progress *p, char ret[PROGRESS_LINE_BYTES])
{
	const double share = progress_share_of(p->done, p->total);

	if (p->total && p->done)
		return (size_t)snprintf(
			ret, PROGRESS_LINE_BYTES, "%d %%, %" PRIu64 " events, %" PRIu64 " s left",
			(int)(100 * share), p->events, progress_left_s(share, p->elapsed_ms));
	if (p->total)
		return (size_t)snprintf(ret, PROGRESS_LINE_BYTES, "0 %%, %" PRIu64 " events",
					p->events);
	/* each byte counts twice */
	return (size_t)snprintf(ret, PROGRESS_LINE_BYTES, "%" PRIu64 " MiB, %" PRIu64 " events",
				p->done >> 21, p->events);
}

size_t progress_line_unpacking(uint64_t done, uint64_t total, uint64_t elapsed_ms,
			       char ret[PROGRESS_LINE_BYTES])
{
	const double share = progress_share_of(done, total);

	if (total && done)
		return (size_t)snprintf(ret, PROGRESS_LINE_BYTES,
					"unpacking: %d %%, %" PRIu64 " s left", (int)(100 * share),
					progress_left_s(share, elapsed_ms));
	return (size_t)snprintf(ret, PROGRESS_LINE_BYTES, "unpacking: %" PRIu64 " MiB", done >> 20);
}

/*
 * One call, so that no other output gets in between. If the terminal does not accept it, there is
 * no line.
 */
static void progress_put(const char *text, size_t len)
{
	ssize_t n = write(STDERR_FILENO, text, len);

	(void)n;
}

/* A background job does not use the terminal. In a sandbox the terminal's owner may be unknown. */
static bool progress_has_terminal(void)
{
	const pid_t group = tcgetpgrp(STDERR_FILENO);

	return group < 0 || group == getpgrp();
}

void progress_line_draw(const char *text, size_t len)
{
	char line[sizeof(WIPE) + PROGRESS_LINE_BYTES] = WIPE;
	struct winsize size = { 0 };

	if (atomic_load(&has_ended) || !progress_has_terminal())
		return;
	/* text that wraps into a second line could not be removed */
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col && len >= size.ws_col)
		len = size.ws_col - 1u;
	memcpy(line + sizeof(WIPE) - 1, text, len);
	atomic_store(&is_drawn, true);
	progress_put(line, sizeof(WIPE) - 1 + len);
}

void progress_line_wipe(bool is_last)
{
	if (is_last)
		atomic_store(&has_ended, true);
	if (atomic_exchange(&is_drawn, false))
		progress_put(WIPE, sizeof(WIPE) - 1);
}
