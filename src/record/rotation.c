/* SPDX-License-Identifier: MIT */
#include "record/rotation.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/err.h"
#include "base/now.h"
#include "capture/limits.h"
#include "record/drain/backward.h"
#include "capture/setup/buffers.h"
#include "record/preparer.h"
#include "record/recorder.h"

/* SIZE_LOOK_MS: interval between checks of the size of a file that has a limit. */
enum { SIZE_LOOK_MS = 20, EVENT_PAGES = 1 };
/* Assumed duration of the first preparation. */
static const uint64_t first_guess_ns = 30000000;

/* ---- setting up ------------------------------------------------------------------------------ */

int rotation_parse(struct sonde_recorder *r)
{
	struct rotation *p = &r->rotation;

	p->prepare_ns = first_guess_ns;
	TRY(switching_parse(&p->when, &r->opts, r->is_pipe, &r->say));
	return r->opts.switch_output_event
		       ? capture_events_add(&p->events, r->opts.switch_output_event)
		       : 0;
}

/*
 * True if the event fires as long as anything runs. Without a period it would fire as often as the
 * cpu can, and leave no time for anything else.
 */
static bool rotation_never_stops(const struct perf_event_attr *a)
{
	switch (a->type) {
	case PERF_TYPE_SOFTWARE:
		return a->config == PERF_COUNT_SW_CPU_CLOCK ||
		       a->config == PERF_COUNT_SW_TASK_CLOCK;
	case PERF_TYPE_HARDWARE:
	case PERF_TYPE_HW_CACHE:
	case PERF_TYPE_RAW:
		return true;
	}
	return false;
}

/*
 * One empty sample for each event, once a second for an event that never stops. Only its arrival
 * matters.
 */
static void rotation_configure(struct capture_event *e, bool inherit)
{
	struct perf_event_attr *a = &e->attr;

	a->sample_type = PERF_SAMPLE_IDENTIFIER;
	a->read_format = PERF_FORMAT_ID;
	a->disabled = 1;
	a->inherit = inherit;
	a->wakeup_events = 1;
	if (!a->sample_period) {
		a->sample_period = 1; /* or sample_freq, which is in the same union */
		a->freq = rotation_never_stops(a);
	}
}

/* Opens the events on all tasks of the cpus, like perf, unless given processes are recorded. */
static int rotation_open_events(struct sonde_recorder *r)
{
	static const int32_t everybody = -1;
	struct rotation *p = &r->rotation;
	const struct counters_target target = {
		.cpus = r->capture.target.cpus.list.v,
		.nr_cpus = r->capture.target.cpus.list.n,
		.tids = r->capture.target.by_pid ? r->capture.target.tids.v : &everybody,
		.nr_tids = r->capture.target.by_pid ? r->capture.target.tids.n : 1,
		.tids_may_vanish = r->capture.target.by_pid,
	};

	if (!p->events.list.n)
		return 0;
	vec_foreach(e, &p->events.list)
		rotation_configure(e, r->capture.target.by_pid);
	p->counters.say = r->say;
	TRY(counters_open(&p->counters, &p->events, &target));
	return counters_map(&p->counters, EVENT_PAGES, false);
}

/*
 * Warns that the size is coarse: it is checked only between two passes over the buffers, and each
 * pass may write all the data whose arrival woke us.
 */
static void rotation_say_coarse(const struct sonde_recorder *r, const char *option,
				const char *given, uint64_t bytes)
{
	const struct counters *c = &r->capture.counters;
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const uint64_t wakeup = c->rings.list.n
					? buffers_wakeup_bytes(c->rings.mapped_bytes / page - 1,
							       r->transfer.level > 0)
					: 0;

	if (bytes && bytes < wakeup * c->rings.list.n)
		say(&r->say, SAY_WARNING,
		    "%s %s is less than the recorder reads at once (%zu buffers, %llu KiB of "
		    "each): files will be larger; smaller buffers (-m) keep them closer to it",
		    option, given, c->rings.list.n, (unsigned long long)wakeup / 1024);
}

int rotation_open(struct sonde_recorder *r)
{
	struct rotation *p = &r->rotation;

	rotation_say_coarse(r, "--switch-output", r->opts.switch_output, p->when.file_bytes);
	rotation_say_coarse(r, "--max-size", r->opts.max_size, p->when.max_bytes);
	if (p->when.is_on || r->describing.at_end)
		TRY(follow_init(&p->follow));
	if (!p->when.is_on)
		return 0;
	p->asked_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->asked_fd < 0)
		return err_errno(errno, "cannot make an eventfd");
	TRY(preparer_new(&p->preparer, r));
	return rotation_open_events(r);
}

