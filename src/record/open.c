/* SPDX-License-Identifier: MIT */
/*
 * Turns options into a recording that is ready to start: opens events, counters, and the output,
 * which then contains all data known beforehand.
 */

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/size.h"
#include "capture/setup/self.h"
#include "record/ftrace/ftrace.h"
#include "record/ftrace/stream.h"
#include "record/ftrace_recording.h"
#include "record/rotation.h"
#include "record/recorder.h"
#include "record/subject.h"

/* ---- the life of a recorder ------------------------------------------------------------------ */

static int open_check_command(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	r->command_name = strdup(o->command[0]);
	if (!r->command_name)
		return err_nomem();
	r->cannot_run = workload_check(o->command);
	if (!r->cannot_run)
		return 0;
	r->cannot_run_why = strdup(err_text());
	return r->cannot_run_why ? 0 : err_nomem();
}

/* Refuses settings that sonde knows but does not support. */
static int open_refuse(const struct record_options *o)
{
	if (o->kcore)
		return err_set(-EBADR,
			       "--kcore is not taken, because the file holds the kernel's symbols "
			       "itself; its code is not copied");
	return 0;
}

/*
 * Settings of perf_event_open() and of perf.data mean nothing to ftrace's buffers. What a stream
 * out of them does not have is refused by its attrs (ftrace/stream.c).
 */
static int open_refuse_beside_ftrace(const struct record_options *o, bool is_stream)
{
	const struct capture_options *c = &o->capture;
	const struct {
		const char *option;
		bool is_given;
	} options[] = {
		{ "-g, --call-graph (a trigger stacktrace records the kernel's stack)",
		  c->call_graph != NULL && !is_stream },
		{ "-F", c->freq != NULL && !is_stream },
		{ "-c", c->count != NULL && !is_stream },
		{ "-j", c->branch_filter != NULL && !is_stream },
		{ "-k, --clockid (--clock chooses ftrace's clock)",
		  c->clockid != NULL && !is_stream },
		{ "--clock to a pipe (-k chooses the clock)",
		  c->ftrace_clock != NULL && is_stream },
		{ "--per-thread", c->per_thread },
		{ "--overwrite", c->overwrite },
		{ "--uid", c->uid != NULL },
		{ "-D", o->delay != NULL },
		{ "--control", o->control != NULL },
		{ "-z", o->compression_level != NULL },
		{ "--threads", o->threads != NULL },
		{ "--aio", o->aio != NULL },
		{ "--max-size", o->max_size != NULL },
		{ "--switch-output", o->switch_output != NULL },
	};

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++)
		if (options[i].is_given)
			return err_set(-EBADR, "--ftrace does not take %s", options[i].option);
	return 0;
}

static int open_refuse_without_ftrace(const struct record_options *o,
				      const struct sonde_record_options *given)
{
	if (o->capture.buffer_size)
		return err_set(-EBADR, "--buffer-size needs --ftrace; -m gives the size of the "
				       "other buffers");
	if (o->capture.ftrace_clock)
		return err_set(-EBADR, "--clock needs --ftrace; -k chooses another clock without "
				       "it");
	for (size_t i = 0; i < given->nr_events; i++)
		if (given->events[i].trigger)
			return err_set(-EBADR, "--trigger '%s' needs --ftrace",
				       given->events[i].trigger);
	return 0;
}

/* /proc lists the running tasks, their mappings and the kernel's settings. */
static int open_need_proc(void)
{
	if (access("/proc/self/stat", F_OK) == 0)
		return 0;
	return err_set(-ENOENT, "/proc is not mounted, so processes and their mappings are "
				"unknown: as root, mount -t proc proc /proc");
}

/* A number of digits; -1 for any other text. */
static long open_number(const char *text)
{
	const char *rest;
	uint64_t n;

	return size_digits(text, &n, &rest) && !*rest && n <= INT32_MAX ? (long)n : -1;
}

/*
 * A reader gets an event two passes after it happened, so the time between two passes is a third of
 * what it may take.
 */
