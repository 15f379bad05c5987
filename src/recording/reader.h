/* SPDX-License-Identifier: MIT */
/*
 * The batches of a recording, read ahead by a thread of their own: it reads, cuts and orders the
 * records, and decodes the samples of fixed layout, while the caller works on earlier batches.
 *
 *	thread   file -> cut -> order -> samples of fixed layout -> | ring of batches | -> caller
 *
 * The caller gets what it would get without the thread, in the same batches:
 *
 *	bytes	a batch's records lie in windows that are not read over before it is given back
 *	source	the thread calls cut() and decode_ahead() alone; header records, which change how
 *		others are cut, are taken by the caller when it has given everything back, while the
 *		thread waits
 *	defects	what reading meets is counted with the batch that it was met for
 *	errors	end the thread; their text is the caller's with the batch that failed
 *
 * All signals are blocked in the thread. A forked child has no thread: its next batch is an error.
 */
#ifndef SONDE_RECORDING_READER_H
#define SONDE_RECORDING_READER_H

#include "model/event.h"
#include "order/order.h"

struct defects;
struct reader;

/* Samples decoded ahead, side by side: cuts[cut..end_cut) gave events[event..+nr_events). */
struct stretch {
	uint16_t cut, end_cut, event, nr_events;
};

struct reader_batch {
	const struct cut *cuts;
	struct event *events;
	const struct stretch *stretches; /* ascending; what is between them is the caller's */
	int nr_cuts, nr_stretches;
	unsigned wants; /* as of *reader_options.wants; else unwanted samples may be missing */
	/* As order_progress() and order_stats() after it. */
	uint64_t done, total;
	struct order_stats stats;
};

struct reader_options {
	struct order *order; /* lent */
	struct source *source;
	struct event like; /* what every event of the batches has: size, recording, source */
	struct defects *read_defects; /* what reading counts: the thread's as long as it runs */
	struct defects *defects;      /* the caller's, where they go */
	/* Changes when a sample that was not wanted is wanted again. */
	const atomic_uint *wants;
	atomic_int *stopped; /* the streams'; set when reading is to end */
	bool is_stream;      /* reading may wait: the caller gets what there is before that */
	bool decodes;        /* the caller uses stretches */
	/* Called by the caller's thread while it waits; NULL: never. */
	void (*progress)(void *ctx);
	void *progress_ctx;
};

/* 0, or <0 if no thread can be had: the caller reads by itself. Nothing was read then. */
int reader_start(struct reader **ret, const struct reader_options *opts);
/*
 * The next batch, lent until the next call. Returns how many cuts, 0 at the end, -EINTR if the caller
 * is to look at its signals and ask again, <0 failure. After 0 or a failure the thread has ended: the order is the
 * caller's again.
 */
int reader_next(struct reader *r, const struct reader_batch **ret);
/* Whether the thread still reads. */
bool reader_runs(const struct reader *r);
/* As order_progress(), for the batch that is lent; how far the thread is if it has no other. */
void reader_progress(const struct reader *r, uint64_t *done, uint64_t *total);
/* True in a child that was forked while the thread ran: order and source must be left alone. */
bool reader_is_lost(const struct reader *r);
void reader_close(struct reader *r); /* NULL is fine */

#endif
