/* SPDX-License-Identifier: MIT */
/*
 * Opens events according to the settings, for a recorder or a live source.
 *
 *	struct capture c = { .say = say, .opts = &opts };
 *	TRY(capture_parse(&c));                           // parses the settings; opens nothing
 *	TRY(capture_name_events(&c, events, nr_events));
 *	TRY(capture_find_target(&c, has_command));
 *	TRY(capture_configure(&c, &steering));            // the attrs are complete
 *	TRY(capture_open(&c, false));                     // counters and rings, disabled
 *	TRY(capture_filter(&c));                          // once this process has all its threads
 *	counters_enable(&c.counters);  ...  capture_done(&c);
 */
#ifndef SONDE_CAPTURE_SETUP_CAPTURE_H
#define SONDE_CAPTURE_SETUP_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/counters.h"
#include "capture/events.h"
#include "capture/say.h"
#include "capture/setup/options.h"
#include "capture/setup/sampling.h"
#include "capture/setup/target.h"
#include "sonde/sonde.h"

struct capture {
	struct say say;
	const struct capture_options *opts; /* borrowed */
	uint64_t mmap_pages;                /* 0 if not given */
	struct capture_events events;
	struct sampling sampling;
	struct target target;
	struct counters counters;
};

/* Controls when events are enabled. */
struct capture_steering {
	bool is_switched; /* events are switched on and off during the recording */
	bool begins_off;
};

/*
 * Adds these events with their filters and control groups. Returns 1 if any is named, 0 if none is.
 */
int capture_add_events(struct capture_events *l, const struct sonde_record_event *events,
		       size_t nr);
/* -EBADR if a setting is wrong. -EOPNOTSUPP if this kernel does not support it. */
int capture_parse(struct capture *c);
/* The same. Adds cycles if no event is named. */
int capture_name_events(struct capture *c, const struct sonde_record_event *events, size_t nr);
/* The workload's task is not yet in target.tids. */
int capture_find_target(struct capture *c, bool has_command);
int capture_configure(struct capture *c, const struct capture_steering *steering);
/*
 * All events are disabled, except one that reports new processes. is_zipped: the data of the rings
 * is compressed when it is read.
 */
int capture_open(struct capture *c, bool is_zipped);
/* Sets the kernel's filters. If events exclude this process, that covers all threads it has now. */
int capture_filter(struct capture *c);
void capture_done(struct capture *c);

#endif
