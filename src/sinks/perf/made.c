/* SPDX-License-Identifier: MIT */
/*
 * Writes the tracepoint events of any input as a perf.data, for perf. A recording of perf itself is
 * better copied (copy.c): here its samples have only what every input has.
 *
 *	event --> record (carried.c) --> sample, in a temporary file; COMM in front of it when the
 *	                                 task's name is new
 *	end:      attrs and formats of the types with events, then the samples --> the output
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/temp_file.h"
#include "base/write_all.h"
#include "formats/perfdata/layout.h"
#include "formats/perfdata/writer.h"
#include "formats/tracedat/page_writer.h"
#include "formats/tracefs/eventformat_put.h"
#include "model/sampled.h"
#include "sinks/carried.h"
#include "sinks/sink.h"

enum {
	OUT_BYTES = 1 << 20,
	ROUND_BYTES = 1 << 20, /* bytes of records between two rounds */
	PAGE_BYTES = 4096,
	TRAILER_BYTES = 32
};

#define MADE_SAMPLED                                                                      \
	(SAMPLED_IDENTIFIER | SAMPLED_TID | SAMPLED_TIME | SAMPLED_CPU | SAMPLED_PERIOD | \
	 SAMPLED_RAW)

struct made_sink {
	struct sink base;
	int fd; /* borrowed */
	struct recordings *recordings;
	enum clock_shown clock;
	struct carried carried;
	int records_fd;    /* owned: a temporary file with the records */
	uint64_t bytes;    /* written to it */
	struct outbuf out; /* not yet written */
	uint32_t since_round;
	uint64_t first_ns, newest_ns;
	int32_t most_cpu;
};

static struct made_sink *made_sink_of(struct sink *s)
{
	return (struct made_sink *)s;
}

/* ---- records --------------------------------------------------------------------------------- */

static int made_flush(struct made_sink *s)
{
	int r;

	if (s->out.failed)
		return err_nomem();
	r = write_all(s->records_fd, s->out.data, s->out.len);
	if (r < 0)
		return err_errno(-r, "cannot write a temporary file");
	s->bytes += s->out.len;
	s->out.len = 0;
	return 0;
}

static void made_put_header(struct made_sink *s, uint32_t type, uint16_t misc, size_t size)
{
	const struct perfdata_record_header h = { .type = type,
						  .misc = misc,
						  .size = (uint16_t)size };

	outbuf_put(&s->out, &h, sizeof(h));
	s->since_round += (uint32_t)size;
}

/* u32 pid, tid | u64 time | u32 cpu, reserved */
static void made_put_place(struct made_sink *s, const struct event *ev, uint64_t time_ns)
{
	const int32_t tid = ev->pub.tid, pid = ev->pub.pid < 0 ? tid : ev->pub.pid;

	perfdata_put_u32(&s->out, (uint32_t)pid);
	perfdata_put_u32(&s->out, (uint32_t)tid);
	perfdata_put_u64(&s->out, time_ns);
	perfdata_put_u32(&s->out, (uint32_t)ev->pub.cpu);
	perfdata_put_u32(&s->out, 0);
}

/* The end of records that are no samples. */
static void made_put_trailer(struct made_sink *s, const struct event *ev, uint64_t time_ns,
			     uint64_t id)
{
	made_put_place(s, ev, time_ns);
	perfdata_put_u64(&s->out, id);
}

static void made_put_round(struct made_sink *s)
{
	made_put_header(s, RECORD_FINISHED_ROUND, 0, sizeof(struct perfdata_record_header));
	s->since_round = 0;
}

