/* SPDX-License-Identifier: MIT */
/*
 * Rings emptied by several threads at once (--threads), each ring into a file of its own: a drain
 * per ring, some of them for each thread of the plan.
 *
 *	TRY(drain_threads_new(&t, plan, &like, lanes, nr_lanes, wake_fd));
 *	drain_threads_failed(t)               // <0: a thread has failed and written to wake_fd
 *	drain_threads_end(t);                 // with the counters disabled: takes what is left
 *	drain_threads_sum(t, &drain);
 *	drain_threads_free(t);
 */
#ifndef SONDE_RECORD_DRAIN_DRAIN_THREADS_H
#define SONDE_RECORD_DRAIN_DRAIN_THREADS_H

#include <stdbool.h>

#include "record/drain/drain.h"
#include "record/drain/thread_plan.h"

struct drain_lane {
	struct ring *ring; /* borrowed */
	int cpu;
	struct outlet *outlet; /* borrowed */
	/*
	 * What is polled: the ring's counter, or all that report by hanging up that their task has
	 * ended. Nobody else may poll them: the kernel wakes one poller only.
	 */
	const int *fds;
	size_t nr_fds;
};

struct drain_threads;

/*
 * The ring, cpu and fds of each lane, one for each ring. cpus: those recorded, whose indexes the
 * rings have as their buffer. fds: room for one of each ring and of each counter.
 */
void drain_lanes_fill(const struct counters *c, const struct capture_cpus *cpus, bool by_pid,
		      struct drain_lane *lanes, int *fds);

/*
 * like: what the drains have in common. wake_fd: an eventfd. sleep_ms: how long a thread sleeps at
 * most.
 */
int drain_threads_new(struct drain_threads **ret, const struct thread_plan *plan,
		      const struct drain *like, const struct drain_lane *lanes, size_t nr_lanes,
		      int wake_fd, int sleep_ms);
/* Whether all that is polled has hung up; wake_fd is written to then. */
bool drain_threads_hung_up(const struct drain_threads *t);
bool drain_threads_failed(const struct drain_threads *t);
/* <0: what the first thread that failed could not do. The threads are gone then. */
int drain_threads_end(struct drain_threads *t);
/* What all drains have seen, for the recorder's own drain, which has no rings itself. */
void drain_threads_sum(struct drain_threads *t, struct drain *to, uint64_t *ret_wakeups);
void drain_threads_count_left(const struct drain_threads *t, struct tally *to);
void drain_threads_free(struct drain_threads *t); /* NULL is fine */

#endif
