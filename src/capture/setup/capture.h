/* SPDX-License-Identifier: MIT */
/*
 * Events opened as the settings ask: what a recorder begins with, and a live source.
 *
 *	struct capture c = { .say = say, .opts = &opts };
 *	TRY(capture_parse(&c));                           // what the settings say; nothing is opened
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
	uint64_t mmap_pages;                /* 0: not given */
	struct capture_events events;
	struct sampling sampling;
	struct target target;
	struct counters counters;
};

/* When events are on. */
struct capture_steering {
	bool is_switched; /* they go on and off while it runs */
	bool begins_off;
};

/* -EBADR: a setting is wrong; -EOPNOTSUPP: this kernel cannot. */
int capture_parse(struct capture *c);
/* None: cycles. */
int capture_name_events(struct capture *c, const struct sonde_record_event *events, size_t nr);
/* A workload's task is still to be added to target.tids. */
int capture_find_target(struct capture *c, bool has_command);
int capture_configure(struct capture *c, const struct capture_steering *steering);
/*
 * All disabled, but for an event that reports new processes. is_zipped: what is taken from the
 * rings is compressed.
 */
int capture_open(struct capture *c, bool is_zipped);
/*
 * Sets the kernel's filters; where events leave this process out, on all threads that it has now.
 */
int capture_filter(struct capture *c);
void capture_done(struct capture *c);

#endif
