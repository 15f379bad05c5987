/* SPDX-License-Identifier: MIT */
/*
 * Prints the list of build ids like perf buildid-list. All events must be read to know which files
 * samples hit. If the recording has no list of build ids, the hit files are printed.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "formats/perfdata/layout.h"
#include "recording/recording.h"
#include "sinks/fd_writer.h"
#include "sinks/sink_json.h"
#include "sinks/recorded_dsos.h"
#include "sinks/sink.h"
#include "sinks/text/terminal.h"
#include "sources/perfdata/view.h"

struct buildids_sink {
	struct sink base;
	struct fd_writer writer;
	struct recorded_dsos dsos;
	const char *input;
	bool hits_only;
	bool on_terminal;
};

static bool buildids_has_feature(struct recording *rec, unsigned feature)
{
	struct perfdata_view *view = perfdata_view_of(rec->source);
	struct perfdata_view_header head = { 0 };

	if (view)
		perfdata_view_header(view, &head);
	return head.features[feature / 64] >> feature % 64 & 1;
}

/*
 * The files hit by a processor's trace are unknown unless it is decoded, so the recording's list is
 * then used unchanged.
 */
struct buildids_options {
	uint32_t hits; /* flag: the files that samples hit, with and without build ids */
};

static const struct key keys[] = { KEY_FLAG("hits", struct buildids_options, hits) };

static bool buildids_wants_hits(struct recording *rec, const struct buildids_options *o)
{
	bool describes_late = source_read_traits(rec->source).describes_late;
	bool is_trace = buildids_has_feature(rec, FEAT_AUXTRACE) && !describes_late;

	return (o->hits && !is_trace) || describes_late ||
	       !buildids_has_feature(rec, FEAT_BUILD_ID);
}

static struct sink_wants buildids_wants(const struct sink_options *opts)
{
	return (struct sink_wants){ .samples = true, .records = true, .header = true };
}

static struct sink_wants buildids_json_wants(const struct sink_options *opts)
{
	return (struct sink_wants){
		.samples = true,
		.records = true,
		.header = true,
		.has_verdict = true,
	};
}

static int buildids_open_as(const struct sink_ops *ops, struct sink **ret,
			    const struct sink_options *opts)
{
	struct buildids_sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_nomem();
	s->base.ops = ops;
	s->input = opts->input;
	s->hits_only = buildids_wants_hits(opts->recordings->v, opts->own);
	s->on_terminal = opts->on_terminal || isatty(opts->fd);
	r = recorded_dsos_init(&s->dsos, opts->recordings->v);
	if (r >= 0)
		r = fd_writer_init(&s->writer, opts->fd);
	if (r < 0) {
		recorded_dsos_done(&s->dsos);
		free(s);
		return r;
	}
	*ret = &s->base;
	return 0;
}

static int buildids_open(struct sink **ret, const struct sink_options *opts)
{
	return buildids_open_as(&buildids_sink_ops, ret, opts);
}

static int buildids_json_open(struct sink **ret, const struct sink_options *opts)
{
	return buildids_open_as(&buildids_json_sink_ops, ret, opts);
}

static int buildids_event(struct sink *sink, const struct event *ev)
{
	return recorded_dsos_event(&((struct buildids_sink *)sink)->dsos, ev);
}

static int buildids_events(struct sink *sink, const struct event *const *events, size_t nr)
{
	return sink_each(sink, events, nr, buildids_event);
}

static bool buildids_is_done(const struct sink *sink)
{
	return !((const struct buildids_sink *)sink)->hits_only;
}

static int buildids_finish(struct sink *sink, bool complete)
{
	struct buildids_sink *s = (struct buildids_sink *)sink;
	struct outbuf *out = &s->writer.out;
	char hex[BUILD_ID_HEX_CHARS];

	TRY(recorded_dsos_update(&s->dsos));
	vec_foreach(dso, &s->dsos.list) {
		size_t start = out->len;

		if (s->hits_only && !dso->is_hit)
			continue;
		outbuf_fmt(out, "%-40s %s\n", build_id_hex(&dso->build_id, hex), dso->name);
		if (s->on_terminal)
			text_terminal_quiet(out, start, true);
	}
	return fd_writer_flush(&s->writer);
}

static int buildids_json_finish(struct sink *sink, bool complete)
{
	struct buildids_sink *s = (struct buildids_sink *)sink;
	struct json j = json_to(&s->writer.out);
	char hex[BUILD_ID_HEX_CHARS];

	TRY(recorded_dsos_update(&s->dsos));
	sink_json_begin(&j, "sonde-buildids", 1, s->input, complete);
	json_member_array(&j, "files");
	vec_foreach(dso, &s->dsos.list) {
		if (s->hits_only && !dso->is_hit)
			continue;
		json_newline(&j);
		json_object(&j);
		json_member_text(&j, "file", dso->name);
		if (build_id_is_known(&dso->build_id))
			json_member_text(&j, "build_id", build_id_hex(&dso->build_id, hex));
		json_end(&j);
	}
	json_end_line(&j);
	return fd_writer_flush(&s->writer);
}

static int buildids_flush(struct sink *sink)
{
	return 0;
}

static void buildids_close(struct sink *sink)
{
	struct buildids_sink *s = (struct buildids_sink *)sink;

	if (!s)
		return;
	fd_writer_done(&s->writer);
	recorded_dsos_done(&s->dsos);
	free(s);
}

const struct sink_ops buildids_sink_ops = {
	.name = "buildids",
	.summary =
		"a line per file whose build id the recording has, as perf buildid-list prints it",
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct buildids_options),
	.wants = buildids_wants,
	.open = buildids_open,
	.events = buildids_events,
	.is_done = buildids_is_done,
	.finish = buildids_finish,
	.flush = buildids_flush,
	.close = buildids_close,
};

const struct sink_ops buildids_json_sink_ops = {
	.name = "buildids-json",
	.summary = "the same as a JSON object",
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct buildids_options),
	.wants = buildids_json_wants,
	.open = buildids_json_open,
	.events = buildids_events,
	.is_done = buildids_is_done,
	.finish = buildids_json_finish,
	.flush = buildids_flush,
	.close = buildids_close,
};
