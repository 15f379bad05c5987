/* SPDX-License-Identifier: MIT */
/*
 * The scheduling of the thread that fetches events. With -r the thread gets a real-time priority
 * (SCHED_FIFO). Otherwise it requests short time slices, so that it runs sooner (Linux 6.12 and
 * later; its share of the cpu stays the same). The end restores the previous scheduling.
 */
#ifndef SONDE_RECORD_REALTIME_H
#define SONDE_RECORD_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

struct realtime {
	int priority; /* 0 if not given */
	bool is_set;
	int policy_before, priority_before;
	uint64_t turn_before_ns; /* 0 if not changed */
};

/* text: NULL if not given. -EBADR on a mistake. */
int realtime_parse(struct realtime *ret, const char *text);
int realtime_begin(struct realtime *t);
void realtime_end(struct realtime *t);

#endif
