/* SPDX-License-Identifier: MIT */
#include "record/drain/drain_threads.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/thread.h"

struct worker {
	struct drain_threads *all;
	pthread_t id;
	bool is_running;
	VEC(struct drain) drains; /* each has one ring */
	VEC(struct pollfd) fds;   /* [0] is end_fd; the descriptors of the lanes follow */
	uint64_t wakeups;
	int error;
	char *error_text; /* owned */
};

struct drain_threads {
	struct worker *workers;
	size_t nr_workers;
	int sleep_ms;
	int end_fd, wake_fd; /* end_fd: written to when the recording has ended */
	atomic_bool ends;
	atomic_int error;           /* error of the worker that failed first */
	atomic_size_t nr_connected; /* descriptors that have not hung up */
};

static int threads_pass(struct worker *w, bool is_last)
{
	vec_foreach(d, &w->drains) {
		d->takes_all = is_last;
		TRY(drain_pass(d));
	}
	return 0;
}

/*
 * The write to wake_fd only wakes the main loop. If it fails, the main loop is delayed by up to a
 * second.
 */
static void threads_wake(const struct drain_threads *t)
{
	const uint64_t one = 1;
	const ssize_t n = write(t->wake_fd, &one, sizeof(one));

	(void)n;
}

static void threads_wait_for_events(struct worker *w)
{
	bool data = false, is_pressed = false;

	vec_foreach(d, &w->drains)
		is_pressed |= d->is_pressed;
	if (poll(w->fds.v, w->fds.n, is_pressed ? 0 : w->all->sleep_ms) <= 0)
		return;
	for (size_t i = 1; i < w->fds.n; i++) {
		data |= (w->fds.v[i].revents & POLLIN) != 0;
		if (!(w->fds.v[i].revents & (POLLHUP | POLLERR | POLLNVAL)))
			continue;
		w->fds.v[i].fd = -1;
		w->fds.v[i].revents = 0;
		if (atomic_fetch_sub(&w->all->nr_connected, 1) == 1)
			threads_wake(w->all);
	}
	w->wakeups += data;
}

static void *threads_work(void *arg)
{
	struct worker *w = arg;
	struct drain_threads *t = w->all;
	int none = 0;

	for (;;) {
		const bool is_last = atomic_load(&t->ends);

		w->error = threads_pass(w, is_last);
		if (w->error < 0 || is_last)
			break;
		threads_wait_for_events(w);
	}
	if (w->error < 0) {
		w->error_text = strdup(err_text());
		if (atomic_compare_exchange_strong(&t->error, &none, w->error))
			threads_wake(t);
	}
	return NULL;
}

static int threads_add_lane(struct worker *w, const struct drain *like,
			    const struct drain_lane *lane)
{
	struct drain d = *like;

	d.rings = lane->ring;
	d.nr_rings = 1;
	d.outlet = lane->outlet;
	d.has_no_rounds = true;
	for (size_t i = 0; i < lane->nr_fds; i++)
		TRY(vec_push(&w->fds, (struct pollfd){ .fd = lane->fds[i], .events = POLLIN }));
	atomic_fetch_add(&w->all->nr_connected, lane->nr_fds);
	return vec_push(&w->drains, d);
}

static int threads_start(struct worker *w, const struct capture_cpus *affinity)
{
	int max = 0, error;
	pthread_attr_t attr;
	cpu_set_t *set;
	size_t bytes;

	for (size_t i = 0; i < affinity->list.n; i++)
		if (affinity->list.v[i] > max)
			max = affinity->list.v[i];
	bytes = CPU_ALLOC_SIZE((size_t)max + 1);
	set = CPU_ALLOC((size_t)max + 1);
	if (!set)
		return err_nomem();
	CPU_ZERO_S(bytes, set);
	for (size_t i = 0; i < affinity->list.n; i++)
		CPU_SET_S((size_t)affinity->list.v[i], bytes, set);
	pthread_attr_init(&attr);
	pthread_attr_setaffinity_np(&attr, bytes, set);
	error = thread_start(&w->id, &attr, threads_work, w);
	pthread_attr_destroy(&attr);
	CPU_FREE(set);
	w->is_running = !error;
	return error ? err_errno(error, "cannot start a thread on the cpus that --threads asks for")
		     : 0;
}

