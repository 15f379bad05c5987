/* SPDX-License-Identifier: MIT */
/*
 * What the recording's header says of the machine and the command: one body per perf.data feature,
 * collected in a list. A feature that this machine has nothing to say about is left out.
 */
#ifndef SONDE_RECORD_DESCRIBE_FEATURES_H
#define SONDE_RECORD_DESCRIBE_FEATURES_H

#include "base/outbuf.h"
#include "base/vec.h"
#include "capture/events.h"
#include "formats/perfdata/writer.h"
#include "capture/setup/clock.h"

struct features {
	const char *root; /* directory of /proc and /sys; NULL: "/". Tests use other machines */
	VEC(struct perfdata_writer_feature) list; /* bodies owned */
};

static inline const char *features_root(const struct features *f)
{
	return f->root ? f->root : "";
}

/*
 * Takes the body over (empty bodies are dropped); -ENOMEM also when writing it ran out of memory.
 */
int features_add(struct features *f, uint64_t feature, struct outbuf *take_body);
/* A feature that says all by being there. */
int features_add_mark(struct features *f, uint64_t feature);
/* HOSTNAME ... TOTAL_MEM, CMDLINE, PMU_MAPPINGS, PMU_CAPS, HYBRID_TOPOLOGY. argv may be NULL. */
int features_add_system(struct features *f, const char *const *argv);
/* CPU_TOPOLOGY, NUMA_TOPOLOGY, CACHE, MEM_TOPOLOGY: features_topology.c */
int features_add_topology(struct features *f);
/* Format files of the events that are tracepoints; nothing when none is. */
int features_add_tracing(struct features *f, const struct capture_events *events);
/* By number, the order in which readers of a pipe expect them. */
void features_sort(struct features *f);
/* GROUP_DESC: features_events.c; nothing when there is no group */
int features_add_groups(struct features *f, const struct capture_events *events);
/*
 * CLOCKID, the resolution of a clock that was chosen, and CLOCK_DATA, one moment read from it and
 * from the clock of the day.
 */
int features_add_clock(struct features *f, const struct capture_clock *c);
void features_done(struct features *f);

#endif
