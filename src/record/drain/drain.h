/* SPDX-License-Identifier: MIT */
/*
 * Moves records from the rings to the file. A pass visits each ring once, passes its records to the
 * outlet without copying them, and ends with FINISHED_ROUND. The events of this pass are never
 * newer than events of the pass after the next one. The pass also reads the headers of the records,
 * for the count of samples, first and last time, losses, and mapped files.
 */
#ifndef SONDE_RECORD_DRAIN_DRAIN_H
#define SONDE_RECORD_DRAIN_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/hash.h"
#include "capture/counters.h"
#include "record/drain/affinity.h"
#include "capture/running/bpf.h"
#include "record/describe/dsos.h"
#include "record/drain/follow.h"
#include "record/drain/outlet.h"

/* Sums over the records of one file. */
struct drain_totals {
	/* samples: number accepted by the outlet; lost: the sum of LOST records */
	uint64_t samples, lost;
	uint64_t first_time_ns, last_time_ns; /* of samples; both 0 if there are none */
};

/* States which samples contain a time. */
enum drain_times { DRAIN_TIMES_ALL, DRAIN_TIMES_SOME, DRAIN_TIMES_NONE };

/*
 * *ret_untimed: ids of the counters whose samples have no time, if other samples have one. The
 * caller frees it with hash64_done().
 */
int drain_find_times(const struct capture_events *events, const struct counters *counters,
		     struct hash64 *ret_untimed, enum drain_times *ret);

/* Samples that are in no ring: whoever has them takes part in each pass. pass NULL: nobody. */
struct drain_feed {
	/* Calls drain_block(). Returns 1 if there was data, 0, or a negative errno. */
	int (*pass)(void *ctx);
	/* A record of a ring that is no sample. */
	int (*record)(void *ctx, const struct ring *r, uint64_t pos,
		      const struct perfdata_record_header *h);
	void *ctx;
};

struct drain {
	struct ring *rings; /* borrowed */
	size_t nr_rings;
	struct outlet *outlet;     /* borrowed */
	struct affinity *affinity; /* borrowed; NULL if the thread does not move */
	struct dsos *dsos;         /* borrowed; collects files mapped and hit; NULL if not needed */
	struct dso_hits hits;
	struct bpf_programs *bpf; /* collects the programs loaded; NULL if not needed */
	/* a pipe is read during the recording: rounds continue until the last event is released */
	bool is_live;
	struct follow *follow; /* notes records of state; NULL if not needed */
	struct drain_feed feed;
	int feed_error; /* of feed.record, until the pass returns it */
	/* no FINISHED_ROUND records, for example because the file contains only one ring */
	bool has_no_rounds;
	uint64_t least_bytes; /* a ring with less data is skipped, unless takes_all */
	bool takes_all;       /* all data is drained, for example because no more will follow */
	bool has_build_ids;   /* the attrs request build ids in mappings */
	enum drain_times times;
	/* ids of counters whose samples have no time, for DRAIN_TIMES_SOME; borrowed */
	const struct hash64 *untimed;
	struct drain_totals totals;
	uint64_t pending; /* samples of the batch being filled */
	bool owes_round;
	/* in the last pass rings were filling fast, so the next pass is due at once */
	bool is_pressed;
	VEC(uint64_t) heads, done; /* positions of the current pass, by ring */
};

/*
 * The kernel wakes the drain when buffers fill (buffers_wakeup_bytes()). Rare events are fetched at
 * this interval, so that a recorder that is killed loses little.
 */
enum { DRAIN_SLEEP_MS = 1000 };

/*
 * Returns 1 if there was data, 0 if there was none, or a negative errno if it could not be written.
 */
int drain_pass(struct drain *d);
/* For a feed, in its pass: drains what the rings have now. */
int drain_catch_up(struct drain *d);
/* Drains consecutive records in memory. */
int drain_block(struct drain *d, const void *records, size_t len);
/* Writes a FINISHED_ROUND record alone, to settle the order of everything drained so far. */
int drain_round(struct drain *d);
/* Called after a failed pass, with the counters disabled: counts the samples left in the rings. */
void drain_count_left(const struct drain *d, struct tally *to);
/* Adds the totals of another drain of the same recording to `to`. */
void drain_absorb(struct drain *to, struct drain *from);
void drain_done(struct drain *d);

#endif
