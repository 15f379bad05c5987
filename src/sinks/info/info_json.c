/* SPDX-License-Identifier: MIT */
/*
 * Writes sonde info for programs: one JSON object with one line per member.
 * docs/formats/info-json.md describes it.
 */
#include "recording/locate.h"
#include "sinks/info/info.h"
#include "sinks/sink_json.h"

enum { VERSION = 1 };

/* Starts a member of the object on its own line; a value follows. */
#define LINE(j, name) (json_newline(j), json_literal_name(j, name))

static void info_json_put_file(struct info_sink *s, struct json *j)
{
	struct source_fact fact;
	uint64_t bytes = 0;
	unsigned files = 0;
	bool has_size = info_data(s, &files, &bytes);

	LINE(j, "file");
	json_object(j);
	json_member_text(j, "kind", info_kind(s, files));
	if (has_size) {
		json_member_u64(j, "files", files);
		json_member_u64(j, "data_bytes", bytes);
	}
	for (size_t i = 0; source_fact_at(s->rec->source, i, &fact); i++) {
		if (fact.about == FACT_FILE && fact.value && strcmp(fact.key, "kind") != 0)
			sink_json_fact(j, &fact);
	}
	json_end(j);
}

static void info_json_put_clock(struct info_sink *s, struct json *j)
{
	struct source_clock c = source_read_clock(s->rec->source);

	LINE(j, "clock");
	json_object(j);
	if (c.id < 0)
		json_member_null(j, "id");
	else
		json_member_i64(j, "id", c.id);
	json_member_text(j, "name",
			 !c.is_known             ? c.name ? c.name : "?"
			 : c.id < 0              ? "perf"
			 : info_clock_name(c.id) ? info_clock_name(c.id)
						 : "?");
	if (c.has_resolution)
		json_member_u64(j, "resolution_ns", c.resolution_ns);
	if (c.has_reference) {
		json_member_u64(j, "wall_ns", c.wall_ns);
		json_member_u64(j, "clock_ns", c.clock_ns);
	}
	json_end(j);
}

static void info_json_put_span(struct info_sink *s, struct json *j)
{
	uint64_t first, last;

	LINE(j, "span");
	if (!info_span(s, &first, &last)) {
		json_null(j);
		return;
	}
	json_object(j);
	json_member_u64(j, "first_ns", first);
	json_member_u64(j, "last_ns", last);
	if (s->rec->clock.has_wall) {
		json_member_u64(j, "first_wall_ns", first + (uint64_t)s->rec->clock.wall_ns);
		json_member_u64(j, "last_wall_ns", last + (uint64_t)s->rec->clock.wall_ns);
	}
	json_member_text(j, "of", s->samples ? "samples" : "header");
	json_end(j);
}

static void info_json_put_events(struct info_sink *s, struct json *j)
{
	const struct sonde_schema *sc;

	if (s->no_events && s->traits.has_fixed_types)
		return;
	LINE(j, "events");
	json_array(j);
	for (uint32_t id = 0; (sc = schema_at(&s->rec->all->schemas, id)) != NULL; id++) {
		struct info_event e = info_counts_of(s, sc);

		if (!info_shows_event(s, sc))
			continue;
		json_object(j);
		json_member_text(j, "name", schema_newest(sc)->name);
		if (!s->no_events)
			json_member_u64(j, "samples", e.samples);
		if (!s->no_events && s->traits.reports_types)
			json_member_u64(j, "throttled", e.throttled);
		json_end(j);
	}
	json_end(j);
}

static void info_json_put_cpus(struct info_sink *s, struct json *j)
{
	LINE(j, "cpus");
	json_array(j);
	for (size_t cpu = 0; cpu < s->cpus.n; cpu++) {
		if (!s->cpus.v[cpu])
			continue;
		json_object(j);
		json_member_u64(j, "cpu", cpu);
		json_member_u64(j, "samples", s->cpus.v[cpu]);
		json_end(j);
	}
	json_end(j);
}

