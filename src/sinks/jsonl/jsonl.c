/* SPDX-License-Identifier: MIT */
/*
 * The JSON lines sink: writes a header, one object per event, lines for losses and defects where
 * they were met, and a summary (docs/formats/jsonl.md). The common parts of a type's lines are made
 * once (struct jsonl_type), and each comm is made once.
 */
#include "sinks/jsonl/jsonl.h"

#include <stdlib.h>

#include "base/err.h"
#include "model/sampled.h"
#include "model/value.h"
#include "recording/recording.h"
#include "sources/source.h"

/*
 * Sample values that are members of "sample". Other values are elsewhere in the line, or are
 * useless outside the recording.
 */
#define SAMPLE_MEMBERS                                                                      \
	(SAMPLED_PERIOD | SAMPLED_IP | SAMPLED_ADDR | SAMPLED_READ | SAMPLED_BRANCH_STACK | \
	 SAMPLED_REGS_USER | SAMPLED_STACK_USER | SAMPLED_WEIGHTS | SAMPLED_DATA_SRC |      \
	 SAMPLED_TRANSACTION | SAMPLED_REGS_INTR | SAMPLED_PHYS_ADDR | SAMPLED_CGROUP |     \
	 SAMPLED_DATA_PAGE_SIZE | SAMPLED_CODE_PAGE_SIZE)

static struct jsonl_sink *jsonl_sink_of(struct sink *s)
{
	return (struct jsonl_sink *)s;
}

/* ---- event types ----------------------------------------------------------------------------- */

/*
 * True if a record is shown. Records of state are shown if events=all is set or an option for text
 * names them; losses, counts and errors are always shown.
 */
static bool jsonl_record_shown(const struct jsonl_sink *s, const char *name)
{
	const struct line_options *o = &s->o->lines;
	const struct {
		const char *name;
		bool shown;
	} records[] = {
		{ "lost", true },
		{ "lost_samples", true },
		{ "stat", true },
		{ "stat_round", true },
		{ "auxtrace_error", true },
		{ "comm", o->show_task },
		{ "fork", o->show_task },
		{ "exit", o->show_task },
		{ "mmap", o->show_mmap },
		{ "mmap2", o->show_mmap },
		{ "switch", o->show_switch },
		{ "switch_cpu_wide", o->show_switch },
		{ "namespaces", o->show_namespace },
		{ "cgroup", o->show_cgroup },
		{ "ksymbol", o->show_bpf },
		{ "bpf_event", o->show_bpf },
		{ "text_poke", o->show_text_poke },
	};

	for (size_t i = 0; i < sizeof(records) / sizeof(*records); i++)
		if (!strcmp(records[i].name, name))
			return records[i].shown || s->all_records;
	return s->all_records;
}

/* Copies the text in `from` to the sink's arena. Returns an empty piece if out of memory. */
static struct json_piece jsonl_keep(struct jsonl_sink *s, struct outbuf *from)
{
	struct json_piece kept = { .len = (uint32_t)from->len };

	if (!from->failed)
		kept.text = arena_strndup(&s->arena, from->data, from->len);
	from->len = 0;
	return kept;
}

static int jsonl_make_names(struct jsonl_sink *s, const struct sonde_schema *sc,
			    struct jsonl_type *type)
{
	struct json_piece *names = arena_array(&s->arena, sc->nr_fields + 1, sizeof(*names));
	bool *is_plain = arena_array(&s->arena, sc->nr_fields + 1, sizeof(*is_plain));
	struct outbuf text = { 0 };
	bool failed = !names || !is_plain;

	for (size_t i = 0; i < sc->nr_fields && !failed; i++) {
		const struct sonde_field *f = &sc->fields[i];
		struct json j = json_piece_to(&text);

		/* The event's name and the thread are already in the line. */
		names[i] = (struct json_piece){ 0 };
		if (f->is_common &&
		    (!strcmp(f->name, "common_type") || !strcmp(f->name, "common_pid")))
			continue;
		json_name(&j, f->name, strlen(f->name));
		names[i] = jsonl_keep(s, &text);
		failed = !names[i].text;
		is_plain[i] = f->kind == SONDE_FIELD_INT && value_has_width(f->width) &&
			      !field_is_special(f);
	}
	outbuf_done(&text);
	type->names = names;
	type->is_plain = is_plain;
	return failed ? err_nomem() : 0;
}

