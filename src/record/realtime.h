/* SPDX-License-Identifier: MIT */
/* -r: the thread that fetches events gets a real-time priority (SCHED_FIFO), and its former one back at the end. */
#ifndef SONDE_RECORD_REALTIME_H
#define SONDE_RECORD_REALTIME_H

#include <stdbool.h>

struct realtime {
	int priority; /* 0: not given */
	bool is_set;
	int policy_before, priority_before;
};

/* text: NULL when not given; -EBADR. */
int realtime_parse(struct realtime *ret, const char *text);
int realtime_begin(struct realtime *t);
void realtime_end(struct realtime *t);

#endif