static void made_put_comm(struct made_sink *s, const struct event *ev, uint64_t time_ns,
			  uint64_t id)
{
	enum { MOST = 15 };
	const char *comm = strpool_text(&s->recordings->strings, ev->pub.comm);
	const size_t len = strnlen(comm, MOST), room = (len + 8) & ~(size_t)7;

	/* ":PID" is what is shown without a name */
	if (!*comm || *comm == ':' || (!ev->pub.tid && !strcmp(comm, "swapper")))
		return;
	made_put_header(s, PERF_RECORD_COMM, 0,
			sizeof(struct perfdata_record_header) + 8 + room + TRAILER_BYTES);
	perfdata_put_u32(&s->out, (uint32_t)(ev->pub.pid < 0 ? ev->pub.tid : ev->pub.pid));
	perfdata_put_u32(&s->out, (uint32_t)ev->pub.tid);
	outbuf_put(&s->out, comm, len);
	outbuf_pad(&s->out, '\0', room - len);
	made_put_trailer(s, ev, time_ns, id);
}

static void made_put_lost(struct made_sink *s, const struct event *ev, uint64_t time_ns,
			  uint64_t lost)
{
	made_put_header(s, PERF_RECORD_LOST, 0,
			sizeof(struct perfdata_record_header) + 16 + TRAILER_BYTES);
	perfdata_put_u64(&s->out, 0);
	perfdata_put_u64(&s->out, lost);
	/* any event type: it may have no event yet */
	made_put_trailer(s, ev, time_ns, 0);
}

/* identifier | place | period | u32 size, data, padded so that the record's size is right */
static size_t made_sample_bytes(uint32_t len)
{
	return sizeof(struct perfdata_record_header) + 8 + 24 + 8 +
	       ((4 + (size_t)len + 7) & ~(size_t)7);
}

static void made_put_sample(struct made_sink *s, const struct event *ev, uint64_t time_ns,
			    uint64_t id, const uint8_t *record, uint32_t len)
{
	const uint32_t padded = ((4 + len + 7) & ~7u) - 4;

	made_put_header(s, PERF_RECORD_SAMPLE,
			ev->pub.cpumode ? (uint16_t)ev->pub.cpumode : PERF_RECORD_MISC_KERNEL,
			made_sample_bytes(len));
	perfdata_put_u64(&s->out, id);
	made_put_place(s, ev, time_ns);
	perfdata_put_u64(&s->out, 1);
	perfdata_put_u32(&s->out, padded);
	outbuf_put(&s->out, record, len);
	outbuf_pad(&s->out, '\0', padded - len);
}

/* The id of the samples of a type: the type's number, which is known before the attrs are. */
static uint64_t made_id_of(const struct carried_type *t)
{
	return t->id;
}

static void made_loss(struct made_sink *s, const struct event *ev)
{
	struct carried_lost lost;

	if (carried_loss(&s->carried, ev, &lost))
		made_put_lost(s, ev, carried_time(&s->carried, ev), lost.events);
}

static int made_event(struct sink *sink, const struct event *ev)
{
	struct made_sink *s = made_sink_of(sink);
	const uint64_t time_ns = carried_time(&s->carried, ev);
	struct carried_type *type;
	const uint8_t *record;
	uint32_t len;
	int r = carried_kind_of(&s->carried, ev);

	if (r == CARRIED_LOSS)
		made_loss(s, ev);
	if (r != CARRIED_SAMPLE)
		return r < 0 ? r : 0;
	type = carried_make(&s->carried, ev, &record, &len, &r);
	if (!type)
		return r;
	if (made_sample_bytes(len) > UINT16_MAX) {
		carried_refuse(&s->carried, type, ev);
		return 0;
	}
	r = carried_learn_comm(&s->carried, ev);
	if (r > 0)
		made_put_comm(s, ev, time_ns, made_id_of(type));
	made_put_sample(s, ev, time_ns, made_id_of(type), record, len);
	if (!s->first_ns || time_ns < s->first_ns)
		s->first_ns = time_ns;
	s->newest_ns = time_ns > s->newest_ns ? time_ns : s->newest_ns;
	s->most_cpu = ev->pub.cpu > s->most_cpu ? ev->pub.cpu : s->most_cpu;
	if (s->since_round >= ROUND_BYTES)
		made_put_round(s);
	if (r >= 0 && (s->out.len >= OUT_BYTES || s->out.failed))
		r = made_flush(s);
	return r < 0 ? r : 0;
}

