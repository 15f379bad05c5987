/* SPDX-License-Identifier: MIT */
/*
 * Look-ups in the running kernel's tracefs: which tracepoints there are, their numbers and format files.
 * Messages name the cause (not mounted, no rights) and the remedy.
 */
#ifndef SONDE_CAPTURE_TRACEFS_H
#define SONDE_CAPTURE_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

struct tracefs {
	char root[256]; /* "/sys/kernel/tracing" */
};

/* Finds the mount and checks that events can be read there. -ENOENT: not mounted, -EACCES: no rights. */
int tracefs_open(struct tracefs *ret);
/* The bytes of a file below the root, NUL-terminated, to be released with free(). */
int tracefs_read(const struct tracefs *t, const char *path, char **ret, size_t *ret_len);
/* The number of events/SYSTEM/EVENT; -ENOENT when there is no such event. */
int tracefs_event_id(const struct tracefs *t, const char *system, const char *event,
		     uint64_t *ret_id);
/* Calls visit for each event whose system and name match the globs, in the order of the directories; visit <0 ends it. */
int tracefs_events_match(const struct tracefs *t, const char *system_glob, const char *event_glob,
			 int (*visit)(void *ctx, const char *system, const char *event), void *ctx);
/* "; did you mean sched:sched_switch?" into buf, or "" when no event is called much like `name`. */
void tracefs_events_near(const struct tracefs *t, const char *name, char *buf, size_t size);

#endif
