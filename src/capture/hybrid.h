/* SPDX-License-Identifier: MIT */
/*
 * Processors with cores of several types (hybrid processors). sysfs has an event source for each
 * type, with the cpus of that type:
 *
 *	/sys/bus/event_source/devices/cpu_core/cpus     "0-15"
 *	/sys/bus/event_source/devices/cpu_atom/cpus     "16-23"
 *
 * A counter of the processor is then of one source. The kernel takes the source's number in the
 * upper half of the config of hardware and cache events; a raw event has it as its type.
 */
#ifndef SONDE_CAPTURE_HYBRID_H
#define SONDE_CAPTURE_HYBRID_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/pmu.h"

enum { HYBRID_SOURCES_MAX = 8, HYBRID_SOURCE_SHIFT = 32 };

struct hybrid_sources {
	struct pmu list[HYBRID_SOURCES_MAX]; /* by type, lowest first */
	size_t nr;                           /* 0 on a processor with cores of one type */
};

/* root: the directory of the sources, NULL for sysfs. */
void hybrid_sources_find(const char *root, struct hybrid_sources *ret);
/* True if the source is for one type of cores. */
bool hybrid_is_source(const struct pmu *pmu);
/* "core" of cpu_core; borrowed from pmu. */
const char *hybrid_core_type(const struct pmu *pmu);
/* True if events of this type of attr are counters of the processor. */
bool hybrid_is_counter(uint32_t type);
/* Makes an event of the processor one of the source's cores. */
void hybrid_set_source(struct perf_event_attr *attr, const struct pmu *pmu);
/* The type of the source that counts an event: that of the cores, or of another source; 0: none. */
uint32_t hybrid_source_of(uint32_t type, uint64_t config);

#endif
