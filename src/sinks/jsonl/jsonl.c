/* SPDX-License-Identifier: MIT */
/*
 * The JSON lines sink: a header, an object per event, lines for losses and defects where they were met, a summary
 * (docs/formats/jsonl.md). What a type's lines have in common is made once (struct jsonl_type), comms once each.
 */
#include "sinks/jsonl/jsonl.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "base/err.h"
#include "session.h"
#include "sinks/jsonl/json.h"
#include "sources/source.h"

/* Sample values that are members of "sample"; those left out are elsewhere in the line or say nothing to others. */
#define SAMPLE_MEMBERS                                                                         \
	((uint64_t)PERF_SAMPLE_PERIOD | PERF_SAMPLE_IP | PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | \
	 PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER |           \
	 PERF_SAMPLE_WEIGHT_TYPE | PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION |            \
	 PERF_SAMPLE_REGS_INTR | PERF_SAMPLE_PHYS_ADDR | PERF_SAMPLE_CGROUP |                  \
	 PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE)

static struct jsonl_sink *sink_of(struct sink *s)
{
	return (struct jsonl_sink *)s;
}

/* ---- event types ------------------------------------------------------------------------------------------------- */

/* Records of state are shown when events=all or an option for text names them; losses, counts and errors always. */
static bool record_shown(const struct jsonl_sink *s, const char *name)
{
	const struct session_options *o = &s->session->opts;
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

/* What was written to `from`, kept as long as the sink. No text: out of memory. */
static struct jsonl_text keep(struct jsonl_sink *s, struct outbuf *from)
{
	struct jsonl_text kept = { .len = (uint32_t)from->len };

	if (!from->failed)
		kept.text = arena_strndup(&s->arena, from->data, from->len);
	from->len = 0;
	return kept;
}

static int make_keys(struct jsonl_sink *s, const struct sonde_schema *sc, struct jsonl_type *type)
{
	struct jsonl_text *keys = arena_array(&s->arena, sc->nr_fields + 1, sizeof(*keys));
	struct outbuf text = { 0 };
	bool failed = !keys;

	for (size_t i = 0; i < sc->nr_fields && !failed; i++) {
		const struct sonde_field *f = &sc->fields[i];

		/* The event's name and the thread stand in the line already. */
		keys[i] = (struct jsonl_text){ 0 };
		if (f->is_common &&
		    (!strcmp(f->name, "common_type") || !strcmp(f->name, "common_pid")))
			continue;
		outbuf_char(&text, ',');
		json_text(&text, f->name);
		outbuf_char(&text, ':');
		keys[i] = keep(s, &text);
		failed = !keys[i].text;
	}
	outbuf_done(&text);
	type->keys = keys;
	return failed ? err_nomem() : 0;
}

static int make_type(struct jsonl_sink *s, const struct sonde_schema *sc, struct jsonl_type *type)
{
	const struct perf_event_attr *attr = sc->attr;
	uint64_t sample_type = attr ? attr->sample_type : 0;
	bool is_record = sc->kind == SONDE_RECORD;
	struct outbuf text = { 0 };

	type->shown = sc->kind <= SONDE_SAMPLE || (is_record && record_shown(s, sc->name));
	type->has_fields = sc->kind == SONDE_TRACEPOINT || is_record;
	if (sc->kind <= SONDE_SAMPLE) {
		type->has_sample = !attr || sample_type & SAMPLE_MEMBERS;
		type->has_chain = sample_type & PERF_SAMPLE_CALLCHAIN && s->session->opts.callchain;
		type->has_place = sc->kind == SONDE_SAMPLE && sample_type & PERF_SAMPLE_IP &&
				  !type->has_chain;
	}
	outbuf_str(&text, is_record ? "{\"record\":" : "{\"event\":");
	json_text(&text, sc->name);
	type->head = keep(s, &text);
	outbuf_done(&text);
	if (!type->head.text)
		return err_nomem();
	return type->has_fields ? make_keys(s, sc, type) : 0;
}

static int meet(struct jsonl_sink *s, uint32_t schema)
{
	while (s->types.n <= schema) {
		const struct sonde_schema *sc = sonde_session_schema(s->session, s->types.n);
		struct jsonl_type type = { 0 };

		if (sc)
			TRY(make_type(s, sc, &type));
		TRY(vec_push(&s->types, type));
	}
	return 0;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* ,"comm":"bash" made once. No text: out of memory. */
static struct jsonl_text comm_member(struct jsonl_sink *s, uint32_t comm)
{
	struct outbuf text = { 0 };

	while (s->comms.n <= comm)
		if (vec_push(&s->comms, (struct jsonl_text){ 0 }) < 0)
			return (struct jsonl_text){ 0 };
	if (!s->comms.v[comm].text) {
		json_member_text(&text, "comm", sonde_session_string(s->session, comm));
		s->comms.v[comm] = keep(s, &text);
		outbuf_done(&text);
	}
	return s->comms.v[comm];
}

static int put_head(struct jsonl_sink *s, const struct jsonl_type *type, const struct event *event)
{
	const struct sonde_event *ev = &event->pub;
	struct outbuf *out = &s->writer.out;
	struct jsonl_text comm;

	outbuf_put(out, type->head.text, type->head.len);
	if (ev->time_ns != SONDE_NO_TIME)
		json_member_u64(out, "time", ev->time_ns);
	if (event->session->part_of)
		json_member_u64(out, "input", event->session->part);
	if (ev->flags & SONDE_EVENT_LATE)
		outbuf_str(out, ",\"late\":true");
	if (ev->cpu >= 0)
		json_member_u64(out, "cpu", (uint32_t)ev->cpu);
	if (ev->pid == -1 && ev->tid == -1)
		return 0;
	json_member_i64(out, "pid", ev->pid);
	json_member_i64(out, "tid", ev->tid);
	comm = comm_member(s, ev->comm);
	if (!comm.text)
		return err_nomem();
	outbuf_put(out, comm.text, comm.len);
	return 0;
}

static int jsonl_event(struct sink *sink, const struct event *ev)
{
	struct jsonl_sink *s = sink_of(sink);
	struct outbuf *out = &s->writer.out;
	struct sonde_sample sample;
	struct jsonl_type *type;

	if (__builtin_expect(ev->schema->kind == SONDE_DEFECT, 0)) {
		jsonl_defect_put(ev->session, out);
		return fd_writer_tick(&s->writer);
	}
	if (__builtin_expect(ev->pub.schema >= s->types.n, 0))
		TRY(meet(s, ev->pub.schema));
	type = &s->types.v[ev->pub.schema];
	if (!type->shown)
		return 0;
	type->count++;
	TRY(put_head(s, type, ev));
	if (type->has_fields)
		jsonl_fields_put(type, ev, out);
	else if (ev->schema->kind == SONDE_SAMPLE && ev->pub.bytes_len) {
		outbuf_str(out, ",\"raw\":");
		json_hex(out, ev->pub.bytes, ev->pub.bytes_len);
	}
	if (type->has_sample) {
		int r = ev->source->ops->sample(ev->source, ev, &sample);

		if (r == -ENOMEM)
			return r;
		/* A damaged sample is a defect that its source counts; it has no values. */
		if (r >= 0)
			jsonl_sample_put(ev, &sample, out);
		if (r >= 0 && type->has_place)
			jsonl_place_put(ev, sample.ip, out);
	}
	if (type->has_chain)
		jsonl_chain_put(ev, out);
	outbuf_put(out, "}\n", 2);
	return fd_writer_tick(&s->writer);
}

/* ---- the sink ---------------------------------------------------------------------------------------------------- */

static int jsonl_finish(struct sink *sink, bool complete)
{
	struct jsonl_sink *s = sink_of(sink);

	if (s->session->opts.header < HEADER_ONLY)
		jsonl_summary_put(s, complete, &s->writer.out);
	return fd_writer_flush(&s->writer);
}

static int jsonl_flush(struct sink *sink)
{
	return fd_writer_flush(&sink_of(sink)->writer);
}

static void jsonl_close(struct sink *sink)
{
	struct jsonl_sink *s = sink_of(sink);

	if (!s)
		return;
	fd_writer_done(&s->writer);
	arena_done(&s->arena);
	vec_done(&s->types);
	vec_done(&s->comms);
	free(s);
}

/* What is about lines of text has no meaning here; to pass over it would be to promise it. */
static int check_options(const struct session_options *o)
{
	const struct {
		const char *name;
		bool given;
	} wrong[] = {
		{ "fields (-F)", o->fields },
		{ "dump (-D)", o->dump },
		{ "per-event-dump", o->per_event_dump },
		{ "deltatime", o->deltatime },
		{ "latency (-L)", o->latency },
		{ "max-blocks", o->max_blocks != UINT64_MAX },
		{ "show-round-events", o->show_round },
		{ "header-info (-I)", o->header_info },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (wrong[i].given)
			return err_set(-EINVAL,
				       "%s is for text: format=jsonl writes all that is known of "
				       "each event (choose events with time, cpu, pid, comm)",
				       wrong[i].name);
	return 0;
}

static int jsonl_open(struct sink **ret, const struct sink_options *opts)
{
	struct jsonl_sink *s;
	size_t nr = sonde_session_schemas(opts->session);
	int r;

	TRY(check_options(&opts->session->opts));
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->base.ops = &jsonl_sink_ops;
	s->session = opts->session;
	s->all_records = opts->session->opts.events;
	r = fd_writer_init(&s->writer, opts->fd);
	if (r >= 0 && nr)
		r = meet(s, (uint32_t)nr - 1);
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
	.takes_records = true,
	.takes_several = true,
	.open = jsonl_open,
	.event = jsonl_event,
	.finish = jsonl_finish,
	.flush = jsonl_flush,
	.close = jsonl_close,
};
