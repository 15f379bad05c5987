/* SPDX-License-Identifier: MIT */
/*
 * The counters of a count, opened in the kernel: one for each event on each cpu and task, except
 * where the kernel has none. An event that the kernel does not support has no counter; that is no
 * failure.
 */
#ifndef SONDE_STAT_OPENED_H
#define SONDE_STAT_OPENED_H

#include "capture/say.h"
#include "capture/step_back.h"
#include "stat/reading.h"

struct stat_counter {
	int fd;
	uint32_t event, cpu, task; /* indexes in the subject */
	bool is_leader;            /* switches the counters of its group on that cpu and task */
};

struct stat_opened {
	struct say say;
	struct capture_events *events;
	struct stat_subject *subject;
	/*
	 * In the order of the events. A cpu that was offline has another counter for each time that
	 * it is back.
	 */
	VEC(struct stat_counter) list;
	struct steps_back steps;
	bool tasks_may_vanish;
	/* events that may not be opened are left out, as those of globs are */
	bool leaves_out_refused;
};

/* Opens all events for all tasks on one cpu of the subject. */
int stat_open_cpu(struct stat_opened *o, size_t cpu);
/* True if the kernel refused each event. */
bool stat_opened_is_empty(const struct stat_opened *o);
int stat_opened_switch(struct stat_opened *o, bool on);
int stat_opened_switch_cpu(struct stat_opened *o, size_t cpu, bool on);
/* name: as in the list of events. -ENOENT if there is none. */
int stat_opened_switch_event(struct stat_opened *o, const char *name, bool on);
/* Adds the counts of all counters to the cells of ret. */
int stat_opened_read(const struct stat_opened *o, struct stat_count *ret);
void stat_opened_close(struct stat_opened *o);

#endif
