/* SPDX-License-Identifier: MIT */
/* The trace.dat of a recording: what its pages mean, and the pages. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/arena.h"
#include "base/err.h"
#include "formats/tracedat/writer.h"
#include "record/ftrace/ftrace.h"
#include "sonde/sonde.h"

/* Formats of one system. */
struct file_system {
	const char *name; /* borrowed */
	uint32_t nr;
	struct outbuf formats; /* of each event: its length, its text */
};

struct file_formats {
	const struct tracefs *top;
	struct arena *texts;
	VEC(struct file_system) list;
};

static int file_add_format(const struct tracefs *top, const char *system, const char *event,
			   struct outbuf *ret)
{
	char path[512], *text;
	size_t len;

	snprintf(path, sizeof(path), "events/%s/%s/format", system, event);
	TRY(tracefs_read(top, path, &text, &len));
	tracedat_put_text_u64(ret, text, len);
	free(text);
	return 0;
}

/* Records of the buffer itself: prints, stacks, functions. */
static int file_write_ftrace_events(struct tracedat_writer *w, const struct tracefs *top)
{
	struct outbuf formats = { 0 }, all = { 0 };
	char path[300];
	struct dirent *d;
	uint32_t nr = 0;
	int r = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "%s/events/ftrace", top->root);
	dir = opendir(path);
	if (!dir)
		return err_errno(errno, "cannot list %s", path);
	while (r == 0 && (d = readdir(dir))) {
		if (d->d_name[0] == '.' || d->d_type != DT_DIR)
			continue;
		r = file_add_format(top, "ftrace", d->d_name, &formats);
		nr++;
	}
	closedir(dir);
	tracedat_put_u32(&all, nr);
	outbuf_put(&all, formats.data, formats.len);
	if (r == 0)
		r = formats.failed || all.failed
			    ? err_nomem()
			    : tracedat_writer_section(w, TRACEDAT_FTRACE_EVENTS, all.data, all.len);
	outbuf_done(&formats);
	outbuf_done(&all);
	return r;
}

static int file_note_format(struct file_formats *f, const char *system, const char *event)
{
	vec_foreach(s, &f->list)
		if (!strcmp(s->name, system)) {
			s->nr++;
			return file_add_format(f->top, system, event, &s->formats);
		}
	TRY(vec_push(&f->list, (struct file_system){ .name = system, .nr = 1 }));
	return file_add_format(f->top, system, event, &f->list.v[f->list.n - 1].formats);
}

/* True if an event of the list is that one, or if a trigger of an earlier one enables it. */
static bool file_is_noted(const struct capture_events *events, size_t before, const char *system,
			  const char *event)
{
	char trigger[300];

	snprintf(trigger, sizeof(trigger), "enable_event:%s:%s", system, event);
	for (size_t i = 0; i < events->list.n; i++) {
		const struct capture_event *e = &events->list.v[i];

		if (!strcmp(e->system, system) && !strcmp(e->event, event))
			return true;
		if (i < before && e->triggers && strstr(e->triggers, trigger))
			return true;
	}
	return false;
}

/* Events that a trigger enables are recorded, too: enable_event:SYSTEM:EVENT[:COUNT] [if FILTER] */
static int file_note_triggers(struct file_formats *f, const struct capture_events *events,
			      size_t index)
{
	static const char word[] = "enable_event:";
	const char *at = events->list.v[index].triggers;

	while (at && (at = strstr(at, word))) {
		const char *system, *event;
		size_t len;

		at += strlen(word);
		len = strcspn(at, ":\n ");
		if (at[len] != ':')
			continue;
		system = arena_strndup(f->texts, at, len);
		at += len + 1;
		event = arena_strndup(f->texts, at, strcspn(at, ":\n "));
		if (!system || !event)
			return err_nomem();
		if (!file_is_noted(events, index, system, event))
			TRY(file_note_format(f, system, event));
	}
	return 0;
}

static int file_write_formats(struct tracedat_writer *w, const struct capture_events *events)
{
	struct arena texts = { 0 };
	struct file_formats f = { .top = &events->tracefs, .texts = &texts };
	struct outbuf all = { 0 };
	int r = 0;

	for (size_t i = 0; i < events->list.n && r == 0; i++)
		r = file_note_format(&f, events->list.v[i].system, events->list.v[i].event);
	for (size_t i = 0; i < events->list.n && r == 0; i++)
		r = file_note_triggers(&f, events, i);
	tracedat_put_u32(&all, (uint32_t)f.list.n);
	vec_foreach(s, &f.list) {
		outbuf_put(&all, s->name, strlen(s->name) + 1);
		tracedat_put_u32(&all, s->nr);
		outbuf_put(&all, s->formats.data, s->formats.len);
		all.failed |= s->formats.failed;
		outbuf_done(&s->formats);
	}
	vec_done(&f.list);
	arena_done(&texts);
	if (r == 0)
		r = all.failed
			    ? err_nomem()
			    : tracedat_writer_section(w, TRACEDAT_EVENT_FORMATS, all.data, all.len);
	outbuf_done(&all);
	return r;
}

