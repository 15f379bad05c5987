/* SPDX-License-Identifier: MIT */
/* The recording itself: wake, drain, end; then what is only known afterwards. */

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "record/enable.h"
#include "record/backward.h"
#include "record/file.h"
#include "record/recorder.h"

/*
 * The kernel wakes us when a buffer is half full; what comes seldom is fetched this often, so that a recorder that is
 * killed loses little.
 */
enum { SLEEP_MS = 1000, SLEEP_WITHOUT_PIDFD_MS = 100 };
/* A reader sees an event two passes after it happened: at most 100 ms. */
enum { LIVE_SLEEP_MS = 30 };

/* Polled descriptors: stop, the workload's end, commands, BPF programs loaded, then the buffers. */
enum { POLL_STOP, POLL_WORKLOAD, POLL_CONTROL, POLL_BPF, POLL_RINGS };

struct waiting {
	struct pollfd *fds;
	size_t n;
	size_t targets_end; /* behind the descriptors that tell of recorded tasks or rings */
	size_t alive;       /* recorded tasks or rings that have not hung up */
};

/* By pid, the counters of the first event tell by hanging up that their task and its children are gone. */
static int waiting_init(struct waiting *w, struct sonde_recorder *r)
{
	const size_t nr_parts = parts_nr_fds(r);
	const size_t max = POLL_RINGS + r->counters.list.n + r->counters.rings.n + nr_parts;
	int *parts;

	*w = (struct waiting){ .fds = calloc(max, sizeof(*w->fds)), .n = POLL_RINGS };
	if (!w->fds)
		return err_nomem();
	w->fds[POLL_STOP] = (struct pollfd){ .fd = r->wake_fd, .events = POLLIN };
	w->fds[POLL_WORKLOAD] = (struct pollfd){ .fd = r->workload.pidfd, .events = POLLIN };
	w->fds[POLL_CONTROL] = (struct pollfd){ .fd = r->control.fd, .events = POLLIN };
	w->fds[POLL_BPF] =
		(struct pollfd){ .fd = bpf_watch_fd(&r->bpf_watch), .events = POLLIN };
	if (r->threads) {
		/* the threads do */
	} else if (r->target.by_pid) {
		vec_foreach(n, &r->counters.list)
			if (n->event == 0)
				w->fds[w->n++] =
					(struct pollfd){ .fd = n->fd,
							 .events = n->backward ? 0 : POLLIN };
	} else {
		vec_foreach(ring, &r->counters.rings)
			w->fds[w->n++] = (struct pollfd){ .fd = ring->fd, .events = POLLIN };
	}
	w->alive = w->n - POLL_RINGS;
	w->targets_end = w->n;
	parts = calloc(nr_parts + 1, sizeof(*parts));
	if (!parts) {
		free(w->fds);
		return err_nomem();
	}
	parts_fds(r, parts);
	for (size_t i = 0; i < nr_parts; i++)
		w->fds[w->n++] = (struct pollfd){ .fd = parts[i], .events = POLLIN };
	free(parts);
	return 0;
}

static void sleep_until_woken(struct sonde_recorder *r, struct waiting *w)
{
	const bool no_pidfd = r->command_name && r->workload.pidfd < 0;
	const int ms = r->drain.is_pressed ? 0
		       : r->is_pipe        ? LIVE_SLEEP_MS
		       : no_pidfd          ? SLEEP_WITHOUT_PIDFD_MS
					   : SLEEP_MS;
	bool data = false;

	w->fds[POLL_CONTROL].revents = 0;
	if (poll(w->fds, w->n, parts_timeout(r, delay_sleep_ms(&r->delay, ms))) <= 0)
		return;
	if (w->fds[POLL_BPF].revents)
		bpf_watch_read(&r->bpf_watch, r->bpf);
	for (size_t i = POLL_RINGS; i < w->targets_end; i++) {
		data |= (w->fds[i].revents & POLLIN) != 0;
		if (w->fds[i].revents & (POLLHUP | POLLERR | POLLNVAL)) {
			w->fds[i].fd = -1;
			w->fds[i].revents = 0;
			w->alive--;
		}
	}
	r->wakeups += data;
}

static bool is_over(struct sonde_recorder *r, const struct waiting *w, int *ret_status)
{
	if (atomic_load(&r->stops))
		return true;
	if (r->command_name)
		return workload_ended(&r->workload, ret_status);
	if (r->threads)
		return r->target.by_pid && drain_threads_hung_up(r->threads);
	return r->target.by_pid && !w->alive;
}

