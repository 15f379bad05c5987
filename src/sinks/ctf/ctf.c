/* SPDX-License-Identifier: MIT */
/*
 * Writes the events of any input as a CTF 1.8 trace, for babeltrace2 and Trace Compass
 * (docs/formats/ctf.md).
 *
 *	event --> context and fields (shape.c) --> packet of its cpu's stream --> its file
 *	end:      metadata: the types with events
 *
 * Readers need ascending times in a stream. An older event is in a further stream of its cpu.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "base/write_all.h"
#include "formats/ctf/stream_writer.h"
#include "formats/ctf/tsdl_put.h"
#include "formats/tracefs/eventformat_put.h"
#include "model/sampled.h"
#include "sinks/carried.h"
#include "sinks/ctf/shape.h"
#include "sinks/sink.h"

enum { MOST_TYPES = UINT16_MAX, MOST_STREAMS_OF_CPU = 64, MOST_CPU = 65535, MOST_ENV = 12 };
/* Bytes behind the fields that fill up a record. */
enum { LARGEST_PADDING = 7 };

/* By the id of its schema. */
struct ctf_sink_type {
	bool is_made;
	uint16_t id;
	struct ctf_shape shape;
	bool is_in[NR_CTF_STREAM_IDS]; /* streams of the class have events of it */
	uint64_t cut;                  /* events with more bytes than fields */
};

struct ctf_sink_cpu {
	VEC(struct ctf_stream_writer) streams; /* owned */
};

struct ctf_sink {
	struct sink base;
	int dir; /* borrowed */
	struct recordings *recordings;
	enum clock_shown clock;
	bool callchain, has_clock;
	struct carried carried;
	uint8_t uuid[CTF_UUID_BYTES];
	VEC(struct ctf_sink_type) types;
	uint32_t nr_types;             /* made */
	VEC(struct ctf_sink_cpu) cpus; /* [0]: events without a cpu; cpu c: [c + 1] */
	uint64_t nr_streams;
	bool has_common; /* events have the kernel's common fields */
};

static struct ctf_sink *ctf_sink_of(struct sink *s)
{
	return (struct ctf_sink *)s;
}

/* ---- streams --------------------------------------------------------------------------------- */

static int ctf_sink_add_stream(struct ctf_sink *s, struct ctf_sink_cpu *c, int32_t cpu,
			       struct ctf_stream_writer **ret)
{
	struct ctf_stream_writer w;
	char name[CTF_STREAM_NAME_BYTES], number[24] = "";

	if (c->streams.n)
		snprintf(number, sizeof(number), "_%zu", c->streams.n);
	if (cpu < 0)
		snprintf(name, sizeof(name), "no_cpu%s", number);
	else
		snprintf(name, sizeof(name), "cpu_%d%s", cpu, number);
	ctf_stream_writer_init(&w, s->dir, s->uuid, name, s->nr_streams++);
	w.id = cpu < 0 ? CTF_STREAM_OF_NO_CPU : CTF_STREAM_OF_CPU;
	w.cpu = cpu;
	w.has_clock = s->has_clock;
	if (vec_push(&c->streams, w) < 0)
		return err_nomem();
	*ret = &c->streams.v[c->streams.n - 1];
	return 0;
}

/* Events without a cpu, and those of impossible ones, have streams of their own. */
static int ctf_sink_cpu(struct ctf_sink *s, int32_t *cpu, struct ctf_sink_cpu **ret)
{
	if (*cpu < 0 || *cpu > MOST_CPU)
		*cpu = -1;
	while (s->cpus.n <= (size_t)*cpu + 1)
		if (vec_push(&s->cpus, (struct ctf_sink_cpu){ 0 }) < 0)
			return err_nomem();
	*ret = &s->cpus.v[*cpu + 1];
	return 0;
}

/* The stream for something of this time. *ret is NULL if there would be too many streams. */
static int ctf_sink_stream(struct ctf_sink *s, int32_t cpu, uint64_t time_ns,
			   struct ctf_stream_writer **ret)
{
	struct ctf_sink_cpu *c;

	*ret = NULL;
	TRY(ctf_sink_cpu(s, &cpu, &c));
	for (size_t i = c->streams.n; i-- > 0;) {
		if (c->streams.v[i].last_ns <= time_ns) {
			*ret = &c->streams.v[i];
			return 0;
		}
	}
	return c->streams.n < MOST_STREAMS_OF_CPU ? ctf_sink_add_stream(s, c, cpu, ret) : 0;
}

/* ---- losses ---------------------------------------------------------------------------------- */

/* Only the counter of a stream's first packet has an unknown number. */
static int ctf_sink_put_loss(struct ctf_sink *s, int32_t cpu, uint64_t time_ns,
			     struct carried_lost lost)
{
	struct ctf_stream_writer *w;
	struct ctf_sink_cpu *c;

