/* SPDX-License-Identifier: MIT */
/*
 * Events opened on cpus and tasks; the ring buffers they write to are in rings.h.
 *
 *	struct counters c = { .say = say };
 *	TRY(counters_open(&c, &events, &target));
 *	TRY(counters_map(&c, pages, false));
 *	counters_enable(&c);  ... ring_head(), records, ring_release() ...  counters_disable(&c);
 *	counters_close(&c);
 *
 * What the kernel is too old or the user too little trusted for is given up in small steps, aloud; where no step is
 * left the message names cause and remedy.
 */
#ifndef SONDE_CAPTURE_COUNTERS_H
#define SONDE_CAPTURE_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/counter.h"
#include "capture/events.h"
#include "capture/rings.h"
#include "capture/say.h"
#include "capture/step_back.h"

struct counters_target {
	const int *cpus; /* online ones, ascending */
	size_t nr_cpus;
	const int32_t *tids; /* one entry -1: everything that runs on the cpus */
	size_t nr_tids;
	bool tids_may_vanish;
	uint32_t
		wakeup_bytes; /* wakes who polls when so much is new; attrs that say it themselves count */
	bool per_thread; /* cpus is one -1: a ring for each of tids instead of each cpu */
};

struct counters {
	struct say say;
	VEC(struct counter) list;
	struct rings rings;
	struct steps_back steps; /* what was given up already */
};

/* The filters are looked at, but not set yet: a message tells what is wrong with one. */
int counters_open(struct counters *c, struct capture_events *events,
		  const struct counters_target *target);
/* data_pages: a power of two. `may_shrink`: take fewer when the limit of locked memory forbids so many. */
int counters_map(struct counters *c, size_t data_pages, bool may_shrink);
/* Sets them. A counter takes one filter, once: the texts must be complete. */
int counters_filter(struct counters *c, const struct capture_events *events);
int counters_enable(struct counters *c);
void counters_disable(struct counters *c);
/* The counters of one event only. */
int counters_enable_event(struct counters *c, uint32_t event);
void counters_disable_event(struct counters *c, uint32_t event);
/*
 * What a counter has counted so far, and how many records the kernel dropped for it; what it gave to children that have
 * ended is included. false: this kernel does not count what it drops.
 */
bool counter_read(const struct counter *n, uint64_t *ret_value, uint64_t *ret_dropped);
void counters_close(struct counters *c);

/* Whether this kernel tells build ids with mappings (attr.build_id, since 5.12). */
bool counters_know_build_ids(void);

#endif