/* What -D and --control say now. */
static int follow(struct sonde_recorder *r, struct waiting *w)
{
	switch (delay_due(&r->delay)) {
	case DELAY_NOTHING:
		break;
	case DELAY_ON:
	case DELAY_OFF:
		TRY(recorder_switch(r, r->delay.next % 2));
		break;
	case DELAY_END:
		TRY(recorder_switch(r, false));
		sonde_recorder_stop(r);
		break;
	}
	if (w->fds[POLL_CONTROL].revents)
		TRY(control_serve(&r->control, r));
	w->fds[POLL_CONTROL].fd = r->control.fd;
	return 0;
}

static int pass(struct sonde_recorder *r, bool is_last)
{
	int e;

	if (!r->threads) {
		r->drain.takes_all = is_last;
		return drain_pass(&r->drain);
	}
	if (!is_last && !drain_threads_failed(r->threads))
		return 0;
	if (!is_last)
		counters_disable(&r->counters);
	e = drain_threads_end(r->threads);
	drain_threads_sum(r->threads, &r->drain, &r->wakeups);
	return e;
}

static int record(struct sonde_recorder *r, int *ret_status)
{
	struct waiting w;
	int e;

	TRY(waiting_init(&w, r));
	for (;;) {
		const bool over = is_over(r, &w, ret_status);

		/* after the end one more pass: what came before it is in the buffers */
		if (over)
			counters_disable(&r->counters);
		e = pass(r, over);
		if (e >= 0 && over)
			e = backward_dump(&r->counters, &r->drain, true, &r->left_behind);
		if (e >= 0 && over)
			e = parts_describe_end(r);
		if (e < 0 || over)
			break;
		e = parts_pass(r);
		if (e < 0)
			break;
		if (e > 0)
			sonde_recorder_stop(r);
		sleep_until_woken(r, &w);
		e = follow(r, &w);
		if (e < 0)
			break;
	}
	free(w.fds);
	return e < 0 ? e : 0;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

static void tell(const struct sonde_recorder *r, const struct sonde_record_result *result,
		 uint64_t unwritten)
{
	const double share =
		100.0 * (double)result->lost / (double)(result->lost + result->samples);
	const struct recorder_figures figures = recorder_file_figures(&r->file);
	char samples[64] = "", packed[96] = "", where[PATH_MAX + 64];

	if (r->parts.nr_ended > 1)
		snprintf(where, sizeof(where), "in %u files %s.<timestamp>", r->parts.nr_ended,
			 r->file.output.path);
	else
		snprintf(where, sizeof(where), "%s%s", r->file.output.path,
			 r->parts.nr_ended ? ".<timestamp>" : "");
	say(&r->say, SAY_NORMAL, "[ sonde record: Woken up %llu times to write data ]",
	    (unsigned long long)r->wakeups);
	if (figures.packed_bytes)
		snprintf(packed, sizeof(packed), ", compressed (original %.3f MB, ratio is %.3f)",
			 (double)figures.plain_bytes / (1 << 20),
			 (double)figures.plain_bytes / (double)figures.packed_bytes);
	if (result->samples)
		snprintf(samples, sizeof(samples), " (%llu samples)",
			 (unsigned long long)result->samples);
	say(&r->say, SAY_NORMAL, "[ sonde record: Captured and wrote %.3f MB %s%s%s ]",
	    (double)result->bytes_written / (1 << 20), where, packed, samples);
	if (result->lost)
		say(&r->say, SAY_WARNING,
		    "%llu events were lost (%.*f %%), because a buffer was full: take larger "
		    "buffers (-m, now %zu pages for each "
		    "cpu), fewer events, or a --filter",
		    (unsigned long long)result->lost, share < 10 ? 2 : 0, share,
		    r->counters.mapped_bytes / (size_t)sysconf(_SC_PAGESIZE) - 1);
	if (r->state_lost)
		say(&r->say, SAY_WARNING,
		    "a buffer had no room for names, mappings, forks and exits either (records "
		    "lost: %llu): "
		    "some names may be missing",
		    (unsigned long long)r->state_lost);
	if (unwritten)
		say(&r->say, SAY_WARNING,
		    "%llu events were recorded, but could not be written: they are lost, too",
		    (unsigned long long)unwritten);
}

/*
 * A workload that is still there has outlived its recording: after a stop it is asked to end; when the recording failed
 * (a full disk) it goes on, since it is not ours to break.
 */
static void wait_for_workload(struct sonde_recorder *r, int *ret_status)
{
	const unsigned stops_before = atomic_load(&r->stops);
	const unsigned patience = stops_before ? stops_before : 1;
	bool asked = false;

	while (!workload_ended(&r->workload, ret_status)) {
		struct pollfd fds[] = { { .fd = r->workload.pidfd, .events = POLLIN } };

		if (atomic_load(&r->stops) && !asked) {
			workload_terminate(&r->workload);
			asked = true;
		} else if (atomic_load(&r->stops) > patience) {
			*ret_status =
				128 + SIGTERM; /* it does not listen, and the user will not wait */
			return;
		}
		poll(fds, 1, SLEEP_WITHOUT_PIDFD_MS);
	}
}

/* After a failure; returns how many samples are left in the rings. */
static uint64_t end_threads(struct sonde_recorder *r)
{
	drain_threads_end(r->threads);
	drain_threads_sum(r->threads, &r->drain, &r->wakeups);
	return drain_threads_count_left(r->threads);
}

int sonde_recorder_run(struct sonde_recorder *r, struct sonde_record_result *ret)
{
	struct sonde_record_result result = { .size = sizeof(result) };
	/* a caller built with an older header knows fewer members */
	const size_t ret_size =
		ret->size && ret->size < sizeof(result) ? ret->size : sizeof(result);
	char *failure = NULL;
	uint64_t unwritten = 0; /* samples that the kernel gave and the disk did not take */
	struct recorder_figures figures;
	int status = 0, e = 0, late;

	memcpy(ret, &result, ret_size);
	if (r->cannot_run) {
		ret->exit_status = r->cannot_run;
		return err_set(r->cannot_run == 127 ? -ENOENT : -EACCES, "%s", r->cannot_run_why);
	}
	if (r->opts.dry_run)
		return 0;
	if (r->delay.begins_off)
		say(&r->say, SAY_NORMAL, "events are disabled");
	else if (!r->target.workload)
		e = counters_enable(&r->counters);
	delay_start(&r->delay);
	if (e == 0)
		e = parts_enable(r);
	if (e == 0 && r->command_name)
		e = workload_start(&r->workload, r->command_name, &status);
	if (e < 0) {
		output_discard(&r->file.output);
		ret->exit_status = status;
		return e;
	}
	e = record(r, &status);
	if (e == -EPIPE) { /* nobody reads any more: that ends a recording as well as any stop */
		counters_disable(&r->counters);
		say(&r->say, SAY_WARNING,
		    "the reader of the recording has closed its pipe: the recording has "
		    "ended%s%s%s",
		    r->command_name ? "; " : "", r->command_name ? r->command_name : "",
		    r->command_name ? " goes on" : "");
		outlet_finish(r->file.outlet);
		figures = recorder_file_figures(&r->file);
		result.samples = r->drain.totals.samples - figures.given_up;
		result.bytes_written = figures.bytes;
		tell(r, &result, 0);
		if (r->command_name)
			wait_for_workload(r, &status);
		result.exit_status = status;
		memcpy(ret, &result, ret_size);
		return 0;
	}
	if (e < 0) {
		counters_disable(&r->counters);
		failure = strdup(err_text());
		unwritten = r->left_behind +
			    (r->threads ? end_threads(r) : drain_count_left(&r->drain));
	}
	late = recorder_file_losses(r, &r->file, &r->drain.totals, &result.lost);
	if (late < 0 && e == 0) {
		e = late;
		failure = strdup(err_text());
	}
	late = recorder_file_end(r, &r->file, &r->drain.totals);
	if (late && e == 0) {
		e = late < 0 ? late : -ENOSPC;
		failure = strdup(err_text());
	}
	figures = recorder_file_figures(&r->file);
	unwritten += figures.given_up;
	result.samples = r->drain.totals.samples - figures.given_up;
	result.bytes_written = figures.bytes;
	if (late >= 0) {
		late = parts_end(r);
		if (late < 0 && e == 0) {
			e = late;
			failure = strdup(err_text());
		}
	}
	result.samples += r->parts.samples;
	result.bytes_written += r->parts.bytes;
	result.lost += r->parts.lost;
	unwritten += r->parts.given_up;
	if (e < 0) {
		err_set(e, "%s; %s", failure ? failure : strerror(-e),
			late < 0
				? "the file could not be completed, but sonde reads it all the same"
				: "what was recorded before is kept");
		if (r->command_name && !workload_ended(&r->workload, &status))
			say(&r->say, SAY_WARNING, "the recording has ended: %s; %s goes on",
			    err_text(), r->command_name);
	}
	free(failure);
	target_say_changes(&r->target, &r->say);
	tell(r, &result, unwritten);
	result.lost += unwritten;
	if (r->command_name)
		wait_for_workload(r, &status);
	result.exit_status = status;
	memcpy(ret, &result, ret_size);
	return e;
}
