/* SPDX-License-Identifier: MIT */
/*
 * Changes to an event that the kernel refuses, so that it can still be recorded. Each call
 * makes one small step, after which the caller opens the event again. Steps that change what is
 * recorded are reported.
 */
#ifndef SONDE_CAPTURE_STEP_BACK_H
#define SONDE_CAPTURE_STEP_BACK_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/events.h"
#include "capture/say.h"

/* Steps that apply to all events. */
struct steps_back {
	unsigned dropped;   /* number of newer features that were dropped for this kernel */
	bool no_file_limit; /* RLIMIT_NOFILE is at its maximum */
};

/* An event that could not be opened. */
struct refused_event {
	struct capture_events *events;
	struct capture_event *event; /* in the list */
	int32_t tid;
	int cpu;
	int error;     /* errno */
	bool any_open; /* the kernel accepted an earlier counter */
};

/* False if no step is left. */
bool step_back(struct steps_back *s, const struct refused_event *r, const struct say *say);
/* The same for an event that is only counted: it keeps what it counts, or is not supported. */
bool step_back_for_counts(struct steps_back *s, const struct refused_event *r,
			  const struct say *say);

#endif