/*
 * Warns that kernel addresses are hidden. With kptr_restrict 0 the kernel shows them to those who
 * may profile it.
 */
static void rotation_say_hidden(const struct say *to)
{
	const long restricted = kernel_setting("kptr_restrict", 0);

	if (restricted > 0)
		say(to, SAY_WARNING,
		    "the kernel hides its addresses (kernel.kptr_restrict is %ld): kernel "
		    "addresses will have no names",
		    restricted);
	else
		say(to, SAY_WARNING,
		    "the kernel shows its addresses only with CAP_SYSLOG or with "
		    "kernel.perf_event_paranoid below 2 (it is %ld): kernel addresses will have no "
		    "names",
		    kernel_setting("perf_event_paranoid", 2));
}

static void rotation_note_beginning(struct sonde_recorder *r)
{
	r->rotation.began_ns = now_ns(CLOCK_MONOTONIC);
	r->rotation.bytes_then = recorder_file_written(&r->file);
}

int rotation_begin(struct sonde_recorder *r)
{
	struct file_beginning b;
	int e;

	TRY(recorder_file_wants(r));
	TRY(recorder_file_prepare(r, NULL, 0, &b));
	if (b.symbols_hidden)
		rotation_say_hidden(&r->say);
	e = recorder_file_open(r, &b, &r->file);
	r->kernel = b.kernel; /* owns nothing: the symbols belong to the file */
	file_beginning_done(&b);
	TRY(e);
	if (r->rotation.when.has_time_names && !r->file.output.is_regular)
		return err_set(
			-EINVAL,
			"%s is not a regular file, so it cannot be renamed to a name with a time",
			r->file.output.path);
	rotation_note_beginning(r);
	return 0;
}

int rotation_enable(struct sonde_recorder *r)
{
	rotation_note_beginning(r);
	return counters_enable(&r->rotation.counters);
}

/* ---- waiting --------------------------------------------------------------------------------- */

size_t rotation_nr_fds(const struct sonde_recorder *r)
{
	return r->rotation.asked_fd < 0 ? 0 : 2 + r->rotation.counters.list.n;
}

void rotation_fds(const struct sonde_recorder *r, int *ret_fds)
{
	const struct rotation *p = &r->rotation;
	size_t n = 0;

	if (p->asked_fd < 0)
		return;
	ret_fds[n++] = p->asked_fd;
	ret_fds[n++] = preparer_fd(p->preparer);
	/*
	 * The descriptor of a ring hangs up with its task; after that, the descriptors of other
	 * tasks wake us.
	 */
	for (size_t i = 0; i < p->counters.list.n; i++)
		ret_fds[n++] = p->counters.list.v[i].event == 0 ? p->counters.list.v[i].fd : -1;
}

int rotation_timeout(const struct sonde_recorder *r, int ms)
{
	const struct rotation *p = &r->rotation;

	if ((p->when.file_bytes || p->when.max_bytes) && ms > SIZE_LOOK_MS)
		ms = SIZE_LOOK_MS;
	if (p->when.interval_ns && p->stage != ROTATION_PREPARING) {
		const uint64_t early_ns = p->stage == ROTATION_RUNS ? p->prepare_ns : 0;
		const uint64_t then = p->began_ns + p->when.interval_ns,
			       now = now_ns(CLOCK_MONOTONIC) + early_ns;
		const uint64_t left_ms = now < then ? (then - now) / 1000000 + 1 : 0;

		if (left_ms < (uint64_t)ms)
			ms = (int)left_ms;
	}
	return ms;
}

void rotation_ask(struct sonde_recorder *r)
{
	const uint64_t one = 1;
	const int saved = errno;

	if (r->rotation.asked_fd < 0)
		return;
	atomic_fetch_add(&r->rotation.asked, 1);
	if (write(r->rotation.asked_fd, &one, sizeof(one)) < 0)
		errno = saved; /* the next time-out also notices the count */
	errno = saved;
}

/* ---- from one file to the next --------------------------------------------------------------- */

/* Empties the descriptors that woke us. */
static void rotation_hear(struct sonde_recorder *r)
{
	struct rotation *p = &r->rotation;
	uint64_t count;

	if (read(p->asked_fd, &count, sizeof(count)) < 0)
		count = 0;
	vec_foreach(ring, &p->counters.rings.list) {
		const uint64_t head = ring_head(ring);

		if (head == ring->tail)
			continue;
		ring_release(ring, head);
		atomic_fetch_add(&p->asked, 1);
	}
}

