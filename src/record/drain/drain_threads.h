/* SPDX-License-Identifier: MIT */
/*
 * Several threads empty the rings at once (--threads), each ring into a separate file. Each ring
 * has one drain, and each thread of the plan runs some of the drains.
 *
 *	TRY(drain_threads_new(&t, plan, &like, lanes, nr_lanes, wake_fd));
 *	drain_threads_failed(t)               // true: a thread has failed and written to wake_fd
 *	drain_threads_end(t);                 // with the counters disabled: drains the rest
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
	 * Descriptors to poll: the ring's counter, or all counters that hang up when their task has
	 * ended. No other thread may poll them, because the kernel wakes only one poller.
	 */
	const int *fds;
	size_t nr_fds;
};

struct drain_threads;

/*
 * Sets ring, cpu and fds of each lane; there is one lane per ring. cpus: the recorded ones; a
 * ring's `buffer` is an index into them. fds: has room for one descriptor per ring and one per
 * counter.
 */
void drain_lanes_fill(const struct counters *c, const struct capture_cpus *cpus, bool by_pid,
		      struct drain_lane *lanes, int *fds);

/*
 * like: the settings that all drains share. wake_fd: an eventfd. sleep_ms: the longest sleep of a
 * thread.
 */
int drain_threads_new(struct drain_threads **ret, const struct thread_plan *plan,
		      const struct drain *like, const struct drain_lane *lanes, size_t nr_lanes,
		      int wake_fd, int sleep_ms);
/* True if all polled descriptors have hung up; wake_fd is written to when that happens. */
bool drain_threads_hung_up(const struct drain_threads *t);
bool drain_threads_failed(const struct drain_threads *t);
/* Ends the threads. Returns the error of the first thread that failed, otherwise 0. */
int drain_threads_end(struct drain_threads *t);
/* Adds the totals of all drains to the recorder's own drain, which has no rings. */
void drain_threads_sum(struct drain_threads *t, struct drain *to, uint64_t *ret_wakeups);
void drain_threads_count_left(const struct drain_threads *t, struct tally *to);
void drain_threads_free(struct drain_threads *t); /* NULL is fine */

#endif
