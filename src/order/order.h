/* SPDX-License-Identifier: MIT */
/*
 * Time order by a merge of runs.
 *
 * Recorders drain one buffer after another, so a recording is a sequence of monotonic runs, not a
 * shuffle. One cursor, the walk, reads ahead and notes the runs; the runs are merged when it is
 * known that nothing older can come:
 *
 *	file  | run a0 | run a1 | R | run b0 | run b1 | R | run c0 ...      R = end of a round
 *	walk  ------------------------------------->
 *	merge              everything up to the newest time seen before the round before this one
 *
 * Rounds overlap under load: round k releases times up to the newest seen before round k-1
 * (`limit`), no more. A record without time acts when the walk meets it. Equal times keep file and
 * offset order. An event older than what was delivered is delivered at once, marked late and
 * counted. Without rounds the whole input is walked first.
 *
 * Files that are monotonic by themselves (source_file.is_monotonic) are not walked: each is one run,
 * read once, while it is merged. What acts at once does so when all records in front of it in its
 * file are delivered; a record older than what was delivered is late.
 *
 * Several live streams (is_growing) are monotonic files that are never waited for alone. While each
 * of them has a record at hand, the oldest one is delivered. Streams that have none are silent; then
 * a pass over all streams releases times up to the newest seen before the pass before it, as a round
 * does, and a pass that releases nothing waits a millisecond for the silent ones. Records of a
 * silent stream that come later than that are late. An incomplete record is waited for like one
 * that has not begun.
 *
 * A record may depend on what is in front of it in its packet (struct unit). A run keeps the unit
 * where the cuts of its first record began, and is cut again from there.
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

/* The next records, borrowed until the next call. Returns how many, 0 at the end, <0 on failure. */
int order_next(struct order *o, const struct cut **ret);
/*
 * For a thread that reads ahead: from now on batches stay valid until they are given back. *how is
 * lent until the next call; NULL: no more, and nothing is out.
 */
void order_read_ahead(struct order *o, const struct order_ahead *how);
/* As order_next(), into the caller's room: the batch of this number, one more than the one before. */
int order_fill(struct order *o, struct cut room[ORDER_CUTS], uint64_t number);
/*
 * Adds up what was walked and what was delivered or refused, and twice the size; *total 0: a
 * stream, whose size is unknown.
 */
void order_progress(const struct order *o, uint64_t *done, uint64_t *total);
/* True if samples were refused because they are outside the windows of time. */
bool order_has_refused(const struct order *o);
void order_close(struct order *o); /* NULL is fine */
void order_stats(const struct order *o, struct order_stats *ret);

#endif