static int made_events(struct sink *sink, const struct event *const *events, size_t nr)
{
	return sink_each(sink, events, nr, made_event);
}

/* ---- the header ------------------------------------------------------------------------------ */

/* What the header refers to. */
struct made_header {
	struct carried_formats formats;
	VEC(struct perfdata_writer_event) events;
	VEC(struct perfdata_writer_feature) features;
	struct outbuf bodies[16];      /* of the features */
	struct perf_event_attr *attrs; /* owned; of events */
	uint64_t *ids;                 /* owned; of events */
	char **names;                  /* owned; of events */
};

static void made_header_done(struct made_header *h)
{
	for (size_t i = 0; h->names && i < h->formats.list.n; i++)
		free(h->names[i]);
	for (size_t i = 0; i < sizeof(h->bodies) / sizeof(*h->bodies); i++)
		outbuf_done(&h->bodies[i]);
	free(h->names);
	free(h->attrs);
	free(h->ids);
	vec_done(&h->events);
	vec_done(&h->features);
	carried_formats_done(&h->formats);
}

/* The body is complete: h->bodies[features.n]. */
static int made_add_feature(struct made_header *h, uint64_t feature)
{
	const struct outbuf *o = &h->bodies[h->features.n];

	if (o->failed)
		return err_nomem();
	return vec_push(&h->features,
			(struct perfdata_writer_feature){ feature, o->data, o->len }) < 0
		       ? err_nomem()
		       : 0;
}

static struct outbuf *made_body(struct made_header *h)
{
	return &h->bodies[h->features.n];
}

static int made_add_text(struct made_header *h, uint64_t feature, const char *text)
{
	if (!text || !*text)
		return 0;
	perfdata_put_string(made_body(h), text);
	return made_add_feature(h, feature);
}

static int made_put_events(struct made_header *h, const struct source_clock *clock)
{
	const size_t nr = h->formats.list.n;

	h->attrs = calloc(nr + 1, sizeof(*h->attrs) + PERFDATA_WRITER_ATTR_SIZE);
	h->ids = calloc(nr + 1, sizeof(*h->ids));
	h->names = calloc(nr + 1, sizeof(*h->names));
	if (!h->attrs || !h->ids || !h->names)
		return err_nomem();
	for (size_t i = 0; i < nr; i++) {
		const struct carried_format *f = &h->formats.list.v[i];
		struct outbuf name = { 0 };

		outbuf_fmt(&name, "%s:", f->system);
		eventformat_put_name(&name, f->type->schema->event);
		outbuf_char(&name, '\0');
		h->names[i] = name.data;
		h->ids[i] = made_id_of(f->type);
		h->attrs[i] = (struct perf_event_attr){
			.type = PERF_TYPE_TRACEPOINT,
			.size = PERFDATA_WRITER_ATTR_SIZE,
			.config = f->type->id,
			.sample_period = 1,
			.sample_type = MADE_SAMPLED,
			.disabled = 1,
			.inherit = 1,
			.sample_id_all = 1,
			.use_clockid = clock->id >= 0,
			.clockid = clock->id >= 0 ? clock->id : 0,
		};
		if (name.failed ||
		    vec_push(&h->events, (struct perfdata_writer_event){ &h->attrs[i], h->names[i],
									 &h->ids[i], 1 }) < 0)
			return err_nomem();
	}
	return 0;
}

