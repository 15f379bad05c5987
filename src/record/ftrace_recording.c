/* SPDX-License-Identifier: MIT */
#include "record/ftrace_recording.h"

#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/now.h"
#include "record/ftrace/ftrace.h"
#include "record/recorder.h"

/* The longest time between two looks at the buffers, and at the names of tasks. */
enum { FTRACE_SLEEP_MS = 100, FTRACE_NAMES_MS = 1000 };

static int ftrace_choose_cpus(struct ftrace *f, const struct target *t)
{
	struct capture_cpus cpus = { 0 };
	int r = ftrace_buffers_cpus(t, &cpus);

	for (size_t i = 0; i < cpus.list.n && r == 0; i++) {
		const struct ftrace_cpu c = {
			.cpu = cpus.list.v[i],
			.raw_fd = -1,
			.file_fd = -1,
			.pipe = { -1, -1 },
		};

		r = vec_push(&f->cpus, c);
	}
	vec_done(&cpus.list);
	return r;
}

int ftrace_recording_open(struct sonde_recorder *r, const char *const *command)
{
	struct ftrace *f = r->ftrace;
	struct capture *c = &r->capture;
	const struct ftrace_wishes wishes = {
		.clock = c->opts->ftrace_clock,
		.size = c->opts->buffer_size,
		.bytes = c->mmap_pages * (uint64_t)sysconf(_SC_PAGESIZE),
		.takes_all = true,
	};

	if (!c->events.has_tracefs)
		return err_set(-EBADR, "--ftrace needs tracepoints: -e SYSTEM:NAME");
	if (c->events.cgroups.n)
		return err_set(-EBADR, "--ftrace cannot choose control groups (-G)");
	TRY(ftrace_choose_cpus(f, &c->target));
	if (command)
		TRY(workload_fork(&r->workload, command, 0));
	if (c->target.workload)
		TRY(vec_push(&c->target.tids, (int32_t)r->workload.pid));
	vec_foreach(e, &c->events.list)
		if (!e->system)
			return err_set(-EBADR,
				       "event '%s': ftrace records tracepoints (SYSTEM:NAME) only; "
				       "without --ftrace it can be recorded",
				       e->name);
	TRY(ftrace_buffers_make(&f->buffers, &c->events.tracefs, &r->say));
	TRY(ftrace_buffers_set_up(&f->buffers, c, &wishes));
	TRY(output_open(&f->output, r->opts.output ? r->opts.output : "trace.dat", &f->fd));
	ftrace_names_note_running(f);
	return ftrace_pages_open(f);
}

/* ---- recording ------------------------------------------------------------------------------- */

static bool ftrace_is_over(struct sonde_recorder *r, int *ret_status)
{
	if (atomic_load(&r->stops))
		return true;
	if (r->command_name)
		return workload_ended(&r->workload, ret_status);
	if (!r->capture.target.by_pid)
		return false;
	vec_foreach(tid, &r->capture.target.tids)
		if (kill(*tid, 0) == 0 || errno == EPERM)
			return false;
	return true;
}

static void ftrace_sleep(struct sonde_recorder *r)
{
	struct ftrace *f = r->ftrace;
	struct pollfd *fds = calloc(f->cpus.n + 2, sizeof(*fds));
	size_t n = 0;

	if (!fds) {
		usleep(FTRACE_SLEEP_MS * 1000);
		return;
	}
	fds[n++] = (struct pollfd){ .fd = r->wake_fd, .events = POLLIN };
	fds[n++] = (struct pollfd){ .fd = r->workload.pidfd, .events = POLLIN };
	vec_foreach(c, &f->cpus)
		fds[n++] = (struct pollfd){ .fd = c->raw_fd, .events = POLLIN };
	poll(fds, n, FTRACE_SLEEP_MS);
	free(fds);
	f->wakeups++;
}

