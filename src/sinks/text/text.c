/* SPDX-License-Identifier: MIT */
/*
 * The text sink: a line per event in perf script's layout. What can be known per event type is made once, when the type
 * is first met (struct line); columns are written straight into the output buffer, always in the same order.
 *
 *	            bash  4711 [001]  1234.567890:     250000   cpu-clock:  ffffffff81000000 sym+0x10 (dso)
 *	comm(16)      tid  cpu  time              period(10) event        ip, or a newline and the call chain
 */
#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/vec.h"
#include "session.h"
#include "sinks/fd_writer.h"
#include "sinks/sink.h"
#include "sinks/text/columns.h"
#include "sinks/text/fields.h"
#include "sinks/text/frames.h"
#include "sources/source.h"

#define NEEDS_SAMPLE                                                                    \
	(TEXT_PERIOD | TEXT_ADDR | TEXT_WEIGHT | TEXT_PHYS_ADDR | TEXT_DATA_PAGE_SIZE | \
	 TEXT_CODE_PAGE_SIZE)

/* How lines of one event type look; indexed by schema id. */
struct line {
	bool needs_sample; /* values behind the fixed ones are shown */
	bool has_chain;    /* recorded and wanted: shown in place of ip */
	bool bare_comm;    /* before a chain comm is not padded */
	bool addr_has_names; /* addr is a place in code or data of the process: symbol and dso behind it */
	uint32_t fields; /* TEXT_*; 0: not shown at all */
	uint32_t name_len;
	uint32_t name_room; /* bytes at `name`: a multiple of COPY_BYTES */
	const char *name;   /* "sched:sched_switch: " right aligned; lent from the arena */
};

struct text_sink {
	struct sink base;
	struct sonde_session *session;
	struct fd_writer writer;
	struct text_fields fields;
	struct text_frames frames;
	struct arena arena;
	VEC(struct line) lines;
	VEC(struct comm_text) comms; /* indexed by comm id */
	struct seconds_text seconds;
	struct sonde_sample sample; /* of the event at hand, if its line needs it */
	unsigned id_width;          /* of pid and tid */
	unsigned name_width;        /* of the longest event name, 0: not yet known */
	bool nanoseconds;
};

static struct text_sink *sink_of(struct sink *s)
{
	return (struct text_sink *)s;
}

/* ---- event types ------------------------------------------------------------------------------------------------- */

