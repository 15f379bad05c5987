/* SPDX-License-Identifier: MIT */
#include "record/waiting.h"

#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "record/ftrace/stream.h"
#include "record/rotation.h"
#include "record/recorder.h"

enum { SLEEP_WITHOUT_PIDFD_MS = 100 };

/*
 * Indexes of the polled descriptors. The descriptors of the buffers follow, then those of
 * rotation.h.
 */
enum { POLL_STOP, POLL_WORKLOAD, POLL_CONTROL, POLL_BPF, POLL_RINGS };

static void waiting_add(struct waiting *w, int fd, short events)
{
	w->fds[w->n++] = (struct pollfd){ .fd = fd, .events = events };
}

/* The first event that has counters of the kernel. */
static uint32_t waiting_first_opened(const struct counters *c)
{
	for (size_t i = 0; i < c->list.n; i++)
		if (c->list.v[i].fd >= 0)
			return c->list.v[i].event;
	return 0;
}

/*
 * If processes are recorded by pid, the counters of the first event hang up when their task and its
 * children have ended.
 */
int waiting_init(struct waiting *ret, struct sonde_recorder *r)
{
	const size_t nr_fds = rotation_nr_fds(r);
	const size_t nr_buffers = r->ftrace_stream ? ftrace_stream_nr_fds(r->ftrace_stream) : 0;
	const size_t max = POLL_RINGS + r->capture.counters.list.n +
			   r->capture.counters.rings.list.n + nr_fds + nr_buffers;
	struct waiting w = { .fds = calloc(max, sizeof(*w.fds)) };
	int *fds = calloc(nr_fds + 1, sizeof(*fds));

	if (!w.fds || !fds) {
		free(w.fds);
		free(fds);
		return err_nomem();
	}
	waiting_add(&w, r->wake_fd, POLLIN);
	waiting_add(&w, r->workload.pidfd, POLLIN);
	waiting_add(&w, r->control.fd, POLLIN);
	waiting_add(&w, bpf_watch_fd(&r->bpf_watch), POLLIN);
	if (r->threads) {
		/* the threads poll their rings */
	} else if (r->capture.target.by_pid) {
		const uint32_t first = waiting_first_opened(&r->capture.counters);

		vec_foreach(n, &r->capture.counters.list)
			if (n->event == first)
				waiting_add(&w, n->fd, n->backward ? 0 : POLLIN);
	} else {
		vec_foreach(ring, &r->capture.counters.rings.list)
			waiting_add(&w, ring->fd, POLLIN);
	}
	w.nr_connected = w.n - POLL_RINGS;
	w.targets_end = w.n;
	for (size_t i = 0; i < nr_buffers; i++)
		waiting_add(&w, ftrace_stream_fd(r->ftrace_stream, i), POLLIN);
	rotation_fds(r, fds);
	for (size_t i = 0; i < nr_fds; i++)
		waiting_add(&w, fds[i], POLLIN);
	free(fds);
	*ret = w;
	return 0;
}

/* Reads the count, which would otherwise wake us forever. Flags contain the reason. */
static void waiting_empty(int fd)
{
	uint64_t count;
	const ssize_t n = read(fd, &count, sizeof(count));

	(void)n;
}

void waiting_sleep(struct waiting *w, struct sonde_recorder *r)
{
	const bool no_pidfd = r->command_name && r->workload.pidfd < 0;
	const int ms = r->drain.is_pressed ? 0
		       : r->is_pipe        ? r->live_sleep_ms
		       : no_pidfd          ? SLEEP_WITHOUT_PIDFD_MS
					   : DRAIN_SLEEP_MS;
	bool data = false;

	w->fds[POLL_CONTROL] = (struct pollfd){ .fd = r->control.fd, .events = POLLIN };
	if (poll(w->fds, w->n, rotation_timeout(r, delay_sleep_ms(&r->delay, ms))) <= 0) {
		w->fds[POLL_CONTROL].revents = 0;
		return;
	}
	if (w->fds[POLL_STOP].revents)
		waiting_empty(r->wake_fd);
	if (w->fds[POLL_BPF].revents)
		bpf_watch_read(&r->bpf_watch, r->bpf);
	for (size_t i = POLL_RINGS; i < w->n; i++) {
		const bool is_target = i < w->targets_end;

		data |= is_target && w->fds[i].revents & POLLIN;
		if (w->fds[i].revents & (POLLHUP | POLLERR | POLLNVAL)) {
			w->fds[i].fd = -1;
			w->fds[i].revents = 0;
			w->nr_connected -= is_target;
		}
	}
	r->wakeups += data;
}

bool waiting_has_command(const struct waiting *w)
{
	return w->fds[POLL_CONTROL].revents != 0;
}

void waiting_done(struct waiting *w)
{
	free(w->fds);
	*w = (struct waiting){ 0 };
}
