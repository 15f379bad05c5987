/* SPDX-License-Identifier: MIT */
/* What the files of this folder share: one input being ordered. order.h has the drawing. */
#ifndef SONDE_ORDER_ORDERING_H
#define SONDE_ORDER_ORDERING_H

#include "base/vec.h"
#include "order/cursor.h"
#include "order/options.h"

enum {
	WALK_CUTS = 256, /* cut at a time */
	DEFAULT_MAX_RUNS = 1024,
	SMALLEST_WINDOW = 16 * 1024,
	SMALLEST_SHARE = 64 * 1024,
	MERGE_BUDGET = 24 * 1024 * 1024, /* bytes of windows, shared by the runs being merged */
	GRACE_MS = 1 /* that a silent stream is waited for while others have records */
};

enum phase { WALKING, MERGING, ENDED };

struct order {
	struct cursor_input in;
	VEC(struct source_file) files;
	struct spill spill;
	struct order_options opts;

	/* The walk. */
	enum phase phase;
	unsigned file;      /* being walked */
	uint64_t walk_off;  /* of the next record to cut */
	struct unit unit;   /* it is in */
	uint64_t batch_off; /* where the last cuts began, and in which unit */
	struct unit batch_unit;
	struct window_cache cache;
	struct window *window; /* being walked, one of the cache's; NULL none */
	/* window->cuts[cut_at..nr_cuts) were cut, and the walk has not handled them yet. */
	size_t cut_at, nr_cuts;
	bool walked;   /* all files to their ends */
	bool run_open; /* runs.v[n - 1] may still grow */
	bool indexing; /* too many runs: records go to the spill */
	uint64_t newest, newest_before_last_round, delivered;
	uint64_t limit; /* of the merge: times up to here are released */

	/* The merge. */
	VEC(struct run) runs;      /* found, not opened */
	size_t to_open;            /* heap.n when all runs of this merge are open */
	VEC(struct cursor *) heap; /* opened, smallest (time, place) first */
	/* Of monotonic files: their next record may act at once, or is still to be read. */
	VEC(struct cursor *) unplaced;
	/* The first of those are of growing streams that had nothing when they were asked last. */
	size_t nr_silent;
	/* While there are silent ones, times up to here are released. */
	uint64_t silent_limit, newest_before_pass;
	struct cursor *free_cursors; /* owned */

	struct cut *out; /* lent: room for the batch being made; nr_out > 0 only in order_fill() */
	int nr_out;
	uint64_t batch; /* its number */
	struct cut own_out[ORDER_CUTS];
	uint64_t bytes_delivered;
	struct refused_cuts refused;
	struct order_stats stats;
};

/*
 * Room in out[] for the next cuts. Only the window that has them is lent with the batch: the walk
 * may read any number of others before the batch is given back.
 */
static inline struct cut *order_put(struct order *o, struct window *w)
{
	w->used_by = o->batch;
	return &o->out[o->nr_out];
}

/* How many cuts from the first on have times, each not older than the one before it. */
static inline size_t count_ascending(const struct cut *first, const struct cut *last,
				     uint64_t time_ns)
{
	const struct cut *cut = first;

	for (; cut < last && cut->order == CUT_ORDERED && cut->time_ns >= time_ns; cut++)
		time_ns = cut->time_ns;
	return (size_t)(cut - first);
}

#endif
