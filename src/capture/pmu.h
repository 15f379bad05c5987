/* SPDX-License-Identifier: MIT */
/*
 * Event sources in /sys/bus/event_source/devices/NAME ("cpu", "msr", "uncore_imc_0"):
 *
 *	type            number for perf_event_attr.type
 *	format/TERM     which bits of the attr a term fills: "config:0-7,32-35"
 *	events/EVENT    terms that make this event: "event=0xc0,umask=0x1"
 *	events/EVENT.unit, EVENT.scale    what the count times the scale is: "Joules"
 *	cpumask         cpus that count for all
 *
 * This file only parses them; terms.h gives them meaning.
 */
#ifndef SONDE_CAPTURE_PMU_H
#define SONDE_CAPTURE_PMU_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/near.h"
#include "capture/cpus.h"

#define PMU_SOURCES "/sys/bus/event_source/devices"

struct pmu {
	char name[64];
	char dir[256]; /* "/sys/bus/event_source/devices/msr" */
	uint32_t type;
};

struct pmu_format {
	enum { PMU_CONFIG, PMU_CONFIG1, PMU_CONFIG2 } word;
	uint64_t bits; /* where the value's bits are stored, lowest first */
};

/*
 * root: the directory of the sources, NULL for sysfs. -ENOENT (no message) if there is no source of
 * that name.
 */
int pmu_open(const char *root, const char *name, struct pmu *ret);
/*
 * Calls visit for each source that is called NAME or NAME_0, NAME_1 ... (with or without uncore_),
 * or that has an event of this name. If name or event is NULL, any matches. visit returns 0 to
 * continue.
 */
int pmu_each(const char *root, const char *name, const char *event,
	     int (*visit)(void *ctx, const struct pmu *pmu), void *ctx);

/*
 * -ENOENT (no message) if the source has no such term. -EINVAL if its description cannot be parsed.
 */
int pmu_format_read(const struct pmu *p, const char *term, struct pmu_format *ret);
/*
 * Stores value in the bits that the format names. False if the value has more bits than the format.
 */
bool pmu_format_apply(const struct pmu_format *f, uint64_t value, struct perf_event_attr *attr);
/* The format of a text such as "config:0-7"; -EINVAL (no message) if it cannot be parsed. */
int pmu_format_parse(const char *text, struct pmu_format *ret);
/* The largest value that fits. */
uint64_t pmu_format_max(const struct pmu_format *f);
/*
 * The terms of event `name`, as one line in buf. -ENOENT (no message) if the source has no such
 * event.
 */
int pmu_event_read(const struct pmu *p, const char *name, char *buf, size_t size);
/* The cpus on which the source counts for all cpus; an empty list if each cpu counts for itself. */
int pmu_cpus(const struct pmu *p, struct capture_cpus *ret);

/* The line of cpumask or cpus: "0,18"; false if each cpu counts for itself. */
bool pmu_cpus_text(const struct pmu *p, char *buf, size_t size);

/* Calls visit with the name of each event of a source. */
void pmu_events_each(const struct pmu *p, void (*visit)(void *ctx, const char *name), void *ctx);
/* What the source says about an event, by suffix: "unit", "scale". False if nothing. */
bool pmu_event_about(const struct pmu *p, const char *name, const char *suffix, char *buf,
		     size_t size);
/* Calls visit with each term of a source and its description: "event", "config:0-7". */
void pmu_formats_each(const struct pmu *p,
		      void (*visit)(void *ctx, const char *term, const char *text), void *ctx);

/* Offers all sources, and, for a given source, its terms and events. */
void pmu_near(const char *root, struct near *near);
void pmu_terms_near(const struct pmu *p, struct near *near);
/* Lists the same names separated by commas, truncated at the end of buf. */
void pmu_list(const char *root, char *buf, size_t size);
void pmu_terms_list(const struct pmu *p, char *buf, size_t size);

#endif
