/* SPDX-License-Identifier: MIT */
/*
 * The losses of each counter: events, not records. The kernel counts each record that found no room
 * for the counter it belongs to. Some counters also carry the records of state (names, mappings,
 * forks, exits), so their counts mix both kinds. If every event of a ring is a sample, the events
 * lost are the counted events minus the samples read from the ring; the other losses are records of
 * state.
 */
#ifndef SONDE_RECORD_DRAIN_LOSSES_H
#define SONDE_RECORD_DRAIN_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/counters.h"
#include "capture/events.h"

struct losses {
	bool is_known;  /* the kernel counts dropped records (since 6.0) */
	uint64_t state; /* lost records of state, as far as they can be distinguished from events */
};

/* Sets `lost` of each counter. is_over: the counters are disabled and their rings were emptied. */
void losses_read(struct counters *c, const struct capture_events *events, bool is_over,
		 struct losses *ret);

#endif
