/* SPDX-License-Identifier: MIT */
/*
 * Writes the tracepoint events of any input as a trace.dat of version 7 or 6, for trace-cmd and
 * KernelShark.
 *
 *	event --> record (carried.c) --> pages of its cpu, in a temporary file
 *	end:      formats, names, options, then the pages of all cpus --> the output
 *
 * The formats are those of the types that have events. A name that changes is written as it was
 * last, because the format has one name for each task.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/hash_sorted.h"
#include "base/temp_file.h"
#include "base/vec.h"
#include "formats/tracedat/buffers.h"
#include "formats/tracedat/page_writer.h"
#include "formats/tracedat/writer.h"
#include "model/sampled.h"
#include "sinks/carried.h"
#include "sinks/sink.h"
#include "sources/tracedat/view.h"

/* Records of perf have up to 64 KiB, which a page of 4 KiB does not hold. */
enum { PAGE_BYTES = 1 << 16 };

struct tracedat_cpu_pages {
	int fd; /* owned; -1 until the first record */
	struct ring_writer ring;
};

struct tracedat_sink {
	struct sink base;
	int fd; /* borrowed */
	struct recordings *recordings;
	enum clock_shown clock;
	unsigned version;
	struct carried carried;
	VEC(struct tracedat_cpu_pages) cpus;
	uint8_t long_bytes; /* of the recorded kernel; 0 until the first page */
	/* Events whose task is unknown, and whose process is not their thread. */
	uint64_t without_task, of_threads;
};

static struct tracedat_sink *tracedat_sink_of(struct sink *s)
{
	return (struct tracedat_sink *)s;
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* The size of the first event's long: all pages of a file have one layout. */
static uint8_t tracedat_sink_long(struct tracedat_sink *s)
{
	const struct carried *c = &s->carried;

	for (size_t i = 0; i < c->types.n && !s->long_bytes; i++)
		if (c->types.v[i].nr)
			s->long_bytes = c->types.v[i].schema->abi.long_bytes;
	if (s->long_bytes != 4)
		s->long_bytes = 8;
	return s->long_bytes;
}

/* *ret is NULL if the number of the cpu is too large for the format. */
static int tracedat_sink_cpu(struct tracedat_sink *s, int32_t cpu, struct ring_writer **ret)
{
	const uint32_t at = cpu < 0 ? 0 : (uint32_t)cpu;
	struct tracedat_cpu_pages *c;

	*ret = NULL;
	if (at >= TRACEDAT_MOST_CPUS)
		return 0;
	while (s->cpus.n <= at)
		if (vec_push(&s->cpus, (struct tracedat_cpu_pages){ .fd = -1 }) < 0)
			return err_nomem();
	c = &s->cpus.v[at];
	if (c->fd < 0) {
		c->fd = temp_file_open();
		TRY(c->fd);
		TRY(ring_writer_init(&c->ring, c->fd, PAGE_BYTES, tracedat_sink_long(s)));
	}
	*ret = &c->ring;
	return 0;
}

static int tracedat_sink_loss(struct tracedat_sink *s, const struct event *ev)
{
	struct carried_lost lost;
	struct ring_writer *ring;

	if (!carried_loss(&s->carried, ev, &lost))
		return 0;
	TRY(tracedat_sink_cpu(s, ev->pub.cpu, &ring));
	return ring ? ring_writer_lost(ring, carried_time(&s->carried, ev),
				       lost.is_counted ? lost.events : 0)
		    : 0;
}

/* A record has the number of a thread only. */
static void tracedat_count_task(struct tracedat_sink *s, const struct event *ev)
{
	if (ev->pub.tid < 0)
		s->without_task++;
	else if (ev->pub.pid >= 0 && ev->pub.pid != ev->pub.tid)
		s->of_threads++;
}

static int tracedat_sink_event(struct sink *sink, const struct event *ev)
{
	struct tracedat_sink *s = tracedat_sink_of(sink);
	const uint64_t time_ns = carried_time(&s->carried, ev);
	struct carried_type *type;
	struct ring_writer *ring;
	const uint8_t *record;
	uint32_t len;
	int r = carried_kind_of(&s->carried, ev);

	if (r != CARRIED_SAMPLE)
		return r == CARRIED_LOSS ? tracedat_sink_loss(s, ev) : r < 0 ? r : 0;
	type = carried_make(&s->carried, ev, &record, &len, &r);
	if (!type)
		return r;
	TRY(carried_learn_comm(&s->carried, ev));
	TRY(tracedat_sink_cpu(s, ev->pub.cpu, &ring));
	if (!ring || len > ring_writer_most(ring)) {
		carried_refuse(&s->carried, type, ev);
		return 0;
	}
	tracedat_count_task(s, ev);
	return ring_writer_put(ring, time_ns, record, len);
}

static int tracedat_sink_events(struct sink *sink, const struct event *const *events, size_t nr)
{
	return sink_each(sink, events, nr, tracedat_sink_event);
}

/* ---- sections -------------------------------------------------------------------------------- */

static int tracedat_write_part(struct tracedat_writer *w, enum tracedat_option_id id,
			       struct outbuf *part)
{
	const int r =
		part->failed ? err_nomem() : tracedat_writer_section(w, id, part->data, part->len);

