/* SPDX-License-Identifier: MIT */
/* One input being ordered, for the files of this folder. order.h has the drawing. */
#ifndef SONDE_ORDER_ORDERING_H
#define SONDE_ORDER_ORDERING_H

#include "base/vec.h"
#include "order/cursor.h"
#include "order/options.h"

enum {
	WALK_CUTS = 256, /* made in one call of cut() */
	DEFAULT_MAX_RUNS = 1024,
	SMALLEST_WINDOW = 16 * 1024,
	SMALLEST_SHARE = 64 * 1024,
	MERGE_BUDGET = 24 * 1024 * 1024, /* bytes of windows, shared by the runs being merged */
	GRACE_MS = 1                     /* how long a silent stream can delay the others */
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
	struct unit unit;   /* of that record */
	uint64_t batch_off; /* where the last cuts began; batch_unit is the unit there */
	struct unit batch_unit;
	struct window_cache cache;
	struct window *window; /* being walked, from the cache; NULL if none */
	/* window->cuts[cut_at..nr_cuts) were cut; the walk has not handled them yet. */
	size_t cut_at, nr_cuts;
	bool walked;   /* all files to their ends */
	bool run_open; /* runs.v[n - 1] may still grow */
	bool indexing; /* too many runs: records go to the spill */
	uint64_t newest, newest_before_last_round, delivered;
	uint64_t limit; /* the merge delivers records up to this time */

	/* The merge. */
	VEC(struct run) runs;      /* found, not opened */
	size_t to_open;            /* heap.n when all runs of this merge are open */
	VEC(struct cursor *) heap; /* opened, smallest (time, place) first */
	/* Monotonic files whose next record may have no time, or is still to be read. */
	VEC(struct cursor *) unplaced;
	/* The first of those are growing streams that had no record when last asked. */
	size_t nr_silent;
	/* While streams are silent, the merge delivers records up to silent_limit. */
	uint64_t silent_limit, newest_before_pass;
	struct cursor *free_cursors; /* owned */

	struct cut *out; /* borrowed: the batch being made; nr_out > 0 only in order_fill() */
	int nr_out;
	uint64_t batch; /* number of that batch */
	struct cut own_out[ORDER_CUTS];
	uint64_t bytes_delivered;
	struct refused_cuts refused;
	bool passes_over; /* cuts may be marked as unwanted */
	struct {
		uint64_t nr, bytes, first_ns;
	} passed; /* unwanted cuts that were passed over */
	struct order_stats stats;
};

/*
 * Room in out[] for the next cuts, whose bytes are in w. Marks only w as used by the batch: the
 * walk may read any number of other windows before the batch is given back.
 */
static inline struct cut *order_put(struct order *o, struct window *w)
{
	w->used_by = o->batch;
	return &o->out[o->nr_out];
}

/*
 * Called when everything up to the limit of a round was delivered. The limit is the time of a
 * record: if that was passed over, an older one that follows is late all the same.
 */
static inline void order_note_passed_to(struct order *o, uint64_t limit)
{
	if (o->passes_over && o->delivered < limit)
		o->delivered = limit;
}

/* Counts the cuts from the first on that have times, each not older than the one before it. */
static inline size_t count_ascending(const struct cut *first, const struct cut *last,
				     uint64_t time_ns)
{
	const struct cut *cut = first;

	for (; cut < last && cut->order == CUT_ORDERED && cut->time_ns >= time_ns; cut++)
		time_ns = cut->time_ns;
	return (size_t)(cut - first);
}

#endif
