/* SPDX-License-Identifier: MIT */
/*
 * From the rings to the file. A pass looks at every ring once, hands what is there to the writer
 * straight from the rings, and ends with FINISHED_ROUND: an event of a later pass but one is never
 * older than what this pass brought. On the way the headers of the records are read, for the count
 * of samples, first and last time, losses, mapped files.
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

/* What went into one file. */
struct drain_totals {
	/* samples: those that its outlet took; lost: the sum of LOST records */
	uint64_t samples, lost;
	uint64_t first_time_ns, last_time_ns; /* of samples; 0, 0 while there is none */
};

/* Which samples hold a time. */
enum drain_times { DRAIN_TIMES_ALL, DRAIN_TIMES_SOME, DRAIN_TIMES_NONE };

/* *ret_untimed: ids of the counters without a time, if others have one; hash64_done() frees it. */
int drain_find_times(const struct capture_events *events, const struct counters *counters,
		     struct hash64 *ret_untimed, enum drain_times *ret);

struct drain {
	struct ring *rings; /* borrowed */
	size_t nr_rings;
	struct outlet *outlet;     /* borrowed */
	struct affinity *affinity; /* borrowed; NULL: the thread stays where it is */
	struct dsos *dsos; /* borrowed; gets what is mapped and hit; NULL: nobody wants it */
	struct dso_hits hits;
	struct bpf_programs *bpf; /* gets the programs loaded; NULL: nobody wants them */
	bool is_live; /* somebody reads along: rounds go on until the last event is released */
	struct follow *follow; /* wants to see records of state; NULL: nobody does */
	bool has_no_rounds;    /* the file holds one ring only: its events are in order anyhow */
	uint64_t least_bytes;  /* a ring that has less is left for later, unless ... */
	bool takes_all;        /* ... this is set: nothing more will come */
	bool has_build_ids;    /* the attrs ask for them in mappings */
	enum drain_times times;
	/* ids of counters whose samples have no time, for DRAIN_TIMES_SOME; borrowed */
	const struct hash64 *untimed;
	struct drain_totals totals;
	uint64_t pending; /* samples of the batch being made */
	bool owes_round;
	bool is_pressed; /* of the last pass: rings fill fast, so the next is due at once */
	VEC(uint64_t) heads, done; /* of the pass being made, by ring */
};

/*
 * The kernel wakes the drain when buffers fill (buffers_wakeup_bytes()); rare events are fetched
 * this often, so that a recorder that is killed loses little.
 */
enum { DRAIN_SLEEP_MS = 1000 };

/* 1: there was something, 0: nothing; <0: it could not be written. */
int drain_pass(struct drain *d);
/* Records that follow each other in memory are drained together. */
int drain_block(struct drain *d, const void *records, size_t len);
/* Ends a round by itself: what was drained until now is settled. */
int drain_round(struct drain *d);
/*
 * After a pass that failed, with the counters disabled: counts the samples that are left behind in
 * the rings.
 */
void drain_count_left(const struct drain *d, struct tally *to);
/* Adds to `to` what another drain of the same recording has seen. */
void drain_absorb(struct drain *to, struct drain *from);
void drain_done(struct drain *d);

#endif
