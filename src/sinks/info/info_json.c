/* SPDX-License-Identifier: MIT */
/* sonde info for programs: one JSON object, a line for each of its members. docs/formats/info-json.md describes it. */
#include "formats/perfdata/layout.h"
#include "sinks/info/info.h"
#include "sinks/jsonl/json.h"
#include "sinks/jsonl/jsonl.h"
#include "sinks/text/header.h"

enum { VERSION = 1 };

static void put_file(struct info_sink *s, struct outbuf *out)
{
	struct source_header head = info_head(s);
	uint64_t bytes = 0;
	unsigned files = 0;
	bool has_size = info_data(s, &files, &bytes);
	const char *comma = "";

	outbuf_fmt(out, ",\n\"file\":{\"kind\":\"%s\"",
		   head.is_pipe ? "pipe"
		   : files > 1  ? "directory"
				: "file");
	if (has_size) {
		json_member_u64(out, "files", files);
		json_member_u64(out, "data_bytes", bytes);
	}
	json_member_u64(out, "data_offset", head.data_off);
	json_member_u64(out, "header_version", head.version);
	json_member_i64(out, "changed", head.changed_s);
	outbuf_fmt(out, ",\"compressed\":%s,\"features\":[",
		   info_is_compressed(s) ? "true" : "false");
	for (unsigned feature = 0; feature < NR_FEATURES; feature++) {
		const char *name = text_header_feature_name(feature);

		if (!(head.features[feature / 64] >> feature % 64 & 1))
			continue;
		outbuf_str(out, comma);
		if (name)
			json_text(out, name);
		else
			json_u64(out, feature);
		comma = ",";
	}
	outbuf_str(out, "]}");
}

static void put_clock(struct info_sink *s, struct outbuf *out)
{
	struct source_clock c = info_clock_of(s);
	uint64_t first, last;

	outbuf_str(out, ",\n\"clock\":{\"id\":");
	if (c.id < 0)
		outbuf_str(out, "null");
	else
		json_i64(out, c.id);
	json_member_text(out, "name",
			 c.id < 0                ? "perf"
			 : info_clock_name(c.id) ? info_clock_name(c.id)
						 : "?");
	if (c.has_resolution)
		json_member_u64(out, "resolution_ns", c.resolution_ns);
	if (c.has_reference) {
		json_member_u64(out, "wall_ns", c.wall_ns);
		json_member_u64(out, "clock_ns", c.clock_ns);
	}
	outbuf_str(out, "},\n\"span\":");
	if (!info_span(s, &first, &last)) {
		outbuf_str(out, "null");
		return;
	}
	outbuf_str(out, "{\"first_ns\":");
	json_u64(out, first);
	json_member_u64(out, "last_ns", last);
	if (s->session->clock.has_wall) {
		json_member_u64(out, "first_wall_ns", first + (uint64_t)s->session->clock.wall_ns);
		json_member_u64(out, "last_wall_ns", last + (uint64_t)s->session->clock.wall_ns);
	}
	json_member_text(out, "of", s->samples ? "samples" : "header");
	outbuf_char(out, '}');
}

static void put_events(struct info_sink *s, struct outbuf *out)
{
	const struct sonde_schema *sc;
	const char *comma = "";

	outbuf_str(out, ",\n\"events\":[");
	for (uint32_t id = 0; (sc = sonde_session_schema(s->session, id)) != NULL; id++) {
		struct info_event e = info_counts_of(s, sc);

		if (sc->kind > SONDE_SAMPLE || sc->is_newer)
			continue;
		outbuf_fmt(out, "%s{\"name\":", comma);
		json_text(out, schema_newest(sc)->name);
		if (!s->session->opts.no_events) {
			json_member_u64(out, "samples", e.samples);
			json_member_u64(out, "throttled", e.throttled);
		}
		outbuf_char(out, '}');
		comma = ",";
	}
	outbuf_char(out, ']');
}