/* perf gives addresses names for events whose address is one of the sampled process. */
static bool addr_has_names(const struct sonde_schema *sc)
{
	const struct perf_event_attr *attr = sc->attr;

	return attr && attr->type == PERF_TYPE_SOFTWARE &&
	       (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
		attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
		attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

static unsigned longest_name(const struct sonde_session *s)
{
	const struct sonde_schema *sc;
	size_t width = 0;

	for (uint32_t id = 0; (sc = sonde_session_schema(s, id)) != NULL; id++) {
		size_t len = strlen(sc->name);

		if (sc->kind <= SONDE_SAMPLE && len > width)
			width = len;
	}
	return (unsigned)width;
}

/* `name: ` in name_width + 2 places, and what is copied with it. */
static int make_name(struct text_sink *s, const struct sonde_schema *sc, struct line *line)
{
	size_t len = strlen(sc->name), pad = s->name_width > len ? s->name_width - len : 0;
	size_t room = (pad + len + 2 + COPY_BYTES - 1) / COPY_BYTES * COPY_BYTES;
	char *text = room <= UINT32_MAX ? arena_alloc(&s->arena, room) : NULL;

	if (!text)
		return err_nomem();
	memset(text, ' ', pad);
	memcpy(text + pad, sc->name, len);
	memcpy(text + pad + len, ": ", 2);
	line->name = text;
	line->name_len = (uint32_t)(pad + len + 2);
	line->name_room = (uint32_t)room;
	return 0;
}

/* Makes the line of an event type and of all before it that were not met. */
static int meet(struct text_sink *s, uint32_t schema)
{
	if (!s->name_width)
		s->name_width = longest_name(s->session);
	for (uint32_t id = (uint32_t)s->lines.n; id <= schema; id++) {
		const struct sonde_schema *sc = sonde_session_schema(s->session, id);
		struct line line = { 0 };

		if (sc && sc->kind <= SONDE_SAMPLE) {
			TRY(text_fields_meet(&s->fields, sc));
			line.fields = s->fields.classes[text_class_of(sc)].fields;
			line.has_chain =
				s->fields.callchain && text_sample_bits(sc) & PERF_SAMPLE_CALLCHAIN;
			line.addr_has_names = addr_has_names(sc);
			TRY(make_name(s, sc, &line));
		}
		TRY(vec_push(&s->lines, line));
	}
	return 0;
}

/* What a type shows is settled only when all types known at the start were met: their classes influence each other. */
static int settle(struct text_sink *s)
{
	for (uint32_t id = 0; id < s->lines.n; id++) {
		const struct sonde_schema *sc = sonde_session_schema(s->session, id);
		struct line *line = &s->lines.v[id];

		if (sc && sc->kind <= SONDE_SAMPLE)
			line->fields = s->fields.classes[text_class_of(sc)].fields;
		line->bare_comm = line->has_chain && line->fields & TEXT_IP;
		line->needs_sample =
			line->fields & NEEDS_SAMPLE || (line->fields & TEXT_IP && !line->has_chain);
	}
	return text_fields_met_all(&s->fields);
}

static int meet_late(struct text_sink *s, uint32_t schema)
{
	TRY(meet(s, schema));
	return settle(s);
}

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* The comm right aligned in 16 places and a blank, made once per comm. */
static const struct comm_text *comm_text(struct text_sink *s, uint32_t comm)
{
	if (__builtin_expect(comm >= s->comms.n, 0)) {
		if (vec_reserve(&s->comms, comm + 1 - s->comms.n) < 0)
			return NULL;
		memset(s->comms.v + s->comms.n, 0, (comm + 1 - s->comms.n) * sizeof(*s->comms.v));
		s->comms.n = comm + 1;
	}
	if (__builtin_expect(!s->comms.v[comm].len, 0))
		comm_text_make(&s->comms.v[comm], sonde_session_string(s->session, comm));
	return &s->comms.v[comm];
}

static void put_page_size(struct outbuf *out, uint64_t bytes)
{
	static const char units[] = "BKMGTPE";
	int unit = 0;

	if (!bytes) {
		outbuf_put(out, " N/A", 4);
		return;
	}
	for (; bytes >= 1024 && !(bytes % 1024); unit++)
		bytes /= 1024;
	outbuf_char(out, ' ');
	outbuf_u64(out, bytes);
	outbuf_char(out, units[unit]);
}

/* A comm that has no text made for it: before a call chain it is not padded, or it is a very long one. */
static char *put_odd_comm(char *p, const char *comm)
{
	size_t len = strnlen(comm, COMM_BYTES - 1);

	memcpy(p, comm, len);
	p[len] = ' ';
	return p + len + 1;
}

/* What comes before the payload, in one piece of memory that is surely large enough. */
static int put_head(struct text_sink *s, const struct event *ev, const struct line *line)
{
	uint32_t fields = line->fields;
	char *start = outbuf_room(&s->writer.out, HEAD_BYTES + line->name_room), *p = start;

	if (!p)
		return err_nomem();
	if (fields & TEXT_COMM) {
		const struct comm_text *c = comm_text(s, ev->pub.comm);

		if (!c)
			return err_nomem();
		if (__builtin_expect(line->bare_comm || c->len == COMM_TEXT_LONG, 0)) {
			p = put_odd_comm(p, sonde_session_string(s->session, ev->pub.comm));
		} else {
			memcpy(p, c->text, sizeof(*c));
			p += c->len;
		}
	}
	if (fields & TEXT_PID) {
		p = put_int(p, ev->pub.pid, s->id_width);
		*p++ = fields & TEXT_TID ? '/' : ' ';
	}
	if (fields & TEXT_TID) {
		p = fields & TEXT_PID ? put_int_left(p, ev->pub.tid, s->id_width)
				      : put_int(p, ev->pub.tid, s->id_width);
		*p++ = ' ';
	}
	if (fields & TEXT_CPU)
		p = put_cpu(p, ev->pub.cpu);
	if (fields & TEXT_TIME)
		p = put_time(p, ev->pub.time_ns, s->nanoseconds, &s->seconds);
	if (fields & TEXT_PERIOD) {
		p = put_digits(p, s->sample.period, 10, ' ');
		*p++ = ' ';
	}
	if (fields & TEXT_EVENT) {
		for (uint32_t i = 0; i < line->name_room; i += COPY_BYTES)
			memcpy(p + i, line->name + i, COPY_BYTES);
		p += line->name_len;
	}
	outbuf_advance(&s->writer.out, (size_t)(p - start));
	return 0;
}

/* Everything from addr on but the chain. */
static void put_tail(struct text_sink *s, const struct event *ev, const struct line *line)
{
	const struct sonde_sample *sample = &s->sample;
	struct outbuf *out = &s->writer.out;
	uint32_t fields = line->fields, names = fields & (TEXT_SYM | TEXT_SYMOFF | TEXT_DSO);

	if (fields & TEXT_ADDR)
		text_address_put(&s->frames, ev, sample->addr, ev->pub.cpumode,
				 line->addr_has_names ? names : 0, out);
	if (fields & TEXT_WEIGHT)
		outbuf_u64_width(out, sample->weight, 16, ' ');
	if (fields & TEXT_IP && line->has_chain) {
		outbuf_char(out, '\n');
		text_callchain_put(&s->frames, ev, names, out);
	} else if (fields & TEXT_IP) {
		outbuf_char(out, ' ');
		text_address_put(&s->frames, ev, sample->ip, ev->pub.cpumode, names, out);
	}
	if (fields & TEXT_PHYS_ADDR)
		outbuf_hex_width(out, sample->phys_addr, 16, ' ');
	if (fields & TEXT_DATA_PAGE_SIZE)
		put_page_size(out, sample->data_page_size);
	if (fields & TEXT_CODE_PAGE_SIZE)
		put_page_size(out, sample->code_page_size);
}

/* ---- the sink ---------------------------------------------------------------------------------------------------- */

static int text_event(struct sink *sink, const struct event *ev)
{
	struct text_sink *s = sink_of(sink);
	struct outbuf *out = &s->writer.out;
	const struct line *line;

	if (__builtin_expect(ev->pub.schema >= s->lines.n, 0))
		TRY(meet_late(s, ev->pub.schema));
	line = &s->lines.v[ev->pub.schema];
	if (!line->fields)
		return 0;
	/* A damaged sample is a defect that its source counts; its values are 0 here. */
	if (line->needs_sample && ev->source->ops->sample(ev->source, ev, &s->sample) < 0)
		s->sample = (struct sonde_sample){ .size = sizeof(s->sample) };
	TRY(put_head(s, ev, line));
	if (line->fields & TEXT_TRACE)
		session_event_text(ev, out);
	if (line->fields & (NEEDS_SAMPLE | TEXT_IP))
		put_tail(s, ev, line);
	outbuf_char(out, '\n');
	return fd_writer_tick(&s->writer);
}

static int text_finish(struct sink *sink)
{
	return fd_writer_flush(&sink_of(sink)->writer);
}

static void text_close(struct sink *sink)
{
	struct text_sink *s = sink_of(sink);

	if (!s)
		return;
	fd_writer_done(&s->writer);
	text_frames_done(&s->frames);
	arena_done(&s->arena);
	vec_done(&s->lines);
	vec_done(&s->comms);
	free(s);
}

static int text_open(struct sink **ret, const struct sink_options *opts)
{
	struct text_sink *s = calloc(1, sizeof(*s));
	const struct session_options *o = &opts->session->opts;
	size_t nr = sonde_session_schemas(opts->session);
	int r;

	if (!s)
		return err_nomem();
	s->base.ops = &text_sink_ops;
	s->session = opts->session;
	s->nanoseconds = o->ns;
	s->id_width = o->compat == SONDE_COMPAT_PERF_6_12 ? 7 : 5;
	seconds_text_init(&s->seconds);
	text_frames_init(&s->frames, o->compat);
	r = text_fields_parse(&s->fields, o->fields, o->callchain);
	if (r >= 0)
		r = fd_writer_init(&s->writer, opts->fd);
	if (r >= 0 && nr)
		r = meet_late(s, (uint32_t)nr - 1);
	if (r < 0) {
		text_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}

const struct sink_ops text_sink_ops = {
	.name = "text",
	.summary = "a line per event, as perf script prints it",
	.open = text_open,
	.event = text_event,
	.finish = text_finish,
	.close = text_close,
};
