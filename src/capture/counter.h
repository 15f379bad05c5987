/* SPDX-License-Identifier: MIT */
/*
 * One event opened on one cpu for one task (counters.h). Its ring is shared with other counters
 * (rings.h).
 */
#ifndef SONDE_CAPTURE_COUNTER_H
#define SONDE_CAPTURE_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct counter {
	int fd;         /* -1: the event is not one of perf's (capture_event.in_ftrace) */
	uint32_t event; /* index in the list of events */
	int cpu;
	/* index in target.cpus, or in target.tids if per_thread; each index has one ring */
	uint32_t buffer;
	int32_t tid;
	uint64_t id;          /* the id in this counter's records */
	uint64_t read_format; /* PERF_FORMAT_*: the layout of a read */
	bool backward;        /* attr.write_backward: its ring overwrites the oldest records */
	/* for the owner: events counted, records lost, and losses already reported */
	uint64_t counted, lost, lost_reported;
};

#endif
