/* SPDX-License-Identifier: MIT */
/* The instance: clock, size, tasks and events, as the options say. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "capture/filter.h"
#include "record/ftrace/buffers.h"

/* What the kernel wrote to error_log about a filter or trigger, as "; the kernel says: ...". */
static const char *setup_reason(const struct ftrace_buffers *b, char *buf, size_t size)
{
	char *text = NULL, *last, *at;
	size_t len;

	buf[0] = '\0';
	if (tracefs_read(&b->instance.at, "error_log", &text, &len) == 0) {
		for (last = at = text; (at = strstr(at, "error: ")); at++)
			last = at;
		if (last != text || !strncmp(text, "error: ", strlen("error: ")))
			snprintf(buf, size, "; the kernel says: %.*s",
				 (int)strcspn(last + strlen("error: "), "\n"),
				 last + strlen("error: "));
	}
	free(text);
	return buf;
}

static int setup_clock(struct ftrace_buffers *b, const char *clock)
{
	char *known;
	size_t len;
	int e;

	if (strlen(clock) >= sizeof(b->clock))
		return err_set(-EBADR, "--clock %.40s...: there is no such clock", clock);
	strcpy(b->clock, clock);
	e = trace_instance_write(&b->instance, "trace_clock", clock);
	if (e == 0)
		return 0;
	TRY(tracefs_read(&b->instance.at, "trace_clock", &known, &len));
	known[strcspn(known, "\n")] = '\0';
	e = err_set(-EBADR, "--clock %s: ftrace has no such clock; it has %s", clock, known);
	free(known);
	return e;
}

static int setup_size(struct ftrace_buffers *b, const struct ftrace_wishes *w)
{
	enum { DEFAULT_BYTES = 4 << 20, LEAST_PAGES = 16 };
	uint64_t bytes = w->bytes ? w->bytes : DEFAULT_BYTES;
	char text[24];
	int e;

	if (w->size && (!size_parse(w->size, &bytes) || bytes < 4096))
		return err_set(-EBADR,
			       "--buffer-size needs the size of a cpu's buffer, of at least 4K, as "
			       "8M, not '%s'",
			       w->size);
	if (w->page_kb && bytes / 1024 >= (uint64_t)w->page_kb * LEAST_PAGES) {
		snprintf(text, sizeof(text), "%u", w->page_kb);
		/* the kernel's own size is as good, so a failure is none */
		trace_instance_write(&b->instance, "buffer_subbuf_size_kb", text);
	}
	snprintf(text, sizeof(text), "%" PRIu64, (bytes + 1023) / 1024);
	e = trace_instance_write(&b->instance, "buffer_size_kb", text);
	b->bytes = bytes;
	return e < 0 ? err_errno(-e, "cannot make buffers of %s KiB for each cpu", text) : 0;
}

static int setup_cpus(struct ftrace_buffers *b, const struct target *t)
{
	enum { BITS = 32 };
	int last = 0, e;
	struct outbuf o = { 0 };

	if (!t->chosen_cpus)
		return 0;
	for (size_t i = 0; i < t->cpus.list.n; i++)
		last = t->cpus.list.v[i] > last ? t->cpus.list.v[i] : last;
	for (int word = last / BITS; word >= 0; word--) {
		uint32_t mask = 0;

		for (size_t i = 0; i < t->cpus.list.n; i++)
			if (t->cpus.list.v[i] / BITS == word)
				mask |= 1u << t->cpus.list.v[i] % BITS;
		outbuf_fmt(&o, "%s%08x", o.len ? "," : "", mask);
	}
	outbuf_char(&o, '\0');
	e = o.failed ? -ENOMEM : trace_instance_write(&b->instance, "tracing_cpumask", o.data);
	outbuf_done(&o);
	return e < 0 ? err_errno(-e, "cannot choose the cpus of %s", b->instance.at.root) : 0;
}

/* Events are recorded in these tasks only, and in those that they fork. */
static int setup_tasks(struct ftrace_buffers *b, const struct target *t)
{
	int e = 0;

	if (t->system_wide)
		return 0;
	if (!t->no_inherit)
		e = trace_instance_write(&b->instance, "options/event-fork", "1");
	for (size_t i = 0; i < t->tids.n && e == 0; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%d", t->tids.v[i]);
		e = trace_instance_write(&b->instance, "set_event_pid", text);
		if (e == -ESRCH)
			e = 0; /* it has ended */
	}
	return e < 0 ? err_errno(-e, "cannot choose the tasks of %s", b->instance.at.root) : 0;
}