	TRY(ctf_sink_cpu(s, &cpu, &c));
	w = c->streams.n ? &c->streams.v[c->streams.n - 1] : NULL;
	if (!w || (!lost.is_counted && !ctf_stream_writer_is_new(w) &&
		   c->streams.n < MOST_STREAMS_OF_CPU))
		TRY(ctf_sink_add_stream(s, c, cpu, &w));
	return ctf_stream_writer_lost(w, time_ns, lost.events,
				      !lost.is_counted && ctf_stream_writer_is_new(w));
}

static int ctf_sink_loss(struct ctf_sink *s, const struct event *ev)
{
	struct carried_lost lost;

	if (!carried_loss(&s->carried, ev, &lost))
		return 0;
	return ctf_sink_put_loss(s, ev->pub.cpu, carried_time(&s->carried, ev), lost);
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool ctf_sink_takes(const struct ctf_sink *s, const struct sonde_schema *sc)
{
	return sc->kind <= SONDE_SAMPLE && !(sc->traits & SCHEMA_PAIR) && s->nr_types < MOST_TYPES;
}

/* *ret is NULL if the events of the type have no place. */
static int ctf_sink_type_of(struct ctf_sink *s, const struct event *ev, struct ctf_sink_type **ret)
{
	struct ctf_sink_type *t;

	*ret = NULL;
	while (s->types.n <= ev->pub.schema)
		if (vec_push(&s->types, (struct ctf_sink_type){ 0 }) < 0)
			return err_nomem();
	t = &s->types.v[ev->pub.schema];
	if (!t->is_made) {
		if (!ctf_sink_takes(s, ev->schema))
			return 0;
		TRY(ctf_shape_make(&t->shape, ev->schema, ev->pub.flags & SONDE_EVENT_SWAPPED,
				   s->callchain));
		t->id = (uint16_t)s->nr_types++;
		t->is_made = true;
		s->has_common |= eventformat_has_common(ev->schema);
	}
	*ret = t;
	return 0;
}

/*
 * The name that is shown: ":TID" if it is not known. babeltrace2 2.0.4 prints an earlier name for
 * an empty one.
 */
static const char *ctf_sink_comm(const struct ctf_sink *s, const struct event *ev)
{
	return strpool_text(&s->recordings->strings, ev->pub.comm);
}

static int ctf_sink_event(struct sink *sink, const struct event *ev)
{
	struct ctf_sink *s = ctf_sink_of(sink);
	const uint64_t time_ns = carried_time(&s->carried, ev);
	struct carried_type *carried;
	struct ctf_stream_writer *w = NULL;
	struct ctf_sink_type *t;
	int r = carried_kind_of(&s->carried, ev);

	if (r != CARRIED_SAMPLE)
		return r == CARRIED_LOSS ? ctf_sink_loss(s, ev) : r < 0 ? r : 0;
	carried = carried_type_of(&s->carried, ev, &r);
	if (!carried)
		return r;
	TRY(ctf_sink_type_of(s, ev, &t));
	if (t)
		TRY(ctf_sink_stream(s, ev->pub.cpu, time_ns, &w));
	if (!w) {
		carried->refused++;
		return 0;
	}
	carried_written(&s->carried, carried, ev);
	t->is_in[w->id] = true;
	if (ev->pub.bytes_len > LARGEST_PADDING &&
	    ev->pub.bytes_len - LARGEST_PADDING > t->shape.end)
		t->cut++;
	ctf_stream_writer_event(w, t->id, time_ns);
	TRY(ctf_shape_put(&t->shape, ev, ctf_sink_comm(s, ev), &w->out));
	return ctf_stream_writer_tick(w);
}

static int ctf_sink_events(struct sink *sink, const struct event *const *events, size_t nr)
{
	return sink_each(sink, events, nr, ctf_sink_event);
}

/* ---- metadata -------------------------------------------------------------------------------- */

static struct tsdl_clock ctf_sink_clock(const struct ctf_sink *s)
{
	static const struct {
		int32_t id;
		const char *name;
	} known[] = {
		{ CLOCK_REALTIME, "realtime" },
		{ CLOCK_MONOTONIC, "monotonic" },
		{ CLOCK_MONOTONIC_RAW, "monotonic_raw" },
		{ CLOCK_BOOTTIME, "boottime" },
		{ CLOCK_TAI, "tai" },
	};
	const struct source_clock c = source_read_clock(s->recordings->v->source);
	struct tsdl_clock clock = { .name = "trace", .description = "the clock of the recording" };

	if (s->clock == CLOCK_SHOWN_RELATIVE) {
		clock.description = "time since the first sample";
	} else if (s->clock != CLOCK_SHOWN_RAW || (c.is_known && c.id == CLOCK_REALTIME)) {
		clock = (struct tsdl_clock){ .name = "realtime",
					     .description = "time since 1970",
					     .is_absolute = true };
	} else if (c.is_known) {
		for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
			if (known[i].id == c.id)
				clock.name = known[i].name;
		if (c.has_reference && c.reference_id == c.id && c.wall_ns < INT64_MAX &&
		    c.clock_ns < INT64_MAX)
			clock.offset_ns = (int64_t)(c.wall_ns - c.clock_ns);
	}
	return clock;
}

static void ctf_sink_add_env(struct tsdl_env *env, size_t *nr, const char *name, const char *text)
{
	if (text && *text)
		env[(*nr)++] = (struct tsdl_env){ .name = name, .text = text };
}

/*
 * The contexts that all events have in addition to their fields, for sonde as a reader. NULL if
 * some events of the recording have such contexts of their own.
 */
static const char *ctf_sink_added(const struct ctf_sink *s)
{
	enum { PID = 1, TID = 2, COMM = 4 };
	static const char *const added[] = {
		[PID] = "pid",
		[PID | TID] = "pid tid",
		[COMM] = "procname",
		[PID | COMM] = "pid procname",
		[PID | TID | COMM] = "pid tid procname",
	};
	unsigned all = PID | TID | COMM;

	for (size_t i = 0; i < s->types.n; i++) {
		const struct ctf_shape *shape = &s->types.v[i].shape;

		if (s->types.v[i].is_made)
			all &= (shape->adds_pid ? PID : 0) | (shape->adds_tid ? TID : 0) |
			       (shape->adds_comm ? COMM : 0);
	}
	return added[all];
}

/* Versions of the tracer, because readers ask for them. */
static size_t ctf_sink_env(const struct ctf_sink *s, struct tsdl_env env[MOST_ENV])
{
	struct source *source = s->recordings->v->source;
	size_t nr = 0;
	char *end;

	ctf_sink_add_env(env, &nr, "hostname", source_fact(source, "hostname"));
	ctf_sink_add_env(env, &nr, "sysname", s->has_common ? "Linux" : NULL);
	ctf_sink_add_env(env, &nr, "kernel_release", source_fact(source, "osrelease"));
	ctf_sink_add_env(env, &nr, "machine", source_fact(source, "arch"));
	ctf_sink_add_env(env, &nr, "domain", s->has_common ? "kernel" : NULL);
	ctf_sink_add_env(env, &nr, "tracer_name", "sonde");
	env[nr++] = (struct tsdl_env){ .name = "tracer_major",
				       .number = strtoul(SONDE_VERSION, &end, 10) };
	env[nr++] = (struct tsdl_env){ .name = "tracer_minor",
				       .number = *end ? strtoul(end + 1, NULL, 10) : 0 };
	ctf_sink_add_env(env, &nr, "source_format", source->ops->name);
	ctf_sink_add_env(env, &nr, "added_contexts", ctf_sink_added(s));
	return nr;
}

static void ctf_sink_put_types(const struct ctf_sink *s, struct outbuf *o)
{
	for (size_t i = 0; i < s->types.n; i++) {
		const struct ctf_sink_type *t = &s->types.v[i];

		for (int id = 0; t->is_made && id < NR_CTF_STREAM_IDS; id++) {
			const struct tsdl_event ev = {
				.name = s->carried.types.v[i].schema->name,
				.id = t->id,
				.stream = (enum ctf_stream_id)id,
				.context = t->shape.context.data,
				.context_len = t->shape.context.len,
				.fields = t->shape.fields.data,
				.fields_len = t->shape.fields.len,
			};

			if (t->is_in[id])
				tsdl_put_event(o, &ev);
		}
	}
}

static int ctf_sink_write_file(const struct ctf_sink *s, const char *name, const struct outbuf *o)
{
	const int fd = openat(s->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	int r = fd < 0 ? -errno : write_all(fd, o->data, o->len);

	if (fd >= 0 && close(fd) < 0 && r == 0)
		r = -errno;
	return r < 0 ? err_errno(-r, "cannot write the file %s of the trace", name) : 0;
}

static int ctf_sink_write_metadata(const struct ctf_sink *s)
{
	struct tsdl_env env[MOST_ENV];
	struct tsdl_head head = {
		.uuid = s->uuid,
		.has_clock = s->has_clock,
		.clock = ctf_sink_clock(s),
		.env = env,
		.nr_env = ctf_sink_env(s, env),
	};
	struct outbuf o = { 0 };
	int r;

	for (size_t i = 0; i < s->cpus.n; i++)
		head.has[i ? CTF_STREAM_OF_CPU : CTF_STREAM_OF_NO_CPU] |=
			s->cpus.v[i].streams.n > 0;
	tsdl_put_head(&o, &head);
	ctf_sink_put_types(s, &o);
	r = o.failed ? err_nomem() : ctf_sink_write_file(s, "metadata", &o);
	outbuf_done(&o);
	return r;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int ctf_sink_end_streams(struct ctf_sink *s)
{
	const uint64_t elsewhere = carried_lost_elsewhere(&s->carried);

	if (elsewhere)
		TRY(ctf_sink_put_loss(s, 0, s->carried.last_ns,
				      (struct carried_lost){ elsewhere, true }));
	vec_foreach(cpu, &s->cpus)
		vec_foreach(w, &cpu->streams)
			TRY(ctf_stream_writer_end(w));
	return 0;
}

/* A kernel's stack may have more entries than its field. */
static void ctf_sink_note_cut(struct ctf_sink *s)
{
	struct outbuf *notes = &s->base.notes;
	const char *before = "bytes behind the fields of events are not written: ";

	for (size_t i = 0; i < s->types.n; i++) {
		if (!s->types.v[i].cut)
			continue;
		outbuf_fmt(notes, "%s%s %llu", before, s->carried.types.v[i].schema->name,
			   (unsigned long long)s->types.v[i].cut);
		before = ", ";
	}
	if (*before == ',')
		outbuf_char(notes, '\n');
}

static int ctf_sink_finish(struct sink *sink, bool complete)
{
	struct ctf_sink *s = ctf_sink_of(sink);

	if (!complete)
		return 0; /* a trace without metadata is of no use */
	TRY(ctf_sink_end_streams(s));
	TRY(ctf_sink_write_metadata(s));
	s->base.wrote_none = !s->nr_types;
	carried_put_notes(&s->carried, ctf_shape_sampled, &s->base.notes);
	ctf_sink_note_cut(s);
	return 0;
}

static int ctf_sink_flush(struct sink *sink __attribute__((unused)))
{
	return 0;
}

static void ctf_sink_close(struct sink *sink)
{
	struct ctf_sink *s = ctf_sink_of(sink);

	if (!s)
		return;
	vec_foreach(cpu, &s->cpus) {
		vec_foreach(w, &cpu->streams)
			ctf_stream_writer_done(w);
		vec_done(&cpu->streams);
	}
	vec_foreach(t, &s->types)
		ctf_shape_done(&t->shape);
	vec_done(&s->cpus);
	vec_done(&s->types);
	carried_done(&s->carried);
	free(s);
}

static struct sink_wants ctf_sink_wants(const struct sink_options *opts __attribute__((unused)))
{
	return (struct sink_wants){ .samples = true, .records = true };
}

static int ctf_sink_check_dir(const struct ctf_sink *s)
{
	struct stat st;

	if (fstat(s->dir, &st) < 0)
		return err_errno(errno, "cannot write the trace");
	if (!S_ISDIR(st.st_mode))
		return err_set(-ENOTDIR, "format=ctf writes the files of a trace into a folder: "
					 "open a folder for it");
	return 0;
}

/* False if all described types have no times. Streams describe theirs later. */
static bool ctf_sink_has_times(const struct recordings *all)
{
	bool has_types = false;

	for (size_t i = 0; i < all->schemas.schemas.n; i++) {
		const struct sonde_schema *sc = all->schemas.schemas.v[i];

		if (sc->kind > SONDE_SAMPLE || sc->traits & SCHEMA_DUMMY)
			continue;
		has_types = true;
		if (sc->sampled & SAMPLED_TIME)
			return true;
	}
	return !has_types;
}

/* A random UUID, version 4. */
static void ctf_sink_make_uuid(uint8_t uuid[CTF_UUID_BYTES])
{
	if (getrandom(uuid, CTF_UUID_BYTES, 0) != CTF_UUID_BYTES)
		memset(uuid, 0, CTF_UUID_BYTES);
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
}

static int ctf_sink_open(struct sink **ret, const struct sink_options *opts)
{
	struct ctf_sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_nomem();
	s->base.ops = &ctf_sink_ops;
	s->dir = opts->fd;
	s->recordings = opts->recordings;
	s->clock = opts->clock;
	s->callchain = opts->callchain;
	s->has_clock = ctf_sink_has_times(opts->recordings);
	ctf_sink_make_uuid(s->uuid);
	r = carried_init(&s->carried, opts->recordings, "CTF");
	if (r == 0)
		r = ctf_sink_check_dir(s);
	if (r < 0)
		ctf_sink_close(&s->base);
	else
		*ret = &s->base;
	return r;
}

const struct sink_ops ctf_sink_ops = {
	.name = "ctf",
	.summary = "a trace in the Common Trace Format",
	.wants = ctf_sink_wants,
	.open = ctf_sink_open,
	.events = ctf_sink_events,
	.finish = ctf_sink_finish,
	.flush = ctf_sink_flush,
	.close = ctf_sink_close,
};