static int open_find_output(struct sonde_recorder *r)
{
	enum { LATENCY_MS = 100, MOST_MS = 60000 };
	const struct record_options *o = &r->opts;
	long ms = o->latency ? open_number(o->latency) : LATENCY_MS;

	r->is_pipe = o->output_fd || output_is_pipe(o->output);
	r->pipe_fd = STDOUT_FILENO;
	if (o->output_fd) {
		const long fd = open_number(o->output_fd);

		if (fd < 0 || fcntl((int)fd, F_GETFD) < 0)
			return err_set(-EBADR, "output-fd=%s is no open descriptor", o->output_fd);
		r->pipe_fd = (int)fd;
	}
	if (ms < 1 || ms > MOST_MS)
		return err_set(-EBADR, "--latency needs 1 to %d milliseconds, not '%s'", MOST_MS,
			       o->latency);
	r->live_sleep_ms = ms < 3 ? 1 : (int)(ms * 3 / 10);
	return 0;
}

/* Parses the options, before anything is opened. */
static int open_understand(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	TRY(record_options_parse(&r->opts, o->settings));
	TRY(open_refuse(&r->opts));
	if (r->opts.ftrace != RECORD_FTRACE_YES)
		TRY(open_refuse_without_ftrace(&r->opts, o));
	TRY(open_find_output(r));
	if (r->opts.output && !*r->opts.output)
		return err_set(-EBADR, "-o needs the name of a file, or - for the standard output");
	TRY(open_need_proc());
	transfer_exclude(&r->opts, &r->say);
	TRY(rotation_parse(r));
	TRY(describing_parse(&r->describing, &r->opts));
	TRY(transfer_parse(&r->transfer, &r->opts, &r->say));
	TRY(capture_parse(&r->capture));
	TRY(delay_parse(&r->delay, r->opts.delay));
	TRY(control_parse(&r->control, r->opts.control));
	TRY(realtime_parse(&r->realtime, r->opts.realtime));
	if (r->delay.until_enabled && !r->control.is_given)
		say(&r->say, SAY_WARNING,
		    "-D -1 without --control: nothing can enable the events, so none will be "
		    "recorded");
	TRY(capture_name_events(&r->capture, o->events, o->nr_events));
	return capture_find_target(&r->capture, o->command || r->opts.started);
}

/* The command line in the header says whether the recorder's own events are recorded. */
static int open_choose_argv(struct sonde_recorder *r)
{
	if (r->opts.capture.exclude_self != CAPTURE_AUTO || !r->argv ||
	    !self_is_excluded(&r->capture.events))
		return 0;
	r->own_argv = self_command_line(r->argv);
	if (!r->own_argv)
		return err_nomem();
	r->argv = r->own_argv;
	return 0;
}

/* Assigns each ring to the thread of its cpu, with a separate file. */
static int open_start_threads(struct sonde_recorder *r)
{
	const size_t n = r->capture.counters.rings.list.n;
	struct drain_lane *lanes = calloc(n, sizeof(*lanes));
	int *fds = calloc(n + r->capture.counters.list.n, sizeof(*fds)), e = 0;

	if (!lanes || !fds)
		e = err_nomem();
	if (e == 0) {
		drain_lanes_fill(&r->capture.counters, &r->capture.target.cpus,
				 r->capture.target.by_pid, lanes, fds);
		for (size_t i = 0; i < n; i++)
			lanes[i].outlet = r->file.lanes[i].outlet;
	}
	if (e == 0)
		e = drain_threads_new(&r->threads, &r->transfer.threads, &r->drain, lanes, n,
				      r->wake_fd, rotation_timeout(r, DRAIN_SLEEP_MS));
	free(lanes);
	free(fds);
	r->drain.nr_rings = 0;
	return e;
}

static int open_wakeups(struct sonde_recorder *r)
{
	r->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r->give_up_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return r->wake_fd < 0 || r->give_up_fd < 0 ? err_errno(errno, "cannot make an eventfd") : 0;
}