static int setup_triggers(struct ftrace_buffers *b, const struct capture_event *e)
{
	const char *at = e->triggers;

	while (at && *at) {
		char path[512], reason[256], trigger[512];
		const size_t len = strcspn(at, "\n");
		int r;

		if (len >= sizeof(trigger))
			return err_set(-EBADR, "--trigger '%.40s...' is too long", at);
		memcpy(trigger, at, len);
		trigger[len] = '\0';
		snprintf(path, sizeof(path), "events/%s/%s/trigger", e->system, e->event);
		r = trace_instance_write(&b->instance, path, trigger);
		if (r < 0)
			return err_set(
				-EBADR,
				"--trigger '%s': %s does not take it (%s)%s; there are "
				"traceon, traceoff, stacktrace, enable_event:SYSTEM:EVENT and "
				"disable_event:SYSTEM:EVENT, each [:COUNT] [if FILTER]",
				trigger, e->name, strerror(-r),
				setup_reason(b, reason, sizeof(reason)));
		at += len + (at[len] == '\n');
	}
	return 0;
}

static int setup_event(struct ftrace_buffers *b, const struct capture_events *l,
		       const struct capture_event *e)
{
	char path[512];
	int r;

	if (e->filter) {
		snprintf(path, sizeof(path), "events/%s/%s/filter", e->system, e->event);
		r = trace_instance_write(&b->instance, path, e->filter);
		if (r < 0)
			return filter_explain(&l->tracefs, e->system, e->event, e->filter, -r);
	}
	TRY(setup_triggers(b, e));
	snprintf(path, sizeof(path), "events/%s/%s/enable", e->system, e->event);
	r = trace_instance_write(&b->instance, path, "1");
	if (r == -ENOENT)
		return err_set(-EBADR,
			       "-e %s: --ftrace cannot switch on this event; it has no file "
			       "enable, as events that only ftrace's tracers and markers write",
			       e->name);
	return r < 0 ? err_errno(-r, "cannot switch on %s", e->name) : 0;
}

static int setup_layout(struct ftrace_buffers *b)
{
	char *page;
	size_t len;
	int r;

	TRY(tracefs_read(&b->instance.at, "events/header_page", &page, &len));
	r = ring_layout_read(bytes_init(page, len, 0, "events/header_page", false), &b->layout);
	free(page);
	return r;
}

int ftrace_buffers_cpus(const struct target *t, struct capture_cpus *ret)
{
	if (!t->chosen_cpus) /* a task may run on any cpu */
		return capture_cpus_read("/sys/devices/system/cpu/possible", ret);
	for (size_t i = 0; i < t->cpus.list.n; i++)
		TRY(vec_push(&ret->list, t->cpus.list.v[i]));
	return 0;
}

int ftrace_buffers_open_cpu(const struct ftrace_buffers *b, int cpu, int *ret_fd)
{
	char raw[PATH_MAX];

	snprintf(raw, sizeof(raw), "%s/per_cpu/cpu%d/trace_pipe_raw", b->instance.at.root, cpu);
	*ret_fd = open(raw, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	return *ret_fd < 0 ? err_errno(errno, "cannot open %s", raw) : 0;
}

int ftrace_buffers_make(struct ftrace_buffers *b, const struct tracefs *top,
			const struct say *say_to)
{
	trace_instance_remove_stale(top, say_to);
	return trace_instance_make(&b->instance, top);
}

int ftrace_buffers_set_up(struct ftrace_buffers *b, const struct capture *c,
			  const struct ftrace_wishes *w)
{
	/* the clock first: another one empties the buffers */
	TRY(setup_clock(b, w->clock ? w->clock : "perf"));
	TRY(setup_size(b, w));
	TRY(setup_layout(b));
	TRY(setup_cpus(b, &c->target));
	TRY(setup_tasks(b, &c->target));
	for (size_t i = 0; i < c->events.list.n; i++)
		if (w->takes_all ? c->events.list.v[i].system != NULL
				 : c->events.list.v[i].in_ftrace)
			TRY(setup_event(b, &c->events, &c->events.list.v[i]));
	return 0;
}

uint64_t ftrace_buffers_stat(const char *stats, const char *name)
{
	const char *at = strstr(stats, name);

	return at ? strtoull(at + strlen(name), NULL, 10) : 0;
}

uint64_t ftrace_buffers_lost(const char *stats)
{
	return ftrace_buffers_stat(stats, "\noverrun: ") +
	       ftrace_buffers_stat(stats, "commit overrun: ") +
	       ftrace_buffers_stat(stats, "dropped events: ");
}