/* True if the file ends now or, at its average rate of growth, within ahead_ns. */
static bool rotation_is_due(struct rotation *p, uint64_t bytes, uint64_t ahead_ns)
{
	const uint64_t age_ns = now_ns(CLOCK_MONOTONIC) - p->began_ns + 1;
	const uint64_t grown = bytes - p->bytes_then;

	if (atomic_load(&p->asked) != p->served)
		return true;
	if (p->when.file_bytes &&
	    (double)grown * (1 + (double)ahead_ns / (double)age_ns) >= (double)p->when.file_bytes)
		return true;
	return p->when.interval_ns && age_ns + ahead_ns >= p->when.interval_ns;
}

static void rotation_say_going_on(struct sonde_recorder *r)
{
	say(&r->say, SAY_WARNING, "no new file was begun: %s; the recording continues in %s",
	    err_text(), r->file.output.path);
	err_clear();
	rotation_note_beginning(r);
}

/*
 * Called directly after a pass: records of state that arrive from now on are kept for the next
 * file.
 */
static int rotation_start_preparing(struct sonde_recorder *r)
{
	struct rotation *p = &r->rotation;
	struct follow_pids pids = { 0 };
	int e = 0;

	p->prepare_began_ns = now_ns(CLOCK_MONOTONIC);
	if (r->capture.target.workload)
		e = vec_push(&pids.list, (int32_t)r->workload.pid);
	if (e == 0)
		e = follow_list(&p->follow, &pids);
	if (e == 0)
		e = preparer_ask(p->preparer, pids.list.v, pids.list.n);
	vec_done(&pids.list);
	if (e < 0) {
		rotation_say_going_on(r);
		return 0;
	}
	p->stage = ROTATION_PREPARING;
	p->follow.keeps = true;
	return 0;
}

/* Removes the oldest files until at most max_files are left. */
static void rotation_prune(struct sonde_recorder *r)
{
	struct rotation *p = &r->rotation;

	while (p->when.max_files && p->names.n > p->when.max_files) {
		if (unlink(p->names.v[0]) < 0 && errno != ENOENT)
			say(&r->say, SAY_WARNING, "%s: cannot remove it: %s", p->names.v[0],
			    strerror(errno));
		free(p->names.v[0]);
		memmove(p->names.v, p->names.v + 1, (p->names.n - 1) * sizeof(*p->names.v));
		p->names.n--;
	}
}

/* Takes ownership of the name. */
static int rotation_note_ended(struct sonde_recorder *r, char *take_name)
{
	struct rotation *p = &r->rotation;

	say(&r->say, SAY_NORMAL, "[ sonde record: Dump %s ]", take_name);
	p->nr_ended++;
	if (vec_push(&p->names, take_name) < 0) {
		free(take_name);
		return err_nomem();
	}
	rotation_prune(r);
	return 0;
}

static void rotation_add_up(struct sonde_recorder *r, uint64_t lost)
{
	struct rotation *p = &r->rotation;
	const uint64_t given_up = outlet_samples_given_up(r->file.outlet);

	p->samples += r->drain.totals.samples - given_up;
	p->given_up += given_up;
	p->lost += lost;
	p->bytes += perfdata_writer_data_size(r->file.writer);
	r->drain.totals = (struct drain_totals){ 0 };
}

static void rotation_take_up(struct sonde_recorder *r, struct recorder_file *next)
{
	recorder_file_close(&r->file);
	r->file = *next;
	r->drain.outlet = r->file.outlet;
	rotation_note_beginning(r);
}

/*
 * The old file is completed before the new one takes any room on the disk. No data leaves the
 * buffers in between, so if the new file cannot be begun, the old one is opened again. Fails if the
 * old file could not be written.
 */
static int rotation_turn(struct sonde_recorder *r, struct file_beginning *b)
{
	struct recorder_file next;
	uint64_t lost = 0;
	char *name;
	int e;

	if (r->describing.at_end)
		TRY(recorder_file_put(&r->file, &b->end_before));
	TRY(recorder_file_losses(r, &r->file, &r->drain.totals, &lost));
	target_look_back(&r->capture.target);
	e = recorder_file_end(r, &r->file, &r->drain.totals);
	if (e)
		return e < 0 ? e : -ENOSPC;
	e = output_set_aside(&r->file.output, &name);
	if (e == 0) {
		e = recorder_file_open(r, b, &next);
		if (e < 0) {
			output_take_back(&r->file.output, name);
			free(name);
		}
	}
	if (e < 0) {
		r->rotation.lost += lost;
		r->drain.totals.lost = 0; /* the file reports them */
		rotation_say_going_on(r);
		TRY(perfdata_writer_resume(r->file.writer));
		return outlet_resume(r->file.outlet);
	}
	rotation_add_up(r, lost);
	rotation_take_up(r, &next);
	return rotation_note_ended(r, name);
}

