/* SPDX-License-Identifier: MIT */
/*
 * One event opened on one cpu for one task (counters.h), which writes to a ring that others share
 * (rings.h).
 */
#ifndef SONDE_CAPTURE_COUNTER_H
#define SONDE_CAPTURE_COUNTER_H

#include <stdbool.h>
#include <stdint.h>

struct counter {
	int fd;
	uint32_t event; /* index in the list of events */
	int cpu;
	uint32_t buffer; /* index in target.cpus, per thread in target.tids: one ring for each */
	int32_t tid;
	uint64_t id;          /* in the records of this counter */
	uint64_t read_format; /* PERF_FORMAT_*: what reading it gives */
	bool backward;        /* attr.write_backward: its ring overwrites the oldest records */
	/*
	 * for the owner: what it counted, what of that was lost, and how much of this is told
	 * already
	 */
	uint64_t counted, lost, lost_reported;
};

#endif
