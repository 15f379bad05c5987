/* SPDX-License-Identifier: MIT */
/*
 * The recording's header describes the machine and the command: one body per perf.data feature,
 * collected in a list. A feature is left out if this machine has no data for it.
 */
#ifndef SONDE_RECORD_DESCRIBE_FEATURES_H
#define SONDE_RECORD_DESCRIBE_FEATURES_H

#include "base/outbuf.h"
#include "base/vec.h"
#include "capture/events.h"
#include "formats/perfdata/writer.h"
#include "capture/setup/clock.h"

struct features {
	/* directory of /proc and /sys; NULL means "/". Tests use other machines */
	const char *root;
	VEC(struct perfdata_writer_feature) list; /* bodies owned */
};

static inline const char *features_root(const struct features *f)
{
	return f->root ? f->root : "";
}

/*
 * Takes ownership of the body; an empty one is dropped. Returns -ENOMEM also if building the body
 * ran out of memory.
 */
int features_add(struct features *f, uint64_t feature, struct outbuf *take_body);
/* Adds a feature without a body; its presence is the information. */
int features_add_mark(struct features *f, uint64_t feature);
/* HOSTNAME ... TOTAL_MEM, CMDLINE, PMU_MAPPINGS, PMU_CAPS, HYBRID_TOPOLOGY. argv may be NULL. */
int features_add_system(struct features *f, const char *const *argv);
/* CPU_TOPOLOGY, NUMA_TOPOLOGY, CACHE, MEM_TOPOLOGY: features_topology.c */
int features_add_topology(struct features *f);
/*
 * The format files of the tracepoints, and the kernel's symbols as lines of kallsyms (NULL for
 * readers that can read their own). Adds nothing if there are neither.
 */
int features_add_tracing(struct features *f, const struct capture_events *events,
			 const struct outbuf *symbols);
/* Sorts the list by number, the order in which readers of a pipe expect the features. */
void features_sort(struct features *f);
/* GROUP_DESC (features_events.c); nothing if there is no group */
int features_add_groups(struct features *f, const struct capture_events *events);
/*
 * CLOCKID: the resolution of the chosen clock. CLOCK_DATA: one moment read from it and from the
 * clock of the day.
 */
int features_add_clock(struct features *f, const struct capture_clock *c);
void features_done(struct features *f);

#endif