static int ftrace_record(struct sonde_recorder *r, int *ret_status)
{
	struct ftrace *f = r->ftrace;

	for (;;) {
		const bool over = ftrace_is_over(r, ret_status);

		if (over)
			trace_instance_write(&f->buffers.instance, "tracing_on", "0");
		TRY(ftrace_pages_move(f, over));
		if (over || now_ms() - f->looked_ms >= FTRACE_NAMES_MS) {
			ftrace_names_note_saved(f, &r->capture.events.tracefs);
			f->looked_ms = now_ms();
		}
		if (over)
			return 0;
		ftrace_sleep(r);
	}
}

/* ---- the end --------------------------------------------------------------------------------- */

static void ftrace_say_end(const struct sonde_recorder *r, const struct sonde_record_result *result)
{
	struct ftrace *f = r->ftrace;
	char by_cpu[512] = "";
	size_t len = 0;

	say(&r->say, SAY_NORMAL, "[ sonde record: Woken up %" PRIu64 " times to write data ]",
	    f->wakeups);
	say(&r->say, SAY_NORMAL,
	    "[ sonde record: Captured and wrote %.3f MB %s (%" PRIu64 " events) ]",
	    (double)f->bytes / (1 << 20), f->output.path, result->samples);
	if (!result->lost)
		return;
	vec_foreach(c, &f->cpus) {
		int n = 0;

		if (c->lost)
			n = snprintf(by_cpu + len, sizeof(by_cpu) - len, "%scpu %d: %" PRIu64,
				     len ? ", " : "", c->cpu, c->lost);
		len += n > 0 && (size_t)n < sizeof(by_cpu) - len ? (size_t)n : 0;
		by_cpu[len] = '\0';
	}
	say(&r->say, SAY_WARNING,
	    "%" PRIu64 " events were lost (%s), because a buffer was full: take larger buffers "
	    "(--buffer-size), fewer events, or a --filter",
	    result->lost, by_cpu);
}

static int ftrace_finish(struct sonde_recorder *r, struct sonde_record_result *ret)
{
	struct ftrace *f = r->ftrace;

	TRY(ftrace_pages_end(f));
	TRY(ftrace_file_write(f, &r->capture));
	f->is_complete = true;
	vec_foreach(c, &f->cpus) {
		ret->samples += c->events;
		ret->lost += c->lost;
	}
	ret->bytes_written = f->bytes;
	ftrace_say_end(r, ret);
	return 0;
}

/* Pages that were read are kept if no trace.dat has them. */
static int ftrace_say_kept(struct ftrace *f, int e)
{
	if (!ftrace_pages_bytes(f))
		return e;
	return err_add(e,
		       "the events are kept in %s.cpu*; trace-cmd restore -o FILE %s.cpu* makes "
		       "a trace.dat of them",
		       f->output.path, f->output.path);
}

int ftrace_recording_run(struct sonde_recorder *r, struct sonde_record_result *ret)
{
	struct ftrace *f = r->ftrace;
	int status = 0, e;

	e = trace_instance_write(&f->buffers.instance, "tracing_on", "1");
	if (e < 0)
		return err_errno(-e, "cannot switch on %s", f->buffers.instance.at.root);
	f->looked_ms = now_ms();
	if (r->begun)
		r->begun(r->begun_ctx);
	e = r->command_name ? workload_start(&r->workload, r->command_name, &status) : 0;
	ret->exit_status = status;
	if (e < 0)
		return e;
	e = ftrace_record(r, &status);
	if (e == 0)
		e = ftrace_finish(r, ret);
	if (e < 0)
		e = ftrace_say_kept(f, e);
	ret->exit_status = status;
	return e;
}

void ftrace_recording_close(struct sonde_recorder *r)
{
	struct ftrace *f = r->ftrace;

	if (!f)
		return;
	ftrace_pages_done(f, ftrace_pages_bytes(f) && !f->is_complete);
	trace_instance_remove(&f->buffers.instance);
	if (f->fd >= 0)
		close(f->fd);
	if (!f->is_complete && f->fd >= 0)
		output_discard(&f->output);
	output_done(&f->output);
	hash64_done(&f->tasks);
	outbuf_done(&f->names);
	free(f);
	r->ftrace = NULL;
}