static unsigned open_workload_flags(const struct sonde_recorder *r)
{
	if (!r->is_pipe)
		return 0;
	return r->pipe_fd == STDOUT_FILENO ? WORKLOAD_STDOUT_IS_TAKEN : WORKLOAD_OF_LIBRARY;
}

/* A command that the reader has forked: it waits, too, and it is the reader's child. */
static int open_take_started(struct sonde_recorder *r)
{
	const long pid = open_number(r->opts.started);

	if (pid <= 0)
		return err_set(-EBADR, "started=%s is no process", r->opts.started);
	r->workload.pid = (pid_t)pid;
	return 0;
}

/* Forks the command, which waits, and opens the events with their buffers. */
static int open_events(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	struct capture *c = &r->capture;

	TRY(control_open(&r->control));
	if (o->command)
		TRY(workload_fork(&r->workload, o->command, open_workload_flags(r)));
	else if (r->opts.started)
		TRY(open_take_started(r));
	if (c->target.workload)
		TRY(vec_push(&c->target.tids, (int32_t)r->workload.pid));
	TRY(capture_open(c, r->transfer.level > 0));
	TRY(open_choose_argv(r));
	TRY(transfer_settle(&r->transfer, &r->opts, &c->counters, &c->target, &r->say));
	return drain_find_times(&c->events, &c->counters, &r->untimed, &r->drain.times);
}

/* Begins the first file, with all data known beforehand. */
static int open_file(struct sonde_recorder *r)
{
	TRY(rotation_open(r));
	TRY(rotation_begin(r));
	TRY(realtime_begin(&r->realtime));
	outlet_follow_priority(r->file.outlet);
	return 0;
}

static int open_set_up_drain(struct sonde_recorder *r)
{
	const struct rings *rings = &r->capture.counters.rings;

	r->drain = (struct drain){
		.rings = rings->list.v,
		.nr_rings = rings->list.n,
		.outlet = r->file.outlet,
		.affinity = r->transfer.places.sets ? &r->transfer.places : NULL,
		.times = r->drain.times,
		.has_build_ids = r->opts.capture.buildid_mmap,
		.untimed = &r->untimed,
		.is_live = r->is_pipe,
		/* records of state are written first, and samples with older times much later */
		.has_no_rounds = rings->backward.n != 0,
		.least_bytes = r->transfer.least_bytes,
		.follow = r->rotation.follow.forked ? &r->rotation.follow : NULL,
		.dsos = r->dsos,
		.bpf = r->bpf,
	};
	return r->transfer.has_threads ? open_start_threads(r) : 0;
}

static int open_ftrace(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	if (r->opts.dry_run)
		return 0;
	r->ftrace = calloc(1, sizeof(*r->ftrace));
	if (!r->ftrace)
		return err_nomem();
	r->ftrace->fd = -1;
	return ftrace_recording_open(r, o->command);
}

/* A live session takes what costs the machine less, if it gives the same. */
static bool open_may_stream(const struct sonde_recorder *r)
{
	const struct record_options *o = &r->opts;
	const struct capture_options *c = &o->capture;

	return (o->output_fd || c->reader) && !geteuid() && !c->call_graph && !c->freq &&
	       !c->count && !c->branch_filter && !c->intr_regs && !c->user_regs && !c->group &&
	       !c->overwrite && !c->per_thread && !c->uid && !o->delay && !o->control &&
	       !r->capture.events.cgroups.n;
}

static int open_stream(struct sonde_recorder *r)
{
	const bool is_wish = r->opts.ftrace == RECORD_FTRACE_AUTO;

	if (!r->is_pipe || r->opts.ftrace == RECORD_FTRACE_NO || r->opts.dry_run ||
	    (is_wish && !open_may_stream(r)))
		return 0;
	return ftrace_stream_new(&r->ftrace_stream, &r->capture, is_wish, &r->say);
}

