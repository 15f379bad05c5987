/* SPDX-License-Identifier: MIT */
/*
 * When the thread that fetches events gets its turn: with -r by a real-time priority (SCHED_FIFO),
 * else by asking for short turns, which come sooner (Linux 6.12 and later; its share of the cpu
 * stays the same). At the end it is as it was.
 */
#ifndef SONDE_RECORD_REALTIME_H
#define SONDE_RECORD_REALTIME_H

#include <stdbool.h>
#include <stdint.h>

struct realtime {
	int priority; /* 0: not given */
	bool is_set;
	int policy_before, priority_before;
	uint64_t turn_before_ns; /* 0: not changed */
};

/* text: NULL when not given; -EBADR. */
int realtime_parse(struct realtime *ret, const char *text);
int realtime_begin(struct realtime *t);
void realtime_end(struct realtime *t);

#endif
