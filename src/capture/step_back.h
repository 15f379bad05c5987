/* SPDX-License-Identifier: MIT */
/*
 * What can be changed of an event that the kernel refuses, so that it is recorded all the same: one
 * small step, after which it is opened again. Steps that change what is recorded are reported.
 */
#ifndef SONDE_CAPTURE_STEP_BACK_H
#define SONDE_CAPTURE_STEP_BACK_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/events.h"
#include "capture/say.h"

/* Steps that are made once for all events. */
struct steps_back {
	unsigned dropped;   /* how many new features this kernel does not know */
	bool no_file_limit; /* RLIMIT_NOFILE is raised as far as it goes */
};

/* An event that could not be opened there. */
struct refused {
	struct capture_events *events;
	struct capture_event *event; /* of the list */
	int32_t tid;
	int cpu;
	int error;     /* errno */
	bool any_open; /* the kernel took a counter before */
};

/* False when there is no step left. */
bool step_back(struct steps_back *s, const struct refused *r, const struct say *say);

#endif