static int open_recorder(struct sonde_recorder *r, const struct sonde_record_options *o)
{
	/* checked first: the next descriptor opened may get the number of a closed stdout */
	const bool has_stdout = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
	struct capture_steering steering;

	r->argv = o->argv;
	TRY(open_wakeups(r));
	TRY(open_understand(r, o));
	subject_say_begin(r, o->command != NULL);
	if (r->is_pipe && r->pipe_fd == STDOUT_FILENO && !has_stdout)
		return err_set(-EBADF,
			       "the standard output, which gets the recording (-o -), is closed: "
			       "name a file with -o FILE, or pipe it to a reader with |");
	if (o->command)
		TRY(open_check_command(r, o));
	if (r->cannot_run)
		return 0;
	if (r->opts.ftrace == RECORD_FTRACE_YES)
		TRY(open_refuse_beside_ftrace(&r->opts, r->is_pipe));
	if (r->opts.ftrace == RECORD_FTRACE_YES && !r->is_pipe)
		return open_ftrace(r, o);
	TRY(open_stream(r));
	steering = (struct capture_steering){
		.is_switched = r->delay.is_given || r->control.is_given,
		.begins_off = r->delay.begins_off,
	};
	TRY(capture_configure(&r->capture, &steering));
	if (r->opts.dry_run)
		return 0;
	if (r->ftrace_stream)
		TRY(ftrace_stream_check(r->ftrace_stream, &r->capture.events));
	TRY(open_events(r, o));
	TRY(open_file(r));
	TRY(open_set_up_drain(r));
	/* All threads of the recorder are running now; the filters may contain their numbers. */
	TRY(capture_filter(&r->capture));
	if (r->ftrace_stream)
		TRY(ftrace_stream_open(r->ftrace_stream, &r->capture, r->workload.pid, &r->drain));
	if (r->own_argv && !self_is_excluded(&r->capture.events))
		r->argv = o->argv;
	return 0;
}

int recorder_open(struct sonde_recorder **ret, const struct sonde_record_options *opts)
{
	struct sonde_recorder *r = calloc(1, sizeof(*r));
	int e;

	if (!r)
		return err_nomem();
	r->say = r->capture.say = (struct say){ opts->say, opts->say_ctx };
	r->capture.opts = &r->opts.capture;
	r->workload.pidfd = r->workload.go_fd = r->workload.error_fd = -1;
	r->wake_fd = r->give_up_fd = r->rotation.asked_fd = -1;
	e = open_recorder(r, opts);
	if (e < 0) {
		output_discard(&r->file.output);
		recorder_close(r);
		return e;
	}
	*ret = r;
	return 0;
}

void recorder_stop(struct sonde_recorder *r)
{
	const uint64_t one = 1;
	const int saved = errno;

	if (atomic_fetch_add(&r->stops, 1) && write(r->give_up_fd, &one, sizeof(one)) < 0)
		errno = saved; /* the eventfd is full, so it is readable already */
	/* the next time-out also notices the flag */
	if (write(r->wake_fd, &one, sizeof(one)) < 0)
		errno = saved;
	errno = saved;
}

void recorder_close(struct sonde_recorder *r)
{
	ftrace_recording_close(r);
	ftrace_stream_free(r->ftrace_stream);
	drain_threads_free(r->threads);
	realtime_end(&r->realtime);
	workload_close(&r->workload);
	rotation_done(r);
	recorder_file_close(&r->file);
	drain_done(&r->drain);
	tally_done(&r->undrained);
	dsos_free(r->dsos);
	bpf_watch_close(&r->bpf_watch);
	bpf_programs_free(r->bpf);
	build_id_cache_done(&r->cache);
	hash64_done(&r->untimed);
	transfer_done(&r->transfer);
	capture_done(&r->capture);
	delay_done(&r->delay);
	control_close(&r->control);
	record_options_done(&r->opts);
	free(r->own_argv);
	free(r->command_name);
	free(r->cannot_run_why);
	if (r->wake_fd >= 0)
		close(r->wake_fd);
	if (r->give_up_fd >= 0)
		close(r->give_up_fd);
	free(r);
}
