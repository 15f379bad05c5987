/* SPDX-License-Identifier: MIT */
/*
 * What -e and --filter name: event texts parsed into attrs.
 *
 *	struct capture_events l = { 0 };
 *	TRY(capture_events_add(&l, "sched:sched_*,cpu-clock:u"));
 *	TRY(capture_events_filter(&l, "prev_pid > 1"));   // for the events of the last add
 *
 *	LIST  = EVENT{,EVENT}
 *	EVENT = SYSTEM:NAME[:MODIFIERS]   tracepoints, both parts may be globs
 *	      | NAME[:MODIFIERS]          software, hardware and cache events by the names of perf list
 *	      | rHEX[:MODIFIERS]          raw number of the processor
 *
 * An attr has here what the text says: type, config, exclude bits, precise_ip, pinned, exclusive. How to sample is for
 * record/ to add.
 */
#ifndef SONDE_CAPTURE_EVENTS_H
#define SONDE_CAPTURE_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/vec.h"
#include "capture/tracefs.h"

struct capture_event {
	struct perf_event_attr attr;
	const char *name;           /* "sched:sched_switch", "cs:u"; lent from the list */
	const char *system, *event; /* of a tracepoint; else NULL */
	const char *filter;         /* for the kernel, NULL none */
	bool is_default;            /* nobody named it */
	bool from_glob;             /* one of many: the recording goes on without it */
	bool chose_levels;          /* a modifier of u k h was given */
	bool exclude_self;          /* a tracepoint that leaves the recorder itself out */
};

struct capture_events {
	VEC(struct capture_event) list;
	struct arena arena;     /* of all text */
	size_t last_add;        /* index of the first event of the last add */
	struct tracefs tracefs; /* looked for when the first tracepoint is named */
	bool has_tracefs;
};

/* A message says what is wrong and offers names that are near. */
int capture_events_add(struct capture_events *l, const char *text);
/* What is recorded when nothing is named: cycles, as precise as can be. */
int capture_events_add_default(struct capture_events *l);
/* perf's dummy: counts nothing, carries the records of comm, fork, mmap. */
int capture_events_add_dummy(struct capture_events *l);
/* Several filters of one event are joined with &&. */
int capture_events_filter(struct capture_events *l, const char *filter);
int capture_event_filter(struct capture_events *l, struct capture_event *e, const char *filter);
void capture_events_done(struct capture_events *l);

#endif