/* Appends the changes of processes during the preparation to the beginning. */
static int rotation_add_kept(struct follow *f, struct file_beginning *b)
{
	f->keeps = false;
	outbuf_put(&b->state, f->kept.data, f->kept.len);
	b->state.failed |= f->kept.failed;
	outbuf_done(&f->kept);
	return b->state.failed ? err_nomem() : 0;
}

static int rotation_take_prepared(struct sonde_recorder *r)
{
	struct rotation *p = &r->rotation;
	int e = preparer_take(p->preparer, &p->next);

	if (e == 0)
		return 0;
	if (e > 0) {
		p->stage = ROTATION_READY;
		p->prepare_ns = now_ns(CLOCK_MONOTONIC) - p->prepare_began_ns;
		return 1;
	}
	p->stage = ROTATION_RUNS;
	p->served = atomic_load(&p->asked);
	p->follow.keeps = false;
	outbuf_done(&p->follow.kept);
	rotation_say_going_on(r);
	return 0;
}

int rotation_pass(struct sonde_recorder *r)
{
	struct rotation *p = &r->rotation;
	/* bytes of events; a thread may be writing them */
	const uint64_t bytes = recorder_file_written(&r->file);
	int e;

	if (p->when.max_bytes && bytes >= p->when.max_bytes) {
		say(&r->say, SAY_NORMAL,
		    "[ sonde record: %s is as large as it may get (%llu KB): the recording ends ]",
		    r->file.output.path, (unsigned long long)bytes >> 10);
		return 1;
	}
	if (p->asked_fd < 0)
		return 0;
	rotation_hear(r);
	if (p->stage == ROTATION_RUNS && r->capture.counters.rings.backward.n) {
		/* the contents of the buffers at this moment are wanted */
		if (!rotation_is_due(p, bytes, 0))
			return 0;
		TRY(backward_dump(&r->capture.counters, &r->drain, false, &r->undrained));
		return rotation_start_preparing(r);
	}
	if (p->stage == ROTATION_RUNS && rotation_is_due(p, bytes, p->prepare_ns))
		return rotation_start_preparing(r);
	if (p->stage == ROTATION_PREPARING && !rotation_take_prepared(r))
		return 0;
	if (p->stage != ROTATION_READY || !rotation_is_due(p, bytes, 0))
		return 0;
	p->stage = ROTATION_RUNS;
	p->served = atomic_load(&p->asked);
	r->drain.takes_all = true;
	e = drain_pass(&r->drain);
	r->drain.takes_all = false;
	if (e >= 0)
		e = rotation_add_kept(&p->follow, &p->next);
	if (e >= 0)
		e = rotation_turn(r, &p->next);
	file_beginning_done(&p->next);
	return e;
}

/* ---- the end --------------------------------------------------------------------------------- */

int rotation_describe_end(struct sonde_recorder *r)
{
	struct follow_pids pids = { 0 };
	int e = 0;

	if (!r->describing.at_end)
		return 0;
	if (r->capture.target.workload)
		e = vec_push(&pids.list, (int32_t)r->workload.pid);
	if (e == 0 && r->drain.follow)
		e = follow_list(&r->rotation.follow, &pids);
	if (e == 0)
		e = recorder_file_describe_end(r, pids.list.v, pids.list.n);
	vec_done(&pids.list);
	return e;
}

int rotation_end(struct sonde_recorder *r)
{
	char *name;

	if (!r->rotation.when.has_time_names)
		return 0;
	TRY(output_set_aside(&r->file.output, &name));
	return rotation_note_ended(r, name);
}

void rotation_done(struct sonde_recorder *r)
{
	struct rotation *p = &r->rotation;

	preparer_free(p->preparer);
	file_beginning_done(&p->next);
	counters_close(&p->counters);
	capture_events_done(&p->events);
	follow_done(&p->follow);
	vec_foreach(name, &p->names)
		free(*name);
	vec_done(&p->names);
	if (p->asked_fd >= 0)
		close(p->asked_fd);
}