static int made_put_tracing(struct made_header *h, struct source *source, uint8_t long_bytes)
{
	const size_t nr = h->formats.list.n;
	struct perfdata_writer_format *list = calloc(nr + 1, sizeof(*list));
	struct outbuf page = { 0 }, event = { 0 };
	struct source_kallsyms symbols = { 0 };
	struct source_kernel kernel;
	int r = list ? source_read_kernel(source, &kernel) : err_nomem();

	ring_put_header_page(&page, PAGE_BYTES, long_bytes);
	ring_put_header_event(&event);
	if (r == 0)
		r = source_read_kallsyms(source, &symbols);
	for (size_t i = 0; i < nr && r == 0; i++)
		list[i] = (struct perfdata_writer_format){ h->formats.list.v[i].system,
							   h->formats.list.v[i].text,
							   h->formats.list.v[i].len };
	if (r == 0 && (page.failed || event.failed))
		r = err_nomem();
	if (r == 0) {
		const struct perfdata_writer_tracing t = {
			.header_page = page.data,
			.header_page_len = page.len,
			.header_event = event.data,
			.header_event_len = event.len,
			.printk_formats = kernel.printk,
			.printk_formats_len = kernel.printk_len,
			.kallsyms = symbols.text,
			.kallsyms_len = symbols.len,
			.formats = list,
			.nr_formats = nr,
			.page_size = PAGE_BYTES,
		};

		perfdata_put_tracing(made_body(h), &t);
		r = made_add_feature(h, FEAT_TRACING_DATA);
	}
	free(list);
	source_kallsyms_done(&symbols);
	outbuf_done(&page);
	outbuf_done(&event);
	return r;
}

static int made_put_clock(struct made_header *h, const struct source_clock *clock)
{
	if (clock->id < 0)
		return 0;
	perfdata_put_u64(made_body(h), clock->has_resolution ? clock->resolution_ns : 1);
	TRY(made_add_feature(h, FEAT_CLOCKID));
	if (!clock->has_reference)
		return 0;
	perfdata_put_u32(made_body(h), 1);
	perfdata_put_u32(made_body(h), (uint32_t)clock->reference_id);
	perfdata_put_u64(made_body(h), clock->wall_ns);
	perfdata_put_u64(made_body(h), clock->clock_ns);
	return made_add_feature(h, FEAT_CLOCK_DATA);
}