static void put_counts(struct info_sink *s, struct outbuf *out)
{
	uint64_t traces, trace_bytes;
	const char *comma = "";

	outbuf_str(out, ",\n\"cpus\":[");
	for (size_t cpu = 0; cpu < s->cpus.n; cpu++) {
		if (!s->cpus.v[cpu])
			continue;
		outbuf_fmt(out, "%s{\"cpu\":%zu", comma, cpu);
		json_member_u64(out, "samples", s->cpus.v[cpu]);
		outbuf_char(out, '}');
		comma = ",";
	}
	outbuf_str(out, "],\n\"lost\":[");
	comma = "";
	vec_foreach(l, &s->losses) {
		const struct sonde_schema *sc =
			sonde_session_schema(s->session, (uint32_t)l->schema);

		if (!info_loss_counts(s, l))
			continue;
		outbuf_fmt(out, "%s{\"event\":", comma);
		if (sc)
			json_text(out, sc->name);
		else
			outbuf_str(out, "null");
		if (l->cpu >= 0)
			json_member_i64(out, "cpu", l->cpu);
		json_member_u64(out, "count", l->lost);
		outbuf_char(out, '}');
		comma = ",";
	}
	outbuf_str(out, "],\n\"records\":{");
	comma = "";
	for (int type = 0; type < INFO_RECORD_KINDS; type++) {
		if (!s->records[type])
			continue;
		outbuf_fmt(out, "%s\"%s\":", comma, type ? s->record_names[type] : "others");
		json_u64(out, s->records[type]);
		comma = ",";
	}
	info_traces(s, &traces, &trace_bytes);
	outbuf_str(out, "},\n\"trace\":{\"records\":");
	json_u64(out, traces);
	json_member_u64(out, "bytes", trace_bytes);
	outbuf_char(out, '}');
}

static void put_build_ids(struct info_sink *s, struct outbuf *out)
{
	const char *comma = "";

	outbuf_str(out, ",\n\"build_ids\":[");
	vec_foreach(dso, &s->dsos.list) {
		if (!*dso->build_id)
			continue;
		outbuf_fmt(out, "%s{\"file\":", comma);
		json_text(out, dso->name);
		json_member_text(out, "build_id", dso->build_id);
		outbuf_char(out, '}');
		comma = ",";
	}
	outbuf_char(out, ']');
	if (s->session->opts.no_events)
		return;
	outbuf_str(out, ",\n\"missing_build_ids\":[");
	comma = "";
	vec_foreach(dso, &s->dsos.list) {
		if (!info_lacks_build_id(dso))
			continue;
		outbuf_str(out, comma);
		json_text(out, dso->name);
		comma = ",";
	}
	outbuf_char(out, ']');
}

static void put_unknown(struct info_sink *s, struct outbuf *out)
{
	const char *comma = "";

	outbuf_str(out, ",\n\"missing_symbols\":[");
	vec_foreach(dso, &s->dsos.list) {
		if (!dso->unknown)
			continue;
		outbuf_fmt(out, "%s{\"file\":", comma);
		json_text(out, dso->name);
		json_member_text(out, "why", sonde_unknown_text(dso->unknown));
		outbuf_char(out, '}');
		comma = ",";
	}
	outbuf_str(out, "],\"unmapped_samples\":");
	json_u64(out, s->dsos.unmapped);
}

static void put_defects(struct info_sink *s, struct outbuf *out)
{
	const struct sonde_defect *d;

	outbuf_str(out, ",\n\"defects\":[");
	for (size_t i = 0; (d = sonde_session_defect(s->session, i)) != NULL; i++) {
		if (i)
			outbuf_char(out, ',');
		jsonl_defect_object_put(d, "name", out);
	}
	outbuf_char(out, ']');
}

static int json_open(struct sink **ret, const struct sink_options *opts)
{
	return info_open(ret, opts, &info_json_sink_ops);
}

static int json_finish(struct sink *sink, bool complete)
{
	struct info_sink *s = (struct info_sink *)sink;
	struct outbuf *out = &s->writer.out;

	outbuf_fmt(out, "{\"schema\":\"sonde-info\",\"version\":%d", VERSION);
	json_member_text(out, "sonde", sonde_version());
	json_member_text(out, "input", s->session->opts.input);
	outbuf_fmt(out, ",\"complete\":%s",
		   complete && !s->session->opts.no_events &&
				   !s->session->defects.count[DEFECT_ENDED_EARLY] ?
			   "true" :
			   "false");
	put_file(s, out);
	outbuf_str(out, ",\n\"host\":{");
	jsonl_facts_put(s->session->source, "", out);
	outbuf_char(out, '}');
	put_clock(s, out);
	put_events(s, out);
	if (!s->session->opts.no_events)
		put_counts(s, out);
	put_build_ids(s, out);
	if (!s->session->opts.no_events)
		put_unknown(s, out);
	put_defects(s, out);
	outbuf_str(out, "}\n");
	return fd_writer_flush(&s->writer);
}

const struct sink_ops info_json_sink_ops = {
	.name = "info-json",
	.summary = "the same as a JSON object",
	.takes_records = true,
	.open = json_open,
	.event = info_event,
	.is_done = info_is_done,
	.finish = json_finish,
	.flush = info_flush,
	.close = info_close,
};
