/* SPDX-License-Identifier: MIT */
/* The recording itself: wakes, drains and ends, then collects the results known only afterwards. */

#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/err.h"
#include "base/now.h"
#include "record/commands.h"
#include "record/drain/backward.h"
#include "record/enable.h"
#include "record/file.h"
#include "record/ftrace/stream.h"
#include "record/ftrace_recording.h"
#include "record/rotation.h"
#include "record/recorder.h"
#include "record/subject.h"
#include "record/summary.h"
#include "record/waiting.h"

enum { LOOK_AT_CPUS_NS = 100000000 };

static bool run_is_over(struct sonde_recorder *r, const struct waiting *w, int *ret_status)
{
	if (atomic_load(&r->stops))
		return true;
	if (r->command_name)
		return workload_ended(&r->workload, ret_status);
	if (r->threads)
		return r->capture.target.by_pid && drain_threads_hung_up(r->threads);
	return r->capture.target.by_pid && !w->nr_connected;
}

/* Switches events as -D and --control request now. */
static int run_follow(struct sonde_recorder *r, const struct waiting *w)
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
		recorder_stop(r);
		break;
	}
	if (waiting_has_command(w))
		TRY(commands_serve(&r->control, r));
	return 0;
}

/* A reader of a pipe waits for events, so --mmap-flush delays them by at most one sleep. */
static bool run_is_time_to_take_all(struct sonde_recorder *r)
{
	enum { HOLD_BACK_MS = 30 };
	struct timespec t;
	uint64_t now_ms;

	if (!r->is_pipe || !r->transfer.least_bytes)
		return false;
	clock_gettime(CLOCK_MONOTONIC, &t);
	now_ms = (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
	if (now_ms - r->took_all_ms < HOLD_BACK_MS)
		return false;
	r->took_all_ms = now_ms;
	return true;
}

static int run_pass(struct sonde_recorder *r, bool is_last)
{
	int e;

	r->drain.takes_all = is_last || run_is_time_to_take_all(r);
	if (!r->threads)
		return drain_pass(&r->drain);
	if (!is_last && !drain_threads_failed(r->threads))
		return 0;
	if (!is_last)
		counters_disable(&r->capture.counters);
	e = drain_threads_end(r->threads);
	drain_threads_sum(r->threads, &r->drain, &r->wakeups);
	return e;
}

/*
 * Compares the online cpus at intervals. A cpu is missed only if it is online for less than one
 * interval.
 */
static void run_look_at_cpus(struct sonde_recorder *r)
{
	const uint64_t now = now_ns(CLOCK_MONOTONIC_COARSE);

	if (now - r->looked_ns < LOOK_AT_CPUS_NS)
		return;
	r->looked_ns = now;
	target_look(&r->capture.target);
}

static void run_disable(struct sonde_recorder *r)
{
	counters_disable(&r->capture.counters);
	if (r->ftrace_stream && ftrace_stream_switch(r->ftrace_stream, false) < 0)
		err_clear(); /* more events than there should be */
}

/*
 * After the last pass, or after the failure of one: the kernel does not say of which events the
 * lost ones are, so they are those of the first event.
 */
static int run_count_stream(struct sonde_recorder *r, uint64_t *ret_left)
{
	struct ftrace_stream_counts counts;

	*ret_left = 0;
	if (!r->ftrace_stream)
		return 0;
	TRY(ftrace_stream_count(r->ftrace_stream, &counts));
	*ret_left = counts.left;
	vec_foreach(n, &r->capture.counters.list) {
		if (n->fd >= 0)
			continue;
		n->lost = counts.lost;
		break;
	}
	return 0;
}

static int run_end_stream(struct sonde_recorder *r)
{
	uint64_t left;

	TRY(run_count_stream(r, &left));
	return r->ftrace_stream ? ftrace_stream_end(r->ftrace_stream) : 0;
}

static int run_record(struct sonde_recorder *r, int *ret_status)
{
	struct waiting w;
	int e;

	TRY(waiting_init(&w, r));
	for (;;) {
		const bool over = run_is_over(r, &w, ret_status);

		/* one more pass after the end: the last events are still in the buffers */
		if (over)
			run_disable(r);
		e = run_pass(r, over);
		if (e >= 0 && over)
			e = run_end_stream(r);
		if (e >= 0 && over)
			e = backward_dump(&r->capture.counters, &r->drain, true, &r->undrained);
		if (e >= 0 && over)
			e = rotation_describe_end(r);
		if (e < 0 || over)
			break;
		e = rotation_pass(r);
		if (e < 0)
			break;
		if (e > 0)
			recorder_stop(r);
		run_look_at_cpus(r);
		waiting_sleep(&w, r);
		e = run_follow(r, &w);
		if (e < 0)
			break;
	}
	waiting_done(&w);
	return e < 0 ? e : 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* How a recording went. */
struct outcome {
	int error;          /* the first one */
	char *failure;      /* its text; owned */
	bool incomplete;    /* the last file has no end */
	bool reader_gone;   /* the reader closed the pipe, which ends a recording like a stop */
	bool gave_up;       /* the pipe's reader did not read, and the user did not wait for it */
	uint64_t unwritten; /* samples that the kernel provided but that were not written */
	uint64_t lost;      /* events that the kernel dropped */
};

/* The only place that distinguishes the end of a pipe from a failure. */
static void run_note(struct outcome *o, const struct sonde_recorder *r, int e)
{
	if (e >= 0)
		return;
	if (r->is_pipe && e == -EPIPE) {
		o->reader_gone = true;
	} else if (r->is_pipe && e == -ECANCELED) {
		o->gave_up = true;
	} else if (!o->error) {
		o->error = e;
		o->failure = strdup(err_text());
	}
}

/* After a failure: counts the samples that are left in the rings. */
static void run_count_left(struct sonde_recorder *r)
{
	uint64_t left;

	if (run_count_stream(r, &left) < 0)
		err_clear(); /* other counts are reported all the same */
	else
		r->undrained.samples += left;
	if (!r->threads) {
		drain_count_left(&r->drain, &r->undrained);
		return;
	}
	drain_threads_end(r->threads);
	drain_threads_sum(r->threads, &r->drain, &r->wakeups);
	drain_threads_count_left(r->threads, &r->undrained);
}

/*
 * Reads the losses, ends the file and names it. Each step is tried even if the one before failed.
 * e: the result of the loop.
 */
static void run_finish(struct sonde_recorder *r, int e, struct outcome *ret)
{
	struct outcome o = { 0 };

	run_note(&o, r, e);
	target_look_back(&r->capture.target);
	if (e < 0) {
		run_disable(r);
		run_count_left(r);
	}
	run_note(&o, r, recorder_file_losses(r, &r->file, &r->drain.totals, &o.lost));
	r->ended_early = o.error;
	if (!o.reader_gone && !o.gave_up) {
		e = recorder_file_end(r, &r->file, &r->drain.totals);
		run_note(&o, r, e > 0 ? -ENOSPC : e);
		o.incomplete = e < 0;
	}
	if (!o.incomplete)
		run_note(&o, r, rotation_end(r));
	o.lost += r->rotation.lost;
	o.unwritten = r->undrained.samples + recorder_file_figures(&r->file).given_up +
		      r->rotation.given_up;
	if (o.reader_gone) /* a reader that closes the pipe wants no more data */
		o.unwritten = 0;
	*ret = o;
}

static struct sonde_record_result run_result_of(const struct sonde_recorder *r,
						const struct outcome *o)
{
	const struct recorder_figures figures = recorder_file_figures(&r->file);

	return (struct sonde_record_result){
		.size = sizeof(struct sonde_record_result),
		.samples = r->drain.totals.samples - figures.given_up + r->rotation.samples,
		.lost = o->lost,
		.bytes_written = figures.bytes + r->rotation.bytes,
	};
}

/* Returns the result of the recording and sets its error text. */
static int run_report(struct sonde_recorder *r, const struct outcome *o,
		      const struct sonde_record_result *result, int *ret_status)
{
	const bool ends_early = o->error || o->reader_gone || o->gave_up;
	const bool goes_on =
		ends_early && r->command_name && !workload_ended(&r->workload, ret_status);
	const char *who = goes_on ? r->command_name : "", *what = goes_on ? " continues" : "";

	err_clear();
	if (o->error) {
		err_set(o->error, "%s; %s", o->failure ? o->failure : strerror(-o->error),
			o->incomplete ? "the file could not be completed, but sonde can read it"
				      : "what was recorded before is kept");
		if (goes_on)
			say(&r->say, SAY_WARNING, "the recording has ended: %s; %s continues",
			    err_text(), who);
		if (goes_on) /* the cause was reported: once is enough */
			err_set(o->error, "the recording has ended early (%s)",
				strerror(-o->error));
	} else if (o->reader_gone && !atomic_load(&r->stops)) {
		/*
		 * A stop may be the cause (one Ctrl-C ends both programs); then nothing is
		 * reported.
		 */
		say(&r->say, SAY_WARNING,
		    "the reader of the recording has closed its pipe: the recording has "
		    "ended%s%s%s",
		    goes_on ? "; " : "", who, what);
	} else if (o->gave_up) {
		say(&r->say, SAY_WARNING,
		    "the reader of the recording has stopped reading: the data that it has not "
		    "read are dropped");
	}
	target_say_changes(&r->capture.target, &r->say);
	summary_say(r, result, o->unwritten);
	if (!ends_early && !result->samples && !result->lost && !o->unwritten)
		subject_say_no_samples(r);
	return o->error;
}

/*
 * Waits for a workload that outlives its recording. After a stop it gets SIGTERM. If the recording
 * failed (for example on a full disk), the workload continues undisturbed. patience: the number of
 * stops after which we still wait; the first stop sends SIGTERM.
 */
static void run_wait_for_workload(struct sonde_recorder *r, unsigned patience, int *ret_status)
{
	/* interval to check for stops, and for the workload's end if there is no pidfd */
	enum { LOOK_MS = 100 };
	bool asked = false;

	while (!workload_ended(&r->workload, ret_status)) {
		struct pollfd fds[] = { { .fd = r->workload.pidfd, .events = POLLIN } };

		if (atomic_load(&r->stops) && !asked) {
			workload_terminate(&r->workload);
			asked = true;
		} else if (atomic_load(&r->stops) > patience) {
			/* it ignores SIGTERM, and the user stopped waiting */
			*ret_status = 128 + SIGTERM;
			return;
		}
		poll(fds, 1, LOOK_MS);
	}
}

/* ---- all ------------------------------------------------------------------------------------- */

/* From here on events are recorded. *ret_status is set if the workload cannot be run. */
static int run_begin(struct sonde_recorder *r, int *ret_status)
{
	r->was_on = !r->delay.begins_off;
	if (r->delay.begins_off)
		say(&r->say, SAY_NORMAL, "events are disabled");
	else if (!r->capture.target.workload)
		TRY(counters_enable(&r->capture.counters));
	if (r->ftrace_stream)
		TRY(ftrace_stream_switch(r->ftrace_stream, true));
	delay_start(&r->delay);
	TRY(rotation_enable(r));
	if (r->begun)
		r->begun(r->begun_ctx);
	return r->command_name ? workload_start(&r->workload, r->command_name, ret_status) : 0;
}

/* Runs the recording and fills the result, except its size. */
static int run(struct sonde_recorder *r, struct sonde_record_result *result)
{
	struct outcome o;
	int status = 0, e;

	e = run_begin(r, &status);
	result->exit_status = status;
	if (e < 0) {
		output_discard(&r->file.output);
		return e;
	}
	e = r->file.reader_gone ? -EPIPE : run_record(r, &status);
	run_finish(r, e, &o);
	*result = run_result_of(r, &o);
	e = run_report(r, &o, result, &status);
	free(o.failure);
	result->lost += o.unwritten;
	if (r->command_name)
		run_wait_for_workload(r, o.gave_up ? atomic_load(&r->stops) : 1, &status);
	result->exit_status = status;
	return e;
}

static int run_ftrace(struct sonde_recorder *r, struct sonde_record_result *result)
{
	const int e = ftrace_recording_run(r, result);
	int status = result->exit_status;

	if (r->command_name)
		run_wait_for_workload(r, 1, &status);
	result->exit_status = status;
	return e;
}

int recorder_run(struct sonde_recorder *r, struct sonde_record_result *ret)
{
	*ret = (struct sonde_record_result){ .size = sizeof(*ret) };
	if (r->cannot_run) {
		ret->exit_status = r->cannot_run;
		return err_set(r->cannot_run == 127 ? -ENOENT : -EACCES, "%s", r->cannot_run_why);
	}
	if (r->opts.dry_run)
		return 0;
	return r->ftrace ? run_ftrace(r, ret) : run(r, ret);
}
