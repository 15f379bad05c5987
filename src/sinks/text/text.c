/* SPDX-License-Identifier: MIT */
/*
 * The text sink: a line per event in perf script's layout.
 *
 *	            bash  4711 [001]  1234.567890:     250000   cpu-clock:  ffffffff81000000 sym+0x10 (dso)
 *	comm(16)      tid  cpu  time              period(10) event        ip, or a newline and the call chain
 *	`----------------- head.c ---------------------------------' payload `-------- tail.c --------'
 */
#include <stdlib.h>

#include "base/err.h"
#include "session.h"
#include "sinks/text/line.h"
#include "sources/source.h"

static struct text_sink *sink_of(struct sink *s)
{
	return (struct text_sink *)s;
}

static int text_event(struct sink *sink, const struct event *ev)
{
	struct text_sink *s = sink_of(sink);
	struct outbuf *out = &s->writer.out;
	const struct line *line;

	if (__builtin_expect(ev->pub.schema >= s->lines.n, 0))
		TRY(text_lines_meet(s, ev->pub.schema));
	line = &s->lines.v[ev->pub.schema];
	if (!line->fields)
		return 0;
	/* A damaged sample is a defect that its source counts; its values are 0 here. */
	if (line->needs_sample && ev->source->ops->sample(ev->source, ev, &s->sample) < 0)
		s->sample = (struct sonde_sample){ .size = sizeof(s->sample) };
	TRY(text_head_put(s, ev, line));
	if (line->fields & TEXT_TRACE)
		session_event_text(ev, out);
	if (line->has_tail)
		text_tail_put(s, ev, line);
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
	text_branches_done(&s->branches);
	arena_done(&s->arena);
	vec_done(&s->lines);
	vec_done(&s->comms);
	free(s);
}

static void take_options(struct text_sink *s, const struct session_options *o)
{
	s->compat = s->branches.compat = o->compat;
	s->arch = sonde_session_info(s->session, "arch");
	s->nanoseconds = o->ns;
	s->latency = o->latency;
	s->times = o->reltime ? TIMES_FROM_FIRST : o->deltatime ? TIMES_BETWEEN : TIMES_RECORDED;
	s->id_width = o->compat == SONDE_COMPAT_PERF_6_12 ? 7 : 5;
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
	take_options(s, o);
	seconds_text_init(&s->seconds);
	text_frames_init(&s->frames, o->compat);
	r = text_fields_parse(&s->fields, o->fields, o->callchain, o->compat, NULL);
	if (r >= 0)
		r = fd_writer_init(&s->writer, opts->fd);
	if (r >= 0 && nr)
		r = text_lines_meet(s, (uint32_t)nr - 1);
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
