/* SPDX-License-Identifier: MIT */
/*
 * The time that threads wait, by the stack with which they left the cpu (from sched:sched_switch),
 * and the threads that woke them (from sched:sched_waking, sched_wakeup, sched_wakeup_new).
 */
#ifndef SONDE_CLI_FLAME_WAITS_H
#define SONDE_CLI_FLAME_WAITS_H

#include "flame_fill.h"

enum flame_time {
	/* Time between switching out and in. */
	FLAME_OFF_CPU,
	/* All time of a thread: on a cpu, runnable, off. Samples show what ran on the cpu. */
	FLAME_WALL
};

/*
 * Chooses threads: comma-separated lists of numbers and of names. A NULL list chooses all threads.
 */
struct flame_tasks {
	const char *pids, *tids, *comms;
};

struct flame_switches {
	uint64_t seen;
	/* Counts threads that switched in or out twice in a row. The time between is not added. */
	uint64_t missing;
};

/* True if `by` (--by) is comm, pid or cpu, or a list of these. Waits have no other keys. */
bool flame_waits_can_group(const char *by);
/*
 * Adds the waits of a session to the graph "off-cpu" or "wall". The session must deliver the events
 * of all threads. Returns 0 on success, a negative errno on failure.
 */
int flames_fill_waits(struct flames *fs, struct sonde_session *s, enum flame_side side,
		      enum flame_time time, const struct flame_tasks *tasks,
		      struct flame_switches *ret);

#endif