static void info_json_put_losses(struct info_sink *s, struct json *j)
{
	LINE(j, "lost");
	json_array(j);
	vec_foreach(l, &s->losses) {
		const struct sonde_schema *sc =
			schema_at(&s->rec->all->schemas, (uint32_t)l->schema);

		if (!info_loss_counts(s, l))
			continue;
		json_object(j);
		if (sc)
			json_member_text(j, "event", sc->name);
		else
			json_member_null(j, "event");
		if (l->cpu >= 0)
			json_member_i64(j, "cpu", l->cpu);
		json_member_u64(j, "count", l->lost);
		json_end(j);
	}
	json_end(j);
}

static void info_json_put_counts(struct info_sink *s, struct json *j)
{
	uint64_t traces, trace_bytes;

	info_json_put_cpus(s, j);
	info_json_put_losses(s, j);
	LINE(j, "records");
	json_object(j);
	vec_foreach(kind, &s->kinds) {
		json_name(j, kind->schema->event, strlen(kind->schema->event));
		json_u64(j, kind->records);
	}
	json_end(j);
	if (!source_count_traces(s->rec->source, &traces, &trace_bytes))
		return;
	LINE(j, "trace");
	json_object(j);
	json_member_u64(j, "records", traces);
	json_member_u64(j, "bytes", trace_bytes);
	json_end(j);
}

static void info_json_put_build_ids(struct info_sink *s, struct json *j)
{
	char hex[BUILD_ID_HEX_CHARS];

	LINE(j, "build_ids");
	json_array(j);
	vec_foreach(dso, &s->dsos.list) {
		if (!build_id_is_known(&dso->build_id))
			continue;
		json_object(j);
		json_member_text(j, "file", dso->name);
		json_member_text(j, "build_id", build_id_hex(&dso->build_id, hex));
		json_end(j);
	}
	json_end(j);
	if (s->no_events)
		return;
	LINE(j, "missing_build_ids");
	json_array(j);
	vec_foreach(dso, &s->dsos.list) {
		if (info_lacks_build_id(dso))
			json_text(j, dso->name);
	}
	json_end(j);
}

static void info_json_put_unknown(struct info_sink *s, struct json *j)
{
	LINE(j, "missing_symbols");
	json_array(j);
	vec_foreach(dso, &s->dsos.list) {
		if (!dso->unknown)
			continue;
		json_object(j);
		json_member_text(j, "file", dso->name);
		json_member_text(j, "why", locate_unknown_text(dso->unknown));
		json_end(j);
	}
	json_end(j);
	json_member_u64(j, "unmapped_samples", s->dsos.unmapped);
}

static void info_json_put_defects(struct info_sink *s, struct json *j)
{
	const struct sonde_defect *d;

	LINE(j, "defects");
	json_array(j);
	for (size_t i = 0; (d = recordings_defect(s->rec->all, i)) != NULL; i++) {
		json_object(j);
		json_member_text(j, "name", d->name);
		sink_json_defect(j, d);
		json_end(j);
	}
	json_end(j);
}

static int json_open(struct sink **ret, const struct sink_options *opts)
{
	return info_open(ret, opts, &info_json_sink_ops);
}

static int json_finish(struct sink *sink, bool complete)
{
	struct info_sink *s = (struct info_sink *)sink;
	struct json j = json_to(&s->writer.out);

	TRY(info_sort_kinds(s));
	complete &= !s->no_events && !s->rec->defects.count[DEFECT_ENDED_EARLY];
	sink_json_begin(&j, "sonde-info", VERSION, s->input, complete);
	info_json_put_file(s, &j);
	LINE(&j, "host");
	json_object(&j);
	sink_json_facts(&j, s->rec->source);
	json_end(&j);
	info_json_put_clock(s, &j);
	info_json_put_span(s, &j);
	info_json_put_events(s, &j);
	if (!s->no_events)
		info_json_put_counts(s, &j);
	if (source_has_build_ids(s->rec->source)) {
		info_json_put_build_ids(s, &j);
		if (!s->no_events)
			info_json_put_unknown(s, &j);
	}
	info_json_put_defects(s, &j);
	json_end_line(&j);
	return fd_writer_flush(&s->writer);
}

const struct sink_ops info_json_sink_ops = {
	.name = "info-json",
	.summary = "the same as a JSON object",
	.keys = info_keys,
	.nr_keys = NR_INFO_KEYS,
	.options_bytes = sizeof(struct info_options),
	.wants = info_wants,
	.open = json_open,
	.events = info_events,
	.finish = json_finish,
	.flush = info_flush,
	.close = info_close,
};