static int file_write_head(struct tracedat_writer *w, const struct tracefs *top)
{
	struct outbuf o = { 0 };
	char *page = NULL, *event = NULL;
	size_t page_len, event_len;
	int r;

	r = tracefs_read(top, "events/header_page", &page, &page_len);
	if (r == 0)
		r = tracefs_read(top, "events/header_event", &event, &event_len);
	if (r == 0) {
		tracedat_put_header_info(&o, page, page_len, event, event_len);
		r = o.failed ? err_nomem()
			     : tracedat_writer_section(w, TRACEDAT_HEADER_INFO, o.data, o.len);
	}
	free(page);
	free(event);
	outbuf_done(&o);
	return r;
}

/* A text of the running kernel, or none if it cannot be read. */
static int file_write_text(struct tracedat_writer *w, enum tracedat_option_id id,
			   const struct tracefs *from, const char *name)
{
	struct outbuf o = { 0 };
	char *text = NULL;
	size_t len = 0;
	int r;

	if (tracefs_read(from, name, &text, &len) < 0)
		len = 0;
	tracedat_put_text_u32(&o, text, len);
	r = o.failed ? err_nomem() : tracedat_writer_section(w, id, o.data, o.len);
	free(text);
	outbuf_done(&o);
	return r;
}

static int file_write_names(struct tracedat_writer *w, const struct ftrace *f)
{
	struct outbuf names = { 0 }, o = { 0 };
	int r = ftrace_names_put(f, &names);

	if (r == 0) {
		tracedat_put_text_u64(&o, names.data, names.len);
		r = o.failed ? err_nomem()
			     : tracedat_writer_section(w, TRACEDAT_CMDLINES, o.data, o.len);
	}
	outbuf_done(&names);
	outbuf_done(&o);
	return r;
}

static int file_put_options(struct tracedat_writer *w, const struct ftrace *f)
{
	uint32_t nr_cpus = 0;
	struct utsname u;
	char text[sizeof(u) + 8], *clocks;
	size_t len;

	tracedat_writer_name_sonde(w);
	if (uname(&u) == 0) {
		len = (size_t)snprintf(text, sizeof(text), "%s %s %s %s", u.sysname, u.nodename,
				       u.release, u.machine);
		tracedat_writer_option(w, TRACEDAT_UNAME, text, len + 1);
	}
	TRY(tracefs_read(&f->buffers.instance.at, "trace_clock", &clocks, &len));
	tracedat_writer_option(w, TRACEDAT_TRACECLOCK, clocks, len + 1);
	free(clocks);
	for (size_t i = 0; i < f->cpus.n; i++) {
		const struct ftrace_cpu *c = &f->cpus.v[i];
		char *stats;

		nr_cpus = (uint32_t)c->cpu >= nr_cpus ? (uint32_t)c->cpu + 1 : nr_cpus;
		if (asprintf(&stats, "CPU: %d\n%s", c->cpu, c->stats) < 0)
			return err_nomem();
		tracedat_writer_option(w, TRACEDAT_CPUSTAT, stats, strlen(stats) + 1);
		free(stats);
	}
	tracedat_writer_cpus(w, nr_cpus);
	return 0;
}

static int file_write_pages(struct tracedat_writer *w, const struct ftrace *f)
{
	struct tracedat_pages *list = calloc(f->cpus.n + 1, sizeof(*list));
	int r;

	if (!list)
		return err_nomem();
	for (size_t i = 0; i < f->cpus.n; i++)
		list[i] = (struct tracedat_pages){
			.cpu = (uint32_t)f->cpus.v[i].cpu,
			.fd = f->cpus.v[i].file_fd,
			.bytes = f->cpus.v[i].bytes,
		};
	r = tracedat_writer_buffer(w, "", f->buffers.clock, list, f->cpus.n);
	free(list);
	return r;
}

int ftrace_file_write(struct ftrace *f, const struct capture *c)
{
	const struct tracefs *top = &c->events.tracefs, proc = { .root = "/proc" };
	struct tracedat_writer w;
	int r = tracedat_writer_begin(&w, f->fd, TRACEDAT_VERSION_7, f->buffers.layout.page_bytes,
				      f->buffers.layout.commit_bytes);

	if (r == 0)
		r = file_write_head(&w, top);
	if (r == 0)
		r = file_write_ftrace_events(&w, top);
	if (r == 0)
		r = file_write_formats(&w, &c->events);
	if (r == 0)
		r = file_write_text(&w, TRACEDAT_KALLSYMS, &proc, "kallsyms");
	if (r == 0)
		r = file_write_text(&w, TRACEDAT_PRINTK, top, "printk_formats");
	if (r == 0)
		r = file_write_names(&w, f);
	if (r == 0)
		r = file_put_options(&w, f);
	if (r == 0)
		r = file_write_pages(&w, f);
	if (r == 0)
		r = tracedat_writer_end(&w);
	f->bytes = w.off;
	tracedat_writer_done(&w);
	return r < 0 ? err_add(r, "%s", f->output.path) : 0;
}
