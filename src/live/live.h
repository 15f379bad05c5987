/* SPDX-License-Identifier: MIT */
/*
 * What happens now, as a session: a recorder in a thread of its own writes a pipe, which the
 * session reads.
 *
 *	thread   rings -> drain -> outlet --pipe--> stream -> cut -> order -> ...   session
 *	                                               `--> copy_fd (output=)
 *
 * The bytes are those of `sonde record -o -`, so everything that a session does with a recording is
 * done with live events by the same code, and the copy is a recording.
 *
 * Why nothing older than a delivered event follows: the recorder drains all rings in a pass and
 * ends it with FINISHED_ROUND. A record that a pass does not see was published after the pass had
 * read the head of its ring. Order (order.h) delivers what was seen before the pass before the last
 * one. A record that is older than these would have been published a complete pass after its time
 * was taken: its writer would have been held up between two instructions for that long. The worst
 * that was measured is 51 us, a pass takes at least 1 ms. Such a record is delivered at once,
 * marked late, and counted.
 *
 * The delay is two passes: latency= is the limit, waiting.c sleeps a third of it. A reader that is
 * slow fills the pipe, then the recorder's memory (transfer.c), then the rings, where the kernel
 * drops and counts what does not fit.
 */
#ifndef SONDE_LIVE_LIVE_H
#define SONDE_LIVE_LIVE_H

#include "sonde/sonde.h"

/* See sonde_live_open() and the other functions in sonde.h. */
int live_open(struct sonde_live **ret, const struct sonde_live_options *opts);
int live_session(struct sonde_live *l, const char *text, struct sonde_session **ret);
int live_start(struct sonde_live *l);
void live_stop(struct sonde_live *l);
const char *live_next_line(struct sonde_live *l, int *ret_level);
int live_result(struct sonde_live *l, struct sonde_record_result *ret);
void live_close(struct sonde_live *l);

#endif
