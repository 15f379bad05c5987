/* SPDX-License-Identifier: MIT */
/*
 * What is counted, and one reading of it. A live count and a file fill the same tables, so both are
 * added up and printed by the same code.
 *
 *	              task 0        task 1            a reading: a count for each event,
 *	event 0  cpu 0 [ count ]    [ count ]         then each cpu, then each task
 *	         cpu 1 [ count ]    [ count ]
 *	event 1  cpu 0 ...
 *
 * Counts of tasks on any cpu have one cpu, -1. Counts of everything on a cpu have one task, -1.
 */
#ifndef SONDE_STAT_READING_H
#define SONDE_STAT_READING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "capture/events.h"
#include "capture/running/topology.h"

struct stat_event {
	const char *name, *cgroup; /* borrowed; cgroup is NULL if there is none */
	const char *unit;          /* "" if none */
	double scale;              /* a count times this is in the unit */
	uint32_t type;             /* PERF_TYPE_* */
	uint64_t config;
	uint32_t levels; /* the exclude bits of the attr: figures compare counts of the same levels
			  */
	enum capture_tool tool;
	bool per_core;   /* the term percore */
	const int *cpus; /* the only cpus that have rows of it; nr_cpus 0: all */
	size_t nr_cpus;
	bool is_supported; /* the kernel opened it somewhere */
};

struct stat_task {
	int32_t pid, tid;
	char comm[17]; /* a file may have 16 characters without a NUL */
};

struct stat_subject {
	struct arena arena; /* contains the texts */
	VEC(struct stat_event) events;
	VEC(int) cpus;
	VEC(struct stat_task) tasks;
	VEC(struct cpu_place) places; /* of each cpu; parallel to cpus */
};

struct stat_count {
	uint64_t value, enabled_ns, running_ns;
	bool is_there; /* the counter was opened; otherwise the count is 0 */
};

struct stat_reading {
	struct stat_count *v;                /* owned */
	uint64_t time_ns;                    /* since counting began */
	uint64_t elapsed_ns;                 /* how long the counts were taken */
	uint64_t user_ns, system_ns, run_ns; /* of the command, for the tools' events */
};

static inline size_t stat_cells(const struct stat_subject *s)
{
	return s->events.n * s->cpus.n * s->tasks.n;
}

static inline size_t stat_cell(const struct stat_subject *s, size_t event, size_t cpu, size_t task)
{
	return (event * s->cpus.n + cpu) * s->tasks.n + task;
}

/* cpu-clock and task-clock. */
bool stat_event_is_clock(const struct stat_event *e);
/* The bits of struct stat_event.levels. */
uint32_t stat_levels(const struct perf_event_attr *a);
/* The value of a tool's event. */
uint64_t stat_tool_ns(enum capture_tool tool, const struct stat_reading *reading);
/* Sets unit and scale of the events that the kernel counts in nanoseconds. */
void stat_event_describe(struct stat_event *e);
int stat_subject_add_task(struct stat_subject *s, int32_t pid, int32_t tid);
void stat_subject_done(struct stat_subject *s);

#endif