	outbuf_done(part);
	return r;
}

static int tracedat_write_head(struct tracedat_writer *w, uint8_t long_bytes)
{
	struct outbuf o = { 0 }, page = { 0 }, event = { 0 };

	ring_put_header_page(&page, PAGE_BYTES, long_bytes);
	ring_put_header_event(&event);
	if (!page.failed && !event.failed)
		tracedat_put_header_info(&o, page.data, page.len, event.data, event.len);
	o.failed |= page.failed | event.failed;
	outbuf_done(&page);
	outbuf_done(&event);
	return tracedat_write_part(w, TRACEDAT_HEADER_INFO, &o);
}

/* Records of the buffer itself, as prints, have a section of their own. */
static bool tracedat_is_own(const struct carried_format *f)
{
	return !strcmp(f->system, "ftrace");
}

static int tracedat_write_ftrace_events(struct tracedat_writer *w, const struct carried_formats *f)
{
	struct outbuf o = { 0 };
	uint32_t nr = 0;

	for (size_t i = 0; i < f->list.n; i++)
		nr += tracedat_is_own(&f->list.v[i]);
	tracedat_put_u32(&o, nr);
	for (size_t i = 0; i < f->list.n; i++)
		if (tracedat_is_own(&f->list.v[i]))
			tracedat_put_text_u64(&o, f->list.v[i].text, f->list.v[i].len);
	return tracedat_write_part(w, TRACEDAT_FTRACE_EVENTS, &o);
}

/* The end of the formats of the system that format i has. */
static size_t tracedat_system_end(const struct carried_formats *f, size_t i)
{
	size_t end = i;

	while (end < f->list.n && !strcmp(f->list.v[end].system, f->list.v[i].system))
		end++;
	return end;
}

static int tracedat_write_formats(struct tracedat_writer *w, const struct carried_formats *f)
{
	struct outbuf o = { 0 };
	uint32_t nr = 0;

	for (size_t i = 0; i < f->list.n; i = tracedat_system_end(f, i))
		nr += !tracedat_is_own(&f->list.v[i]);
	tracedat_put_u32(&o, nr);
	for (size_t i = 0, end; i < f->list.n; i = end) {
		end = tracedat_system_end(f, i);
		if (tracedat_is_own(&f->list.v[i]))
			continue;
		outbuf_put(&o, f->list.v[i].system, strlen(f->list.v[i].system) + 1);
		tracedat_put_u32(&o, (uint32_t)(end - i));
		for (; i < end; i++)
			tracedat_put_text_u64(&o, f->list.v[i].text, f->list.v[i].len);
	}
	return tracedat_write_part(w, TRACEDAT_EVENT_FORMATS, &o);
}

static int tracedat_write_kernel(struct tracedat_writer *w, struct source *source)
{
	struct source_kallsyms symbols;
	struct source_kernel kernel;
	struct outbuf o = { 0 };

	TRY(source_read_kernel(source, &kernel));
	TRY(source_read_kallsyms(source, &symbols));
	tracedat_put_text_u32(&o, symbols.text, symbols.len);
	source_kallsyms_done(&symbols);
	TRY(tracedat_write_part(w, TRACEDAT_KALLSYMS, &o));
	tracedat_put_text_u32(&o, kernel.printk, kernel.printk_len);
	return tracedat_write_part(w, TRACEDAT_PRINTK, &o);
}

/* Lines "PID NAME" by pid. */
static int tracedat_write_names(struct tracedat_writer *w, const struct tracedat_sink *s)
{
	const struct tracedat_source *view = tracedat_view_of(s->recordings->v->source);
	struct outbuf names = { 0 }, o = { 0 };
	struct hash64_slot *list;
	size_t n;

	TRY(hash64_sorted(&s->carried.comm, &list, &n));
	for (size_t i = 0; i < n; i++) {
		const char *saved = view ? tracedat_saved_comm(view, (int32_t)list[i].key) : NULL;
		const char *name =
			saved ? saved
			      : strpool_text(&s->recordings->strings, (uint32_t)list[i].value);

		/* readers know the name of pid 0, and ":PID" is what is shown without a name */
		if (list[i].key && *name && *name != ':')
			outbuf_fmt(&names, "%llu %.*s\n", (unsigned long long)list[i].key,
				   (int)strcspn(name, "\n"), name);
	}
	free(list);
	tracedat_put_text_u64(&o, names.data, names.len);
	o.failed |= names.failed;
	outbuf_done(&names);
	return tracedat_write_part(w, TRACEDAT_CMDLINES, &o);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* The kernel's name of the clock of the written times. */
static const char *tracedat_clock_name(const struct tracedat_sink *s)
{
	struct source *source = s->recordings->v->source;
	struct tracedat_source *view = tracedat_view_of(source);
	const char *name = source_fact(source, "trace_clock");

	if (s->clock != CLOCK_SHOWN_RAW)
		return "global";
	if (view && name)
		return !tracedat_has_plain_times(view) && strchr(name, '-') ? "tsc2nsec" : name;
	switch (source_read_clock(source).id) {
	case CLOCK_MONOTONIC:
		return "mono";
	case CLOCK_MONOTONIC_RAW:
		return "mono_raw";
	case CLOCK_BOOTTIME:
		return "boot";
	case CLOCK_TAI:
		return "tai";
	case -1:
		return "perf";
	default:
		return "global";
	}
}

static const char *tracedat_word(const char *value, const char *otherwise)
{
	return value && *value && !strchr(value, ' ') ? value : otherwise;
}

/* The number of the machine's cpus, or of those with events if the input does not say. */
static uint32_t tracedat_count(struct tracedat_sink *s)
{
	const char *fact = source_fact(s->recordings->v->source, "nrcpus_available");
	const unsigned long known = fact ? strtoul(fact, NULL, 10) : 0;
	const uint32_t used = s->cpus.n ? (uint32_t)s->cpus.n : 1;

	return known > used && known <= TRACEDAT_MOST_CPUS ? (uint32_t)known : used;
}

static int tracedat_put_options(struct tracedat_writer *w, struct tracedat_sink *s,
				const char *clock)
{
	struct source *source = s->recordings->v->source;
	const char *hostname = source_fact(source, "hostname");
	struct outbuf o = { 0 };

	tracedat_writer_name_sonde(w);
	if (hostname) {
		outbuf_fmt(&o, "Linux %s", tracedat_word(hostname, "unknown"));
		outbuf_fmt(&o, " %s", tracedat_word(source_fact(source, "osrelease"), "unknown"));
		outbuf_fmt(&o, " %s", tracedat_word(source_fact(source, "arch"), "unknown"));
		outbuf_char(&o, '\0');
		if (!o.failed)
			tracedat_writer_option(w, TRACEDAT_UNAME, o.data, o.len);
		o.len = 0;
	}
	outbuf_fmt(&o, "[%s]", clock);
	outbuf_char(&o, '\0');
	if (!o.failed)
		tracedat_writer_option(w, TRACEDAT_TRACECLOCK, o.data, o.len);
	tracedat_writer_cpus(w, tracedat_count(s));
	w->options.failed |= o.failed;
	outbuf_done(&o);
	return 0;
}

static int tracedat_write_pages(struct tracedat_writer *w, struct tracedat_sink *s,
				const char *clock)
{
	struct tracedat_pages *list = calloc(s->cpus.n + 1, sizeof(*list));
	size_t nr = 0;
	int r;

	if (!list)
		return err_nomem();
	for (size_t i = 0; i < s->cpus.n; i++)
		if (s->cpus.v[i].fd >= 0)
			list[nr++] = (struct tracedat_pages){
				.cpu = (uint32_t)i,
				.fd = s->cpus.v[i].fd,
				.bytes = s->cpus.v[i].ring.bytes,
			};
	r = tracedat_writer_buffer(w, "", clock, list, nr);
	free(list);
	return r;
}

static int tracedat_write_all(struct tracedat_writer *w, struct tracedat_sink *s,
			      const struct carried_formats *formats)
{
	const char *clock = tracedat_clock_name(s);

	TRY(tracedat_write_head(w, tracedat_sink_long(s)));
	TRY(tracedat_write_ftrace_events(w, formats));
	TRY(tracedat_write_formats(w, formats));
	TRY(tracedat_write_kernel(w, s->recordings->v->source));
	TRY(tracedat_write_names(w, s));
	TRY(tracedat_put_options(w, s, clock));
	TRY(tracedat_write_pages(w, s, clock));
	return tracedat_writer_end(w);
}

/* Losses that only event types counted are at the end, because nobody knows where they were. */
static int tracedat_end_pages(struct tracedat_sink *s)
{
	const uint64_t lost = carried_lost_elsewhere(&s->carried);
	struct ring_writer *ring;

	if (lost) {
		TRY(tracedat_sink_cpu(s, 0, &ring));
		TRY(ring_writer_lost(ring, s->carried.last_ns, lost));
	}
	vec_foreach(c, &s->cpus)
		if (c->fd >= 0)
			TRY(ring_writer_end(&c->ring));
	return 0;
}

static void tracedat_put_notes(struct tracedat_sink *s)
{
	struct outbuf *notes = &s->base.notes;

	carried_put_notes(&s->carried, SAMPLED_TID | SAMPLED_TIME | SAMPLED_CPU | SAMPLED_RAW,
			  notes);
	if (s->carried.renamed)
		outbuf_fmt(notes,
			   "tasks had new names %llu times: trace.dat has one name for each task, "
			   "the last\n",
			   (unsigned long long)s->carried.renamed);
	if (s->of_threads)
		outbuf_fmt(notes,
			   "the processes of %llu events of threads are not written: trace.dat has "
			   "the thread only\n",
			   (unsigned long long)s->of_threads);
	if (s->without_task)
		outbuf_fmt(notes,
			   "%llu events of unknown tasks have the pid 0: trace.dat has no other\n",
			   (unsigned long long)s->without_task);
}

static int tracedat_sink_finish(struct sink *sink, bool complete)
{
	struct tracedat_sink *s = tracedat_sink_of(sink);
	struct carried_formats formats = { 0 };
	struct tracedat_writer w;
	int r;

	if (!complete)
		return 0; /* a part of a file is of no use */
	TRY(tracedat_end_pages(s));
	r = carried_formats_make(&formats, &s->carried);
	if (r == 0) {
		r = tracedat_writer_begin(&w, s->fd, s->version, PAGE_BYTES, tracedat_sink_long(s));
		if (r == 0)
			r = tracedat_write_all(&w, s, &formats);
		tracedat_writer_done(&w);
	}
	s->base.wrote_none = !formats.list.n;
	carried_formats_done(&formats);
	tracedat_put_notes(s);
	return r;
}

static int tracedat_sink_flush(struct sink *sink __attribute__((unused)))
{
	return 0;
}

static void tracedat_sink_close(struct sink *sink)
{
	struct tracedat_sink *s = tracedat_sink_of(sink);

	if (!s)
		return;
	vec_foreach(c, &s->cpus) {
		if (c->fd < 0)
			continue;
		ring_writer_done(&c->ring);
		close(c->fd);
	}
	vec_done(&s->cpus);
	carried_done(&s->carried);
	free(s);
}

/* ---- options --------------------------------------------------------------------------------- */

struct tracedat_options {
	uint64_t version;
};

static const struct key keys[] = {
	KEY_NUMBER("file-version", struct tracedat_options, version, TRACEDAT_VERSION_6,
		   TRACEDAT_VERSION_7),
};

/* ---- the sink -------------------------------------------------------------------------------- */

static struct sink_wants tracedat_sink_wants(const struct sink_options *opts
					     __attribute__((unused)))
{
	return (struct sink_wants){ .samples = true, .records = true };
}

static int tracedat_sink_open(struct sink **ret, const struct sink_options *opts)
{
	const struct tracedat_options *own = opts->own;
	struct tracedat_sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_nomem();
	s->base.ops = &tracedat_sink_ops;
	s->version = own->version == KEY_NO_NUMBER ? TRACEDAT_VERSION_7 : (unsigned)own->version;
	s->fd = opts->fd;
	s->recordings = opts->recordings;
	s->clock = opts->clock;
	r = carried_init(&s->carried, opts->recordings, "trace.dat");
	if (r == 0 && lseek(s->fd, 0, SEEK_CUR) != 0)
		r = err_set(-ESPIPE, "format=trace.dat needs an empty file: the beginning of the "
				     "file is written at the end");
	if (r < 0)
		tracedat_sink_close(&s->base);
	else
		*ret = &s->base;
	return r;
}

const struct sink_ops tracedat_sink_ops = {
	.name = "trace.dat",
	.summary = "a recording as trace-cmd's",
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct tracedat_options),
	.wants = tracedat_sink_wants,
	.open = tracedat_sink_open,
	.events = tracedat_sink_events,
	.finish = tracedat_sink_finish,
	.flush = tracedat_sink_flush,
	.close = tracedat_sink_close,
};
