/* SPDX-License-Identifier: MIT */
/*
 * Events opened on cpus and tasks. rings.h has the ring buffers that they write to.
 *
 *	struct counters c = { .say = say };
 *	TRY(counters_open(&c, &events, &target));
 *	TRY(counters_map(&c, pages, false));
 *	counters_enable(&c);  ... ring_head(), records, ring_release() ...  counters_disable(&c);
 *	counters_close(&c);
 *
 * If the kernel is too old or a right is missing, features are given up in small steps,
 * each reported (step_back.h). If no step is left, the error names cause and remedy.
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
	const int32_t *tids; /* a single -1 means everything that runs on the cpus */
	size_t nr_tids;
	bool tids_may_vanish;
	/* amount of new data that wakes a poll, except for attrs with their own */
	uint32_t wakeup_bytes;
	bool per_thread; /* cpus is a single -1: there is one ring per tid, not per cpu */
};

struct counters {
	struct say say;
	VEC(struct counter) list;
	struct rings rings;
	struct steps_back steps; /* the steps already taken */
};

/*
 * Opens the counters. Checks the filters but does not set them; an error explains the mistake in a
 * filter.
 */
int counters_open(struct counters *c, struct capture_events *events,
		  const struct counters_target *target);
/*
 * data_pages must be a power of two. `may_shrink`: take fewer pages if the limit of locked memory
 * does not allow that many.
 */
int counters_map(struct counters *c, size_t data_pages, bool may_shrink);
/* Sets the filters. A counter accepts a filter only once, so the texts must be complete. */
int counters_filter(struct counters *c, const struct capture_events *events);
int counters_enable(struct counters *c);
void counters_disable(struct counters *c);
/* Enables the counters of one event only. */
int counters_enable_event(struct counters *c, uint32_t event);
void counters_disable_event(struct counters *c, uint32_t event);
/*
 * The number of events that a counter has counted, and the number of records that the kernel
 * dropped for it. Both include children that have ended. False if this kernel does not count
 * dropped records.
 */
bool counter_read(const struct counter *n, uint64_t *ret_value, uint64_t *ret_dropped);
void counters_close(struct counters *c);

/* True if this kernel reports build ids with mappings (attr.build_id, since 5.12). */
bool counters_know_build_ids(void);

#endif
