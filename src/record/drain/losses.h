/* SPDX-License-Identifier: MIT */
/*
 * What was lost, counter by counter: events, not records. The kernel counts each record that found
 * no room with the counter it belongs to; for the one that also carries the records of state
 * (names, mappings, forks, exits) that is a mixture. Where every event is a sample, what the
 * counters counted, less the samples that came out of their ring, are the events lost; the rest are
 * records of state.
 */
#ifndef SONDE_RECORD_DRAIN_LOSSES_H
#define SONDE_RECORD_DRAIN_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/counters.h"
#include "capture/events.h"

struct losses {
	bool is_known;  /* the kernel counts (since 6.0) */
	uint64_t state; /* records of state, as far as they can be distinguished from events */
};

/* Sets `lost` of each counter. is_over: the counters are disabled and their rings were emptied. */
void losses_read(struct counters *c, const struct capture_events *events, bool is_over,
		 struct losses *ret);

#endif
