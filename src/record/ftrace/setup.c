/* SPDX-License-Identifier: MIT */
/* The instance: clock, size, tasks and events, as the options say. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/size.h"
#include "record/ftrace/ftrace.h"

/* What the kernel wrote to error_log about a filter or trigger, as "; the kernel says: ...". */
static const char *setup_reason(const struct ftrace *f, char *buf, size_t size)
{
	char *text = NULL, *last, *at;
	size_t len;

	buf[0] = '\0';
	if (tracefs_read(&f->instance.at, "error_log", &text, &len) == 0) {
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

static int setup_clock(struct ftrace *f, const char *clock)
{
	char *known;
	size_t len;
	int e;

	if (strlen(clock) >= sizeof(f->clock))
		return err_set(-EBADR, "--clock %.40s...: there is no such clock", clock);
	strcpy(f->clock, clock);
	e = trace_instance_write(&f->instance, "trace_clock", clock);
	if (e == 0)
		return 0;
	TRY(tracefs_read(&f->instance.at, "trace_clock", &known, &len));
	known[strcspn(known, "\n")] = '\0';
	e = err_set(-EBADR, "--clock %s: ftrace has no such clock; it has %s", clock, known);
	free(known);
	return e;
}

static int setup_size(struct ftrace *f, const char *size)
{
	uint64_t bytes;
	char text[24];
	int e;

	if (!size_parse(size, &bytes) || bytes < 4096)
		return err_set(-EBADR,
			       "--buffer-size needs the size of a cpu's buffer, of at least 4K, as "
			       "8M, not '%s'",
			       size);
	snprintf(text, sizeof(text), "%" PRIu64, (bytes + 1023) / 1024);
	e = trace_instance_write(&f->instance, "buffer_size_kb", text);
	return e < 0 ? err_errno(-e, "cannot make buffers of %s for each cpu", size) : 0;
}

static int setup_cpus(struct ftrace *f, const struct target *t)
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
	e = o.failed ? -ENOMEM : trace_instance_write(&f->instance, "tracing_cpumask", o.data);
	outbuf_done(&o);
	return e < 0 ? err_errno(-e, "cannot choose the cpus of %s", f->instance.at.root) : 0;
}

/* Events are recorded in these tasks only, and in those that they fork. */
static int setup_tasks(struct ftrace *f, const struct target *t)
{
	int e = 0;

	if (t->system_wide)
		return 0;
	if (!t->no_inherit)
		e = trace_instance_write(&f->instance, "options/event-fork", "1");
	for (size_t i = 0; i < t->tids.n && e == 0; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%d", t->tids.v[i]);
		e = trace_instance_write(&f->instance, "set_event_pid", text);
		if (e == -ESRCH)
			e = 0; /* it has ended */
	}
	return e < 0 ? err_errno(-e, "cannot choose the tasks of %s", f->instance.at.root) : 0;
}

static int setup_triggers(struct ftrace *f, const struct capture_event *e)
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
		r = trace_instance_write(&f->instance, path, trigger);
		if (r < 0)
			return err_set(
				-EBADR,
				"--trigger '%s': %s does not take it (%s)%s; there are "
				"traceon, traceoff, stacktrace, enable_event:SYSTEM:EVENT and "
				"disable_event:SYSTEM:EVENT, each [:COUNT] [if FILTER]",
				trigger, e->name, strerror(-r),
				setup_reason(f, reason, sizeof(reason)));
		at += len + (at[len] == '\n');
	}
	return 0;
}

static int setup_event(struct ftrace *f, const struct capture_event *e)
{
	char path[512], reason[256];
	int r;

	if (!e->system)
		return err_set(-EBADR,
			       "event '%s': ftrace records tracepoints (SYSTEM:NAME) only; without "
			       "--ftrace it can be recorded",
			       e->name);
	if (e->filter) {
		snprintf(path, sizeof(path), "events/%s/%s/filter", e->system, e->event);
		r = trace_instance_write(&f->instance, path, e->filter);
		if (r < 0)
			return err_set(-EBADR, "--filter '%s': %s does not take it (%s)%s",
				       e->filter, e->name, strerror(-r),
				       setup_reason(f, reason, sizeof(reason)));
	}
	TRY(setup_triggers(f, e));
	snprintf(path, sizeof(path), "events/%s/%s/enable", e->system, e->event);
	r = trace_instance_write(&f->instance, path, "1");
	return r < 0 ? err_errno(-r, "cannot switch on %s", e->name) : 0;
}

static int setup_layout(struct ftrace *f, const struct tracefs *top)
{
	char *page;
	size_t len;
	int r;

	TRY(tracefs_read(top, "events/header_page", &page, &len));
	r = ring_layout_read(bytes_init(page, len, 0, "events/header_page", false), &f->layout);
	free(page);
	return r;
}

int ftrace_set_up(struct ftrace *f, const struct capture *c, const struct say *say_to)
{
	const struct tracefs *top = &c->events.tracefs;

	trace_instance_remove_stale(top, say_to);
	TRY(trace_instance_make(&f->instance, top));
	/* the clock first: another one empties the buffers */
	TRY(setup_clock(f, c->opts->ftrace_clock ? c->opts->ftrace_clock : "perf"));
	TRY(setup_size(f, c->opts->buffer_size ? c->opts->buffer_size : "4M"));
	TRY(setup_layout(f, top));
	TRY(setup_cpus(f, &c->target));
	TRY(setup_tasks(f, &c->target));
	for (size_t i = 0; i < c->events.list.n; i++)
		TRY(setup_event(f, &c->events.list.v[i]));
	return 0;
}