static int threads_set_up(struct drain_threads *t, const struct thread_plan *plan,
			  const struct drain *like, const struct drain_lane *lanes, size_t nr_lanes)
{
	t->workers = calloc(plan->list.n, sizeof(*t->workers));
	if (!t->workers)
		return err_nomem();
	t->nr_workers = plan->list.n;
	t->end_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (t->end_fd < 0)
		return err_errno(errno, "cannot make an eventfd");
	for (size_t i = 0; i < t->nr_workers; i++) {
		struct worker *w = &t->workers[i];

		w->all = t;
		TRY(vec_push(&w->fds, (struct pollfd){ .fd = t->end_fd, .events = POLLIN }));
		for (size_t k = 0; k < nr_lanes; k++)
			if (capture_cpus_has(&plan->list.v[i].rings, lanes[k].cpu))
				TRY(threads_add_lane(w, like, &lanes[k]));
	}
	for (size_t i = 0; i < t->nr_workers; i++)
		if (t->workers[i].drains.n)
			TRY(threads_start(&t->workers[i], &plan->list.v[i].affinity));
	return 0;
}

void drain_lanes_fill(const struct counters *c, const struct capture_cpus *cpus, bool by_pid,
		      struct drain_lane *lanes, int *fds)
{
	for (size_t i = 0; i < c->rings.list.n; i++) {
		struct ring *r = &c->rings.list.v[i];
		struct drain_lane *lane = &lanes[i];

		const struct counter *owner = NULL;

		*lane = (struct drain_lane){
			.ring = r,
			.cpu = cpus->list.v[r->buffer],
			.fds = fds,
		};
		if (!by_pid)
			fds[lane->nr_fds++] = r->fd;
		/*
		 * the counters of one event report the end of all tasks in this ring, and the first
		 * event may not be in each ring
		 */
		for (size_t k = 0; k < c->list.n; k++) {
			const struct counter *n = &c->list.v[k];

			if (!by_pid || n->buffer != r->buffer || n->backward)
				continue;
			owner = owner ? owner : n;
			if (n->event == owner->event)
				fds[lane->nr_fds++] = n->fd;
		}
		fds += lane->nr_fds;
	}
}

int drain_threads_new(struct drain_threads **ret, const struct thread_plan *plan,
		      const struct drain *like, const struct drain_lane *lanes, size_t nr_lanes,
		      int wake_fd, int sleep_ms)
{
	struct drain_threads *t = calloc(1, sizeof(*t));
	int r;

	if (!t)
		return err_nomem();
	t->end_fd = -1;
	t->wake_fd = wake_fd;
	t->sleep_ms = sleep_ms;
	r = threads_set_up(t, plan, like, lanes, nr_lanes);
	if (r < 0) {
		drain_threads_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

bool drain_threads_hung_up(const struct drain_threads *t)
{
	return !atomic_load(&t->nr_connected);
}

bool drain_threads_failed(const struct drain_threads *t)
{
	return atomic_load(&t->error) < 0;
}

int drain_threads_end(struct drain_threads *t)
{
	const uint64_t one = 1;
	const struct worker *failed = NULL;

	atomic_store(&t->ends, true);
	if (t->end_fd >= 0 && write(t->end_fd, &one, sizeof(one)) < 0)
		return err_errno(errno, "cannot end the threads of the recording");
	for (size_t i = 0; i < t->nr_workers; i++) {
		struct worker *w = &t->workers[i];

		if (w->is_running)
			pthread_join(w->id, NULL);
		w->is_running = false;
		if (w->error < 0 && !failed)
			failed = w;
	}
	if (!failed)
		return 0;
	return err_set(failed->error, "%s",
		       failed->error_text ? failed->error_text : strerror(-failed->error));
}

void drain_threads_sum(struct drain_threads *t, struct drain *to, uint64_t *ret_wakeups)
{
	for (size_t i = 0; i < t->nr_workers; i++) {
		*ret_wakeups += t->workers[i].wakeups;
		t->workers[i].wakeups = 0;
		vec_foreach(d, &t->workers[i].drains)
			drain_absorb(to, d);
	}
}

void drain_threads_count_left(const struct drain_threads *t, struct tally *to)
{
	for (size_t i = 0; i < t->nr_workers; i++)
		for (size_t k = 0; k < t->workers[i].drains.n; k++)
			drain_count_left(&t->workers[i].drains.v[k], to);
}

void drain_threads_free(struct drain_threads *t)
{
	if (!t)
		return;
	drain_threads_end(t);
	for (size_t i = 0; i < t->nr_workers; i++) {
		struct worker *w = &t->workers[i];

		vec_foreach(d, &w->drains)
			drain_done(d);
		vec_done(&w->drains);
		vec_done(&w->fds);
		free(w->error_text);
	}
	if (t->end_fd >= 0)
		close(t->end_fd);
	free(t->workers);
	free(t);
}