static int jsonl_make_type(struct jsonl_sink *s, const struct sonde_schema *sc,
			   struct jsonl_type *type)
{
	bool is_record = sc->kind == SONDE_RECORD;
	struct outbuf text = { 0 };
	struct json j = json_to(&text);

	type->shown = sc->kind <= SONDE_SAMPLE || (is_record && jsonl_record_shown(s, sc->name));
	type->has_fields = sc->kind == SONDE_TRACEPOINT || is_record;
	if (sc->kind <= SONDE_SAMPLE) {
		type->has_sample = sc->sampled & SAMPLE_MEMBERS;
		type->has_chain = sc->sampled & SAMPLED_CALLCHAIN && s->callchain;
		type->has_place =
			sc->kind == SONDE_SAMPLE && sc->sampled & SAMPLED_IP && !type->has_chain;
	}
	json_object(&j);
	if (is_record)
		json_member_text(&j, "record", sc->name);
	else
		json_member_text(&j, "event", sc->name);
	type->head = jsonl_keep(s, &text);
	outbuf_done(&text);
	if (!type->head.text)
		return err_nomem();
	return type->has_fields ? jsonl_make_names(s, sc, type) : 0;
}

static int jsonl_meet(struct jsonl_sink *s, uint32_t schema)
{
	while (s->types.n <= schema) {
		const struct sonde_schema *sc = schema_at(&s->recordings->schemas, s->types.n);
		struct jsonl_type type = { 0 };

		if (sc)
			TRY(jsonl_make_type(s, sc, &type));
		TRY(vec_push(&s->types, type));
	}
	return 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* The member ,"comm":"bash", made once per comm. Empty if out of memory. */
static struct json_piece jsonl_comm_member(struct jsonl_sink *s, uint32_t comm)
{
	struct outbuf text = { 0 };

	while (s->comms.n <= comm)
		if (vec_push(&s->comms, (struct json_piece){ 0 }) < 0)
			return (struct json_piece){ 0 };
	if (!s->comms.v[comm].text) {
		struct json j = json_piece_to(&text);

		json_member_text(&j, "comm", strpool_text(&s->recordings->strings, comm));
		s->comms.v[comm] = jsonl_keep(s, &text);
		outbuf_done(&text);
	}
	return s->comms.v[comm];
}

static int jsonl_put_head(struct jsonl_sink *s, const struct jsonl_type *type,
			  const struct event *event, struct json *j)
{
	const struct sonde_event *ev = &event->pub;
	struct json_piece comm;

	json_object_piece(j, &type->head);
	if (ev->time_ns != SONDE_NO_TIME)
		json_member_u64(j, "time", ev->time_ns);
	if (s->recordings->nr > 1)
		json_member_u64(j, "input", event->recording->nr);
	if (ev->flags & SONDE_EVENT_LATE)
		json_member_bool(j, "late", true);
	if (ev->cpu >= 0)
		json_member_u64(j, "cpu", (uint32_t)ev->cpu);
	if (ev->pid == -1 && ev->tid == -1)
		return 0;
	json_member_i64(j, "pid", ev->pid);
	json_member_i64(j, "tid", ev->tid);
	comm = jsonl_comm_member(s, ev->comm);
	if (!comm.text)
		return err_nomem();
	json_member_piece(j, &comm);
	return 0;
}

static int jsonl_event(struct sink *sink, const struct event *ev)
{
	struct jsonl_sink *s = jsonl_sink_of(sink);
	struct json j = json_to(&s->writer.out);
	struct sonde_sample sample;
	struct jsonl_type *type;

	if (__builtin_expect(ev->schema->kind == SONDE_DEFECT, 0)) {
		jsonl_defect_put(ev->recording, j.out);
		return fd_writer_tick(&s->writer);
	}
	if (__builtin_expect(ev->pub.schema >= s->types.n, 0))
		TRY(jsonl_meet(s, ev->pub.schema));
	type = &s->types.v[ev->pub.schema];
	if (!type->shown)
		return 0;
	type->count++;
	TRY(jsonl_put_head(s, type, ev, &j));
	if (type->has_fields)
		jsonl_fields_put(type, ev, &j);
	else if (ev->schema->kind == SONDE_SAMPLE && ev->pub.bytes_len)
		json_member_hex(&j, "raw", ev->pub.bytes, ev->pub.bytes_len);
	if (type->has_sample && source_has_sample_values(ev->source)) {
		int r = source_sample(ev->source, ev, &sample);

		if (r == -ENOMEM)
			return r;
		/* A damaged sample is a defect that its source counts; it has no values. */
		if (r >= 0)
			jsonl_sample_put(ev, &sample, &j);
		if (r >= 0 && type->has_place)
			jsonl_place_put(ev, sample.ip, &j);
	}
	if (type->has_chain)
		jsonl_chain_put(ev, &j);
	json_end_line(&j);
	return fd_writer_tick(&s->writer);
}

static int jsonl_events(struct sink *sink, const struct event *const *events, size_t nr)
{
	return sink_each(sink, events, nr, jsonl_event);
}

/* ---- the sink -------------------------------------------------------------------------------- */

static int jsonl_finish(struct sink *sink, bool complete)
{
	struct jsonl_sink *s = jsonl_sink_of(sink);

	if (s->o->lines.header < HEADER_ONLY)
		jsonl_summary_put(s, complete, &s->writer.out);
	return fd_writer_flush(&s->writer);
}

static int jsonl_flush(struct sink *sink)
{
	return fd_writer_flush(&jsonl_sink_of(sink)->writer);
}

static void jsonl_close(struct sink *sink)
{
	struct jsonl_sink *s = jsonl_sink_of(sink);

	if (!s)
		return;
	fd_writer_done(&s->writer);
	arena_done(&s->arena);
	vec_done(&s->types);
	vec_done(&s->comms);
	free(s);
}

static const struct key keys[] = {
	LINE_OPTIONS_KEYS(struct jsonl_options, lines),
	TEXT_ONLY_KEYS(struct jsonl_options, text),
};

/* Refuses options for text lines, which would have no effect here. */
static int jsonl_check_options(const struct jsonl_options *o)
{
	static const char instead[] = "format=jsonl writes all that is known of each event (choose "
				      "events with time, cpu, pid, comm)";

	TRY(text_only_refuse(&o->text, instead));
	return o->lines.show_round ? text_only_refuse_option("show-round-events", instead) : 0;
}

static struct sink_wants jsonl_wants(const struct sink_options *opts)
{
	const struct jsonl_options *o = opts->own;

	return (struct sink_wants){
		.samples = o->lines.header < HEADER_ONLY,
		.records = true,
		.defects = true,
	};
}

static int jsonl_open(struct sink **ret, const struct sink_options *opts)
{
	struct jsonl_sink *s;
	size_t nr = opts->recordings->schemas.schemas.n;
	int r;

	TRY(jsonl_check_options(opts->own));
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->base.ops = &jsonl_sink_ops;
	s->recordings = opts->recordings;
	s->o = opts->own;
	s->input = opts->input;
	s->clock = opts->clock;
	s->callchain = opts->callchain;
	s->all_records = opts->all_events;
	r = fd_writer_init(&s->writer, opts->fd);
	if (r >= 0 && nr)
		r = jsonl_meet(s, (uint32_t)nr - 1);
	if (r < 0) {
		jsonl_close(&s->base);
		return r;
	}
	jsonl_header_put(s, &s->writer.out);
	*ret = &s->base;
	return 0;
}

const struct sink_ops jsonl_sink_ops = {
	.name = "jsonl",
	.summary = "a JSON object per event, for programs",
	.takes_several = true,
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct jsonl_options),
	.wants = jsonl_wants,
	.open = jsonl_open,
	.events = jsonl_events,
	.finish = jsonl_finish,
	.flush = jsonl_flush,
	.close = jsonl_close,
};
