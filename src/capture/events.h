/* SPDX-License-Identifier: MIT */
/*
 * Parses the texts of -e, --filter and -G into attrs.
 *
 *	struct capture_events l = { 0 };
 *	TRY(capture_events_add(&l, "sched:sched_*,{cpu-clock,page-faults}:S"));
 *	TRY(capture_events_filter(&l, "prev_pid > 1"));   // for the events of the last add
 *
 *	LIST  = ITEM{,ITEM}
 *	ITEM  = EVENT
 *	      | [NAME]"{"EVENT{,EVENT}"}"[:MODIFIERS]   a group: on the cpu together or not at all
 *	EVENT = SYSTEM:NAME[:MODIFIERS]        tracepoints, both names may be globs
 *	      | NAME[:MODIFIERS]               software, hardware and cache events by the names of
 *	                                       perf list, and events that the machine's event
 *	                                       sources name
 *	      | rHEX[:MODIFIERS]               raw number of the processor
 *	      | TYPE:CONFIG[:MODIFIERS]        numbers of the kernel's interface
 *	      | pfm:NAME                       of the processor's vendor (pfm.h); its modifiers are
 *	                                       libpfm's and follow a colon
 *	      | mem:ADDRESS[/LENGTH][:rwx][:MODIFIERS]   breakpoint of the processor
 *	      | SOURCE/TERMS/[MODIFIERS]       of an event source in sysfs (pmu.h)
 *	      | any but mem, followed by /TERMS/[MODIFIERS] (terms.h)
 *
 * On a hybrid processor (hybrid.h) a hardware, cache or raw event is one event for each type of
 * cores: cycles:u is cpu_core/cycles/u and cpu_atom/cycles/u. A group of them is a group for each
 * type; its other events are in the first group.
 *
 * An attr here contains what the text specifies: type, config, exclude bits, precise_ip, pinned,
 * exclusive. capture/setup/ adds how to sample, from the options and from `terms` and `leader`.
 */
#ifndef SONDE_CAPTURE_EVENTS_H
#define SONDE_CAPTURE_EVENTS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/vec.h"
#include "capture/hybrid.h"
#include "capture/tracefs.h"

#ifndef PERF_FORMAT_LOST /* kernel headers before 6.0 */
#define PERF_FORMAT_LOST (1U << 4)
#endif

static inline bool capture_is_dummy(const struct perf_event_attr *a)
{
	return a->type == PERF_TYPE_SOFTWARE && a->config == PERF_COUNT_SW_DUMMY;
}

/* How TERMS set the sampling (terms.h). */
enum term_rate { RATE_UNSAID, RATE_PERIOD, RATE_FREQ };
enum term_flag { TERM_UNSAID, TERM_NO, TERM_YES };

struct event_terms {
	enum term_rate rate;
	uint64_t rate_value;
	enum term_flag time, inherit, overwrite;
	const char *call_graph, *branch_type; /* NULL if not given */
	uint64_t stack_bytes, max_frames;     /* 0 if not given */
	bool per_core; /* of counts: added up for each core where others are printed by cpu */
};

/*
 * Counts that are not the kernel's events: the time of a run, and the processor time of its command
 * in user space and in the kernel.
 */
enum capture_tool { TOOL_NONE, TOOL_DURATION_TIME, TOOL_USER_TIME, TOOL_SYSTEM_TIME };

struct capture_event {
	struct perf_event_attr attr;
	enum capture_tool tool;     /* otherwise attr is not used */
	const char *name;           /* "sched:sched_switch", "cs:u"; borrowed from the list */
	const char *system, *event; /* of a tracepoint, otherwise NULL */
	const char *filter;         /* for the kernel; NULL if none */
	const char *triggers;       /* of ftrace, a line each; NULL if none */
	const char *source;         /* the name in SOURCE/TERMS/, otherwise NULL */
	/* "cycles" of cpu_core/cycles/, one of those that the text "cycles" stands for on a hybrid
	 * processor; otherwise NULL */
	const char *name_of_all;
	const char *unit; /* of a count times scale; NULL if the source names none */
	double scale;     /* 0 if the source names none */
	const int *cpus;  /* cpus on which the source counts; nr_cpus 0 means all */
	size_t nr_cpus;
	struct event_terms terms;
	/*
	 * index of the group's first event, which is the event itself if it leads or has no group
	 */
	uint32_t leader;
	const char *group_name; /* of a leader; NULL if none */
	const char *cgroup;     /* NULL means all control groups */
	int cgroup_fd;
	bool is_default;   /* added by default, not named by the user */
	bool from_glob;    /* one of many: the recording continues without it if it is refused */
	bool chose_levels; /* the text has a modifier u, k or h */
	bool chose_guest;  /* the text has a modifier G or H */
	bool precise_max;  /* modifier P */
	/* modifier S: samples of the group's leader contain the counts of all members */
	bool sample_read;
	bool exclude_self; /* a tracepoint that excludes the recorder itself */
	bool is_weak;      /* modifier W: the group is split if the kernel refuses it */
	/* taken out of ftrace's buffers: counters of it have an id, and are not opened */
	bool in_ftrace;
};

