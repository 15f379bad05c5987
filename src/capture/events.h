/* SPDX-License-Identifier: MIT */
/*
 * What -e, --filter and -G name: event texts parsed into attrs.
 *
 *	struct capture_events l = { 0 };
 *	TRY(capture_events_add(&l, "sched:sched_*,{cpu-clock,page-faults}:S"));
 *	TRY(capture_events_filter(&l, "prev_pid > 1"));   // for the events of the last add
 *
 *	LIST  = ITEM{,ITEM}
 *	ITEM  = EVENT | [NAME]"{"EVENT{,EVENT}"}"[:MODIFIERS]    a group: on the cpu together or not at all
 *	EVENT = SYSTEM:NAME[:MODIFIERS]        tracepoints, both parts may be globs
 *	      | NAME[:MODIFIERS]               software, hardware and cache events by the names of perf list, and what the
 *	                                       event sources of the machine name themselves
 *	      | rHEX[:MODIFIERS]               raw number of the processor
 *	      | TYPE:CONFIG[:MODIFIERS]        numbers of the kernel's interface
 *	      | mem:ADDRESS[/LENGTH][:rwx][:MODIFIERS]   breakpoint of the processor
 *	      | SOURCE/TERMS/[MODIFIERS]       of an event source in sysfs (pmu.h)
 *	      | any but mem with /TERMS/[MODIFIERS] behind it; terms.h tells what they may be
 *
 * An attr has here what the text says: type, config, exclude bits, precise_ip, pinned, exclusive.
 * How to sample is for capture/setup/ to add, out of the options and of `terms` and `leader`.
 */
#ifndef SONDE_CAPTURE_EVENTS_H
#define SONDE_CAPTURE_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "capture/tracefs.h"

#ifndef PERF_FORMAT_LOST /* kernel headers before 6.0 */
#define PERF_FORMAT_LOST (1U << 4)
#endif

static inline bool capture_is_dummy(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY;
}

/* What TERMS say of sampling: terms.h. */
enum term_rate { RATE_UNSAID, RATE_PERIOD, RATE_FREQ };
enum term_flag { TERM_UNSAID, TERM_NO, TERM_YES };

struct event_terms {
	enum term_rate rate;
	uint64_t rate_value;
	enum term_flag time, inherit, overwrite;
	const char *call_graph, *branch_type; /* NULL not said */
	uint64_t stack_bytes, max_frames;     /* 0 not said */
};

struct capture_event {
	struct perf_event_attr attr;
	const char *name;           /* "sched:sched_switch", "cs:u"; lent from the list */
	const char *system, *event; /* of a tracepoint; else NULL */
	const char *filter;         /* for the kernel, NULL none */
	const char *source;         /* of SOURCE/TERMS/: its name; else NULL */
	const int *cpus;            /* where the source counts; nr_cpus 0: everywhere */
	size_t nr_cpus;
	struct event_terms terms;
	uint32_t leader; /* index of the group's first event; its own, alone or as the first */
	const char *group_name; /* of a leader, NULL none */
	const char *cgroup;     /* NULL: in all control groups */
	int cgroup_fd;
	bool is_default;   /* nobody named it */
	bool from_glob;    /* one of many: the recording goes on without it */
	bool chose_levels; /* a modifier of u k h was given */
	bool chose_guest;  /* of G H */
	bool precise_max;  /* P */
	bool sample_read;  /* S: samples of the group's leader hold the counts of all of it */
	bool exclude_self; /* a tracepoint that leaves the recorder itself out */
	bool is_weak;      /* W: the group is given up when the kernel does not take it */
};

struct capture_cgroup {
	const char *name;
	int fd;
};

struct capture_events {
	VEC(struct capture_event) list;
	VEC(struct capture_cgroup) cgroups;
	struct arena arena;     /* of all text */
	size_t last_add;        /* index of the first event of the last add */
	size_t nr_cgroups;      /* how many -G named, empty ones too */
	struct tracefs tracefs; /* looked for when the first tracepoint is named */
	bool has_tracefs;
	const char *sources; /* where event sources are; NULL: in sysfs */
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
/*
 * -G: control groups, comma-separated: the n-th ever named is for the n-th event, an empty one for
 * all tasks; when there is but one so far it is for all events so far.
 */
int capture_events_cgroups(struct capture_events *l, const char *names);
/* All events of a group must be of one control group: asked when nothing is to come any more. */
int capture_events_check_cgroups(const struct capture_events *l);
/* One group of all. */
int capture_events_group_all(struct capture_events *l);
/* How many events the group of `leader` has. */
size_t capture_events_members(const struct capture_events *l, size_t leader);
/* The group is one no more: each of its events is for itself. */
void capture_events_ungroup(struct capture_events *l, size_t leader);
/* Takes an event out of the list; a group that loses its leader is led by the next. */
void capture_events_remove(struct capture_events *l, size_t event);
void capture_events_done(struct capture_events *l);

/* For the parser (events_parse.c): an event of its own group, as perf begins all of its attrs. */
struct capture_event capture_event_new(uint32_t type, uint64_t config);
int capture_events_push(struct capture_events *l, const struct capture_event *e);
/* a, b and c as one text of the list; NULL: no memory. */
const char *capture_events_join(struct capture_events *l, const char *a, const char *b,
				const char *c);

#endif
