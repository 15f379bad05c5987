/* SPDX-License-Identifier: MIT */
/*
 * The probes that exist: tracepoints that somebody made in tracefs, for functions of the kernel or
 * of programs. A line of the file dynamic_events defines one:
 *
 *	p:probe/do_sys_open do_sys_openat2 dfd=%di:s32
 *	r10:GROUP/NAME ...     on return; with a limit
 *
 * Older kernels have the files kprobe_events and uprobe_events only.
 */
#ifndef SONDE_CAPTURE_DYNAMIC_EVENTS_H
#define SONDE_CAPTURE_DYNAMIC_EVENTS_H

#include "base/arena.h"
#include "base/vec.h"
#include "capture/tracefs.h"

struct dynamic_event {
	const char *name; /* "probe:do_sys_open" */
	const char *line; /* its definition */
};

struct dynamic_events {
	VEC(struct dynamic_event) list; /* sorted by name */
	struct arena arena;
};

/* The list is empty if the files cannot be read: only root may. Fails if memory runs out. */
int dynamic_events_read(const struct tracefs *t, struct dynamic_events *ret);
/* Parses the text of such a file and adds its events, unsorted. */
int dynamic_events_parse(struct dynamic_events *d, const char *text);
/* The definition of an event; NULL if it is not a probe. */
const char *dynamic_events_find(const struct dynamic_events *d, const char *name);
void dynamic_events_done(struct dynamic_events *d);

#endif