static int made_put_features(struct made_header *h, const struct made_sink *s,
			     const struct source_clock *clock)
{
	struct source *source = s->recordings->v->source;
	const uint8_t long_bytes =
		h->formats.list.n && h->formats.list.v->type->schema->abi.long_bytes == 4 ? 4 : 8;

	TRY(made_put_tracing(h, source, long_bytes));
	TRY(made_add_text(h, FEAT_HOSTNAME, source_fact(source, "hostname")));
	TRY(made_add_text(h, FEAT_OSRELEASE, source_fact(source, "osrelease")));
	TRY(made_add_text(h, FEAT_VERSION, "sonde " SONDE_VERSION));
	TRY(made_add_text(h, FEAT_ARCH, source_fact(source, "arch")));
	perfdata_put_u32(made_body(h), (uint32_t)s->most_cpu + 1);
	perfdata_put_u32(made_body(h), (uint32_t)s->most_cpu + 1);
	TRY(made_add_feature(h, FEAT_NRCPUS));
	perfdata_put_event_desc(made_body(h), h->events.v, h->events.n);
	TRY(made_add_feature(h, FEAT_EVENT_DESC));
	perfdata_put_u64(made_body(h), s->first_ns);
	perfdata_put_u64(made_body(h), s->newest_ns);
	TRY(made_add_feature(h, FEAT_SAMPLE_TIME));
	return made_put_clock(h, clock);
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Passes on complete records: no piece ends within one. */
static int made_copy_records(struct made_sink *s, struct perfdata_writer *w)
{
	uint64_t at = 0;

	while (at < s->bytes) {
		const size_t want = s->bytes - at < OUT_BYTES ? (size_t)(s->bytes - at) : OUT_BYTES;
		char *to;
		ssize_t n;
		size_t whole = 0;

		s->out.len = 0;
		to = outbuf_room(&s->out, want);
		if (!to)
			return err_nomem();
		n = pread(s->records_fd, to, want, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(n ? errno : EIO, "cannot read a temporary file");
		while ((size_t)n - whole >= sizeof(struct perfdata_record_header)) {
			struct perfdata_record_header head;

			memcpy(&head, to + whole, sizeof(head));
			if (head.size > (size_t)n - whole)
				break;
			whole += head.size;
		}
		TRY(perfdata_writer_append(w, &(struct iovec){ to, whole }, 1));
		at += whole;
	}
	return 0;
}

static int made_write(struct made_sink *s, const struct made_header *h)
{
	struct perfdata_writer *w;
	const int fd = dup(s->fd);
	int r;

	if (fd < 0)
		return err_errno(errno, "cannot write the file");
	TRY(perfdata_writer_open(&w, fd, "the output", false));
	r = perfdata_writer_begin(w, h->events.v, h->events.n, h->features.v, h->features.n);
	if (r == 0)
		r = made_copy_records(s, w);
	if (r == 0)
		r = perfdata_writer_finish(w, NULL, 0, NULL);
	perfdata_writer_close(w);
	/* no record is dropped to make room for the header; the error chain has the cause */
	return r > 0 ? -ENOSPC : r;
}

static int made_end_records(struct made_sink *s)
{
	const struct event nowhere = { .pub = { .cpu = -1, .pid = -1, .tid = -1 } };
	const uint64_t lost = carried_lost_elsewhere(&s->carried);

	/* nobody knows where these losses were */
	if (lost)
		made_put_lost(s, &nowhere, s->carried.last_ns, lost);
	made_put_round(s);
	return made_flush(s);
}

static int made_finish(struct sink *sink, bool complete)
{
	struct made_sink *s = made_sink_of(sink);
	struct source_clock clock = source_read_clock(s->recordings->v->source);
	struct made_header h = { 0 };
	int r;

	if (!complete)
		return 0; /* a part of a file is of no use */
	if (s->clock != CLOCK_SHOWN_RAW)
		clock = (struct source_clock){ .id = -1 };
	r = made_end_records(s);
	if (r == 0)
		r = carried_formats_make(&h.formats, &s->carried);
	if (r == 0)
		r = made_put_events(&h, &clock);
	if (r == 0)
		r = made_put_features(&h, s, &clock);
	if (r == 0)
		r = made_write(s, &h);
	s->base.wrote_none = !h.formats.list.n;
	made_header_done(&h);
	carried_put_notes(&s->carried, MADE_SAMPLED, &s->base.notes);
	return r;
}

static int made_flush_nothing(struct sink *sink __attribute__((unused)))
{
	return 0;
}

static void made_close(struct sink *sink)
{
	struct made_sink *s = made_sink_of(sink);

	if (!s)
		return;
	if (s->records_fd >= 0)
		close(s->records_fd);
	outbuf_done(&s->out);
	carried_done(&s->carried);
	free(s);
}

static struct sink_wants made_wants(const struct sink_options *opts __attribute__((unused)))
{
	return (struct sink_wants){ .samples = true, .records = true };
}

static int made_open(struct sink **ret, const struct sink_options *opts)
{
	struct made_sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_nomem();
	s->base.ops = &perf_sink_ops;
	s->fd = opts->fd;
	s->recordings = opts->recordings;
	s->clock = opts->clock;
	s->records_fd = -1;
	r = carried_init(&s->carried, opts->recordings, "perf.data");
	if (r == 0 && lseek(s->fd, 0, SEEK_CUR) != 0)
		r = err_set(-ESPIPE, "format=perf needs an empty file: the header is written at "
				     "the end");
	if (r == 0) {
		s->records_fd = temp_file_open();
		r = s->records_fd < 0 ? s->records_fd : 0;
	}
	if (r < 0)
		made_close(&s->base);
	else
		*ret = &s->base;
	return r;
}

const struct sink_ops perf_sink_ops = {
	.name = "perf",
	.summary = "tracepoints as a recording of perf",
	.wants = made_wants,
	.open = made_open,
	.events = made_events,
	.finish = made_finish,
	.flush = made_flush_nothing,
	.close = made_close,
};
