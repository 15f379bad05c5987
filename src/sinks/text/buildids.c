/* SPDX-License-Identifier: MIT */
/*
 * The list of build ids, as perf buildid-list prints it. Which files samples lie in is known from the events alone; so is
 * what a recording has without a list of its own: then only those files are told of.
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "formats/perfdata/layout.h"
#include "session.h"
#include "sinks/fd_writer.h"
#include "sinks/jsonl/json.h"
#include "sinks/recorded_dsos.h"
#include "sinks/sink.h"
#include "sinks/text/terminal.h"

struct buildids_sink {
	struct sink base;
	struct fd_writer writer;
	struct recorded_dsos dsos;
	bool hits_only;
	bool on_terminal;
};

static bool has_feature(struct sonde_session *s, unsigned feature)
{
	struct source_header head = { 0 };

	return s->source->ops->header && s->source->ops->header(s->source, &head) >= 0 &&
	       head.features[feature / 64] >> feature % 64 & 1;
}

/* What a processor's trace hits is not known without decoding it, so its recording's list is taken as it is. */
static bool wants_hits(struct sonde_session *s)
{
	bool is_trace = has_feature(s, FEAT_AUXTRACE) && !session_in_pipe_mode(s);

	return (s->opts.hits && !is_trace) || session_in_pipe_mode(s) ||
	       !has_feature(s, FEAT_BUILD_ID);
}

static int open_as(const struct sink_ops *ops, struct sink **ret, const struct sink_options *opts)
{
	struct buildids_sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_nomem();
	s->base.ops = ops;
	s->hits_only = wants_hits(opts->session);
	s->on_terminal = opts->session->opts.terminal || isatty(opts->fd);
	r = recorded_dsos_init(&s->dsos, opts->session);
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
	return open_as(&buildids_sink_ops, ret, opts);
}

static int buildids_json_open(struct sink **ret, const struct sink_options *opts)
{
	return open_as(&buildids_json_sink_ops, ret, opts);
}

static int buildids_event(struct sink *sink, const struct event *ev)
{
	return recorded_dsos_event(&((struct buildids_sink *)sink)->dsos, ev);
}

static bool buildids_is_done(const struct sink *sink)
{
	return !((const struct buildids_sink *)sink)->hits_only;
}

static int buildids_finish(struct sink *sink, bool complete)
{
	struct buildids_sink *s = (struct buildids_sink *)sink;
	struct outbuf *out = &s->writer.out;

	TRY(recorded_dsos_update(&s->dsos));
	vec_foreach(dso, &s->dsos.list) {
		size_t start = out->len;

		if (s->hits_only && !dso->is_hit)
			continue;
		outbuf_fmt(out, "%-40s %s\n", dso->build_id, dso->name);
		if (s->on_terminal)
			text_terminal_quiet(out, start, true);
	}
	return fd_writer_flush(&s->writer);
}

static int buildids_json_finish(struct sink *sink, bool complete)
{
	struct buildids_sink *s = (struct buildids_sink *)sink;
	struct outbuf *out = &s->writer.out;
	const char *comma = "\n";

	TRY(recorded_dsos_update(&s->dsos));
	outbuf_str(out, "{\"schema\":\"sonde-buildids\",\"version\":1");
	json_member_text(out, "sonde", sonde_version());
	json_member_text(out, "input", s->dsos.session->opts.input);
	outbuf_fmt(out, ",\"complete\":%s,\"files\":[", complete ? "true" : "false");
	vec_foreach(dso, &s->dsos.list) {
		if (s->hits_only && !dso->is_hit)
			continue;
		outbuf_fmt(out, "%s{\"file\":", comma);
		json_text(out, dso->name);
		if (*dso->build_id)
			json_member_text(out, "build_id", dso->build_id);
		outbuf_char(out, '}');
		comma = ",\n";
	}
	outbuf_str(out, "]}\n");
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
	.takes_records = true,
	.lists_header = true,
	.open = buildids_open,
	.event = buildids_event,
	.is_done = buildids_is_done,
	.finish = buildids_finish,
	.flush = buildids_flush,
	.close = buildids_close,
};

const struct sink_ops buildids_json_sink_ops = {
	.name = "buildids-json",
	.summary = "the same as a JSON object",
	.takes_records = true,
	.lists_header = true,
	.reports_complete = true,
	.open = buildids_json_open,
	.event = buildids_event,
	.is_done = buildids_is_done,
	.finish = buildids_json_finish,
	.flush = buildids_flush,
	.close = buildids_close,
};
