/* SPDX-License-Identifier: MIT */
/*
 * A thread that reads the batches of a recording ahead: it reads, cuts and orders the records, and
 * decodes the samples of fixed layout, while the caller works on earlier batches.
 *
 *	thread   file -> cut -> order -> samples of fixed layout -> | ring of batches | -> caller
 *
 * The caller gets what it would get without the thread, in the same batches:
 *
 *	bytes	windows with a batch's records are not overwritten before it is given back
 *	source	the thread calls only cut() and decode_ahead(); the caller takes header records,
 *		which change how others are cut, after it has given back all batches; the thread
 *		waits for that
 *	defects	are counted with the batch during whose reading they were met
 *	errors	end the thread; the caller gets their text with the batch that failed
 *
 * All signals are blocked in the thread. A forked child has no thread: its next batch is an error.
 */
#ifndef SONDE_RECORDING_READER_H
#define SONDE_RECORDING_READER_H

#include "model/event.h"
#include "order/order.h"

struct defects;
struct reader;

/* Consecutive samples decoded ahead: cuts[cut..end_cut) gave events[event..+nr_events). */
struct stretch {
	uint16_t cut, end_cut, event, nr_events;
};

struct reader_batch {
	const struct cut *cuts;
	struct event *events;
	const struct stretch *stretches; /* ascending; the caller decodes the cuts between them */
	int nr_cuts, nr_stretches;
	/* *reader_options.wants when decoded; if it has changed, wanted samples may be missing */
	unsigned wants;
	/* order_progress() and order_stats() after this batch */
	uint64_t done, total;
	struct order_stats stats;
};

struct reader_options {
	struct order *order; /* borrowed */
	struct source *source;
	struct event like;            /* initial value of all events: size, recording, source */
	struct defects *read_defects; /* counts of reading; only the thread uses it while it runs */
	struct defects *defects;      /* the caller's, to which they are moved */
	/* Changes when a sample that was not wanted is wanted again. */
	const atomic_uint *wants;
	atomic_int *stopped; /* of the streams; set when reading is to end */
	/* reader_next() waits until this time of CLOCK_MONOTONIC at most; 0 or NULL: no limit */
	const _Atomic uint64_t *wake_ns;
	bool is_stream; /* a read may block: the caller is woken before it */
	bool decodes;   /* the caller uses stretches */
	/* Called by the caller's thread while it waits; may be NULL. */
	void (*progress)(void *ctx);
	void *progress_ctx;
};

/* <0 if no thread can be started. Nothing was read then; the caller has to read by itself. */
int reader_start(struct reader **ret, const struct reader_options *opts);
/*
 * The next batch, borrowed until the next call. Returns the number of cuts, 0 at the end, -EINTR if
 * the caller should handle its signals and call again, <0 on failure. After 0 or a failure the
 * thread has ended and the caller may use the order again.
 */
int reader_next(struct reader *r, const struct reader_batch **ret);
/* True while the thread runs. */
bool reader_runs(const struct reader *r);
/*
 * Like order_progress(), for the borrowed batch; the thread's progress if there is no newer batch.
 */
void reader_progress(struct reader *r, uint64_t *done, uint64_t *total);
/* True in a child that was forked while the thread ran: order and source must be left alone. */
bool reader_is_lost(const struct reader *r);
void reader_close(struct reader *r); /* NULL is fine */

#endif