struct capture_cgroup {
	const char *name;
	int fd;
};

struct capture_events {
	VEC(struct capture_event) list;
	VEC(struct capture_cgroup) cgroups;
	struct arena arena;     /* contains all text of the list */
	size_t last_add;        /* index of the first event of the last add */
	size_t nr_cgroups;      /* number of groups that -G named so far, including empty ones */
	struct tracefs tracefs; /* opened when the first tracepoint is named */
	bool has_tracefs;
	const char *sources;           /* path of the event sources; NULL means sysfs */
	struct hybrid_sources *hybrid; /* in the arena; NULL until a counter is named */
	/* for counts: duration_time, user_time and system_time are events, percore is a term */
	bool takes_tools;
};

/* On failure the error names the mistake and suggests similar names. */
int capture_events_add(struct capture_events *l, const char *text);
/* Adds the event that is recorded if none is named: cycles, as precise as possible. */
int capture_events_add_default(struct capture_events *l);
/* Adds perf's dummy event: it counts nothing and carries the records of comm, fork and mmap. */
int capture_events_add_dummy(struct capture_events *l);
/* Sets a filter. Several filters of one event are joined with &&. */
int capture_events_filter(struct capture_events *l, const char *filter);
int capture_event_filter(struct capture_events *l, struct capture_event *e, const char *filter);
/* Adds a trigger of ftrace to the events of the last add, which are tracepoints. */
int capture_events_trigger(struct capture_events *l, const char *trigger);
/*
 * A comma-separated list of control groups. The n-th group named is for the n-th event; an empty
 * one means all tasks. If only one group was named so far, it applies to all events so far. option:
 * for messages, "-G".
 */
int capture_events_cgroups(struct capture_events *l, const char *option, const char *names);
/* Checks that all events of a group are in one control group. Called when the list is complete. */
int capture_events_check_cgroups(const struct capture_events *l);
/* Puts all events into one group. */
int capture_events_group_all(struct capture_events *l);
/*
 * Makes the events from `first` on one group. On a hybrid processor they become a group for each
 * type of cores, in this order.
 */
int capture_events_group(struct capture_events *l, size_t first, const char *name);
/*
 * Adds e for each type of cores of a hybrid processor, with the name SOURCE/terms. Adds nothing if
 * the processor is not hybrid, or if e is no counter of the processor.
 */
int capture_events_add_hybrid(struct capture_events *l, const struct capture_event *e,
			      const char *terms);
/* The number of events in the group of `leader`. */
size_t capture_events_members(const struct capture_events *l, size_t leader);
/* True if the source of the event counts on that cpu; -1: any cpu. */
bool capture_event_counts_on(const struct capture_event *e, int cpu);
/*
 * Removes the events of a hybrid processor's cores of which none is among these cpus, if the user
 * named the event for all cores and other events remain.
 */
void capture_events_leave_out(struct capture_events *l, const int *cpus, size_t nr);
/* Dissolves a group into single events. */
void capture_events_ungroup(struct capture_events *l, size_t leader);
/* Removes an event from the list. If it led a group, the next member becomes the leader. */
void capture_events_remove(struct capture_events *l, size_t event);
void capture_events_done(struct capture_events *l);

/*
 * For the parser (events_parse.c): an event without a group, initialised as perf initialises all
 * attrs.
 */
struct capture_event capture_event_new(uint32_t type, uint64_t config);
int capture_events_push(struct capture_events *l, const struct capture_event *e);
/* Stores the source of an event, and the cpus on which it counts. */
int capture_event_set_source(struct capture_events *l, struct capture_event *e,
			     const struct pmu *pmu);
/*
 * Restricts the counters that are named from now on to one type of the cores of a hybrid processor:
 * "core", "atom".
 */
int capture_events_choose_cores(struct capture_events *l, const char *type);
/* a, b and c as one text owned by the list; NULL if out of memory. */
const char *capture_events_join(struct capture_events *l, const char *a, const char *b,
				const char *c);

#endif
