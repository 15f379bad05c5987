/* SPDX-License-Identifier: MIT */
/*
 * Time order by a merge of runs.
 *
 * Recorders drain one buffer after another, so a recording is a sequence of monotonic runs, not a
 * shuffle. The walk reads ahead and notes the runs. They are merged as soon as no older record can
 * follow:
 *
 *	file  | run a0 | run a1 | R | run b0 | run b1 | R | run c0 ...      R = end of a round
 *	walk  ------------------------------------->
 *	merge              everything up to the newest time seen before the round before this one
 *
 * Rounds overlap under load: round k releases times up to the newest seen before round k-1
 * (`limit`), no more. A record without a time is delivered when the walk meets it. Equal times keep
 * file and offset order. An event older than the last delivered one is delivered at once, marked
 * late and counted. An input without rounds is walked completely first.
 *
 * Monotonic files (source_file.is_monotonic) are not walked. Each is one run, and is read once,
 * while it is merged. A record without a time is delivered when all records before it in its file
 * are delivered. A record older than the last delivered one is late.
 *
 * Several live streams (is_growing) are monotonic files of which none may block the others. While
 * each stream has a record, the oldest one is delivered. A stream without a record is silent. Then
 * a pass over all streams releases times up to the newest seen before the previous pass, as a round
 * does. A pass that releases nothing waits one millisecond for the silent streams. Later records of
 * a silent stream may be late. An incomplete record counts as none.
 *
 * A record may depend on earlier bytes of its packet (struct unit). A run keeps the unit in which
 * the cutting of its first record began, and is cut again from there.
 *
 * Memory: one window for the walk, one for each run being merged (the budget is shared among them),
 * and the runs themselves. Too many runs (a shuffled file has one per event) are spilled: sorted in
 * pieces into an unlinked temporary file, each piece being one run (spill.h).
 */
#ifndef SONDE_ORDER_ORDER_H
#define SONDE_ORDER_ORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "order/options.h"
#include "sources/source.h"

struct order;

int order_open(struct order **ret, struct source *source, const struct order_options *opts);

/*
 * From now on, passes over samples of schemas that are unwanted at this moment: they must stay so.
 * Late ones are still delivered. Called before the first batch. Returns 1, 0 if this input does not
 * allow it, -ENOMEM.
 */
int order_pass_over(struct order *o);
/* The next records, borrowed until the next call. Returns how many, 0 at the end, <0 on failure. */
int order_next(struct order *o, const struct cut **ret);
/*
 * For a thread that reads ahead: from now on batches stay valid until they are given back. *how is
 * borrowed until the next call. NULL ends this; all batches must have been given back.
 */
void order_read_ahead(struct order *o, const struct order_ahead *how);
/* As order_next(), into the caller's room. `number` is that of the previous batch plus one. */
int order_fill(struct order *o, struct cut room[ORDER_CUTS], uint64_t number);
/*
 * *done: bytes that were walked, plus bytes that were delivered or refused. *total: twice the size,
 * or 0 for a stream, whose size is unknown.
 */
void order_progress(const struct order *o, uint64_t *done, uint64_t *total);
/* True if samples were refused because they are outside the windows of time. */
bool order_has_refused(const struct order *o);
/* Frees all but the statistics and the progress, after order_next() has returned 0. */
void order_end(struct order *o);
void order_close(struct order *o); /* NULL is fine */
void order_stats(const struct order *o, struct order_stats *ret);

#endif
