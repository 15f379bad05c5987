/* SPDX-License-Identifier: MIT */
/*
 * Lookups in the running kernel's tracefs: the tracepoints, their numbers and format files. Errors
 * name the cause (not mounted, no rights) and the remedy.
 */
#ifndef SONDE_CAPTURE_TRACEFS_H
#define SONDE_CAPTURE_TRACEFS_H

#include <stddef.h>
#include <stdint.h>

struct tracefs {
	char root[256]; /* "/sys/kernel/tracing" */
};

/*
 * Finds the mount and checks that events can be read there. -ENOENT: not mounted. -EACCES: no
 * rights.
 */
int tracefs_open(struct tracefs *ret);
/* Takes the descriptions of events in a copy of tracefs: FOLDER/events/SYSTEM/EVENT/format. */
int tracefs_open_copy(const char *folder, struct tracefs *ret);
/* The bytes of a file below the root, NUL-terminated. The caller frees them. */
int tracefs_read(const struct tracefs *t, const char *path, char **ret, size_t *ret_len);
/* The number of events/SYSTEM/EVENT. -ENOENT if there is no such event. */
int tracefs_event_id(const struct tracefs *t, const char *system, const char *event,
		     uint64_t *ret_id);
/*
 * Calls visit for each event whose system and name match the globs, in directory order. A negative
 * result of visit ends the loop.
 */
int tracefs_events_match(const struct tracefs *t, const char *system_glob, const char *event_glob,
			 int (*visit)(void *ctx, const char *system, const char *event), void *ctx);
/* Writes "; did you mean sched:sched_switch?" to buf, or "" if no event has a similar name. */
void tracefs_events_near(const struct tracefs *t, const char *name, char *buf, size_t size);

#endif
