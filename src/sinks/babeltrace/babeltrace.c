/* SPDX-License-Identifier: MIT */
/*
 * Prints the events of CTF traces as babeltrace2 does by default: time of day, time since the event
 * before, host and process, name, then the scopes with their fields (docs/formats/ctf.md).
 */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "base/vec.h"
#include "model/printfmt/digits.h"
#include "sinks/fd_writer.h"
#include "sinks/sink.h"
#include "sinks/text/terminal.h"
#include "sinks/text_only.h"
#include "sources/ctf/view.h"

/* HEAD_BYTES: those in front of the host, and what is written behind a short number. */
enum { NS_IN_S = 1000000000, HEAD_BYTES = 80 };

/* What all lines of one packet have in common. */
struct packet_text {
	uint64_t off;
	bool is_known, has_any;
	struct outbuf text; /* its context */
};

/* "host:proc:(42) name: " of a class; "" if it is not made yet. */
struct class_text {
	struct outbuf text;
};

/* One trace of the session. */
struct trace {
	struct ctf_source *source;
	struct class_text *classes; /* owned */
	uint32_t nr_classes;
	struct outbuf host;              /* "host:proc:(42) " */
	VEC(struct packet_text) packets; /* by file */
};

struct babeltrace_sink {
	struct sink base;
	struct fd_writer writer;
	const struct recordings *recordings;
	VEC(struct trace) traces; /* by recording */
	bool on_terminal;
	bool has_last;
	uint64_t last_ns; /* of the line before */
	bool has_second;
	uint64_t second; /* whose time of day is in clock */
	char clock[8];   /* "HH:MM:SS" */
};

static struct babeltrace_sink *babeltrace_sink_of(struct sink *s)
{
	return (struct babeltrace_sink *)s;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void babeltrace_two_digits(char *to, int v)
{
	memcpy(to, digit_pairs + 2 * (v % 100), 2);
}

/* Finds the time of day in the local time zone. */
static void babeltrace_know_second(struct babeltrace_sink *s, uint64_t second)
{
	const time_t t = (time_t)second;
	struct tm tm = { 0 };

	if (s->has_second && s->second == second)
		return;
	localtime_r(&t, &tm);
	s->has_second = true;
	s->second = second;
	memcpy(s->clock, "00:00:00", 8);
	babeltrace_two_digits(s->clock, tm.tm_hour);
	babeltrace_two_digits(s->clock + 3, tm.tm_min);
	babeltrace_two_digits(s->clock + 6, tm.tm_sec);
}

/* A point and nine digits. */
static char *babeltrace_write_ns(char *to, uint32_t ns)
{
	to[0] = '.';
	to[1] = (char)('0' + ns / 100000000);
	pf_store_le(to + 2, pf_decimal_word(ns % 100000000) | UINT64_C(0x3030303030303030));
	return to + 10;
}

/* "[HH:MM:SS.nnnnnnnnn] (+S.nnnnnnnnn) " */
static void babeltrace_put_time(struct babeltrace_sink *s, uint64_t ns)
{
	struct outbuf *out = &s->writer.out;
	const uint64_t delta = ns > s->last_ns ? ns - s->last_ns : 0;
	char *to = outbuf_room(out, HEAD_BYTES), *start = to;

	if (!to)
		return;
	babeltrace_know_second(s, ns / NS_IN_S);
	*to++ = '[';
	memcpy(to, s->clock, sizeof(s->clock));
	to = babeltrace_write_ns(to + sizeof(s->clock), (uint32_t)(ns % NS_IN_S));
	memcpy(to, "] (+", 4);
	to += 4;
	if (s->has_last) {
		to = pf_write_u64(to, delta / NS_IN_S);
		to = babeltrace_write_ns(to, (uint32_t)(delta % NS_IN_S));
	} else {
		memcpy(to, "?.?????????", 11);
		to += 11;
	}
	memcpy(to, ") ", 2);
	outbuf_advance(out, (size_t)(to + 2 - start));
	s->has_last = true;
	s->last_ns = ns;
}

/* ---- traces ---------------------------------------------------------------------------------- */

static void babeltrace_trace_done(struct trace *t)
{
	vec_foreach(packet, &t->packets)
		outbuf_done(&packet->text);
	vec_done(&t->packets);
	for (uint32_t i = 0; i < t->nr_classes; i++)
		outbuf_done(&t->classes[i].text);
	free(t->classes);
	outbuf_done(&t->host);
}

static int babeltrace_add_trace(struct babeltrace_sink *s, const struct recording *rec)
{
	struct trace t = { .source = ctf_view_of(rec->source) };
	struct ctf_view_env env;

	if (!t.source)
		return err_set(-EINVAL, "format babeltrace is for CTF traces; %s is a %s recording",
			       rec->input, rec->source->ops->name);
	ctf_view_env(t.source, &env);
	if (env.hostname)
		outbuf_str(&t.host, env.hostname);
	if (env.procname)
		outbuf_fmt(&t.host, "%s%s", t.host.len ? ":" : "", env.procname);
	if (env.vpid >= 0)
		outbuf_fmt(&t.host, "%s(%lld)", t.host.len ? ":" : "", (long long)env.vpid);
	if (t.host.len)
		outbuf_char(&t.host, ' ');
	t.nr_classes = ctf_view_classes(t.source);
	t.classes = calloc(t.nr_classes + 1, sizeof(*t.classes));
	if (!t.classes || t.host.failed || vec_push(&s->traces, t) < 0) {
		free(t.classes);
		outbuf_done(&t.host);
		return err_nomem();
	}
	return 0;
}

/* The context of the event's packet, made for the first event of the packet. */
static int babeltrace_know_packet(struct trace *t, const struct event *ev,
				  const struct packet_text **ret)
{
	uint64_t file, off;
	struct packet_text *p;

	ctf_view_packet(t->source, ev, &file, &off);
	while (t->packets.n <= file)
		if (vec_push(&t->packets, (struct packet_text){ 0 }) < 0)
			return err_nomem();
	p = &t->packets.v[file];
	*ret = p;
	if (p->is_known && p->off == off)
		return 0;
	p->text.len = 0;
	p->has_any = false;
	p->off = off;
	p->is_known = true;
	if (ctf_view_put_packet(t->source, ev, &p->has_any, &p->text) < 0)
		p->text.len = 0;
	return p->text.failed ? err_nomem() : 0;
}

/* ---- lines ----------------------------------------------------------------------------------- */

/* What follows the time in all lines of a class. */
static const struct outbuf *babeltrace_class_text(struct trace *t, const struct event *ev,
						  const char *name)
{
	struct outbuf *text = &t->classes[ctf_view_class(ev)].text;

	if (!text->len) {
		outbuf_put(text, t->host.data, t->host.len);
		outbuf_str(text, *name ? name : "<unknown>");
		outbuf_put(text, ": ", 2);
	}
	return text;
}

static int babeltrace_put_event(struct sink *sink, const struct event *ev)
{
	struct babeltrace_sink *s = babeltrace_sink_of(sink);
	struct trace *t = &s->traces.v[ev->recording->nr];
	struct outbuf *out = &s->writer.out;
	const size_t start = out->len;
	const char *name = ctf_view_name(t->source, ev);
	const struct packet_text *packet;
	const struct outbuf *head;
	bool has_any;

	if (!name)
		return 0;
	TRY(babeltrace_know_packet(t, ev, &packet));
	head = babeltrace_class_text(t, ev, name);
	if (head->failed)
		return err_nomem();
	if (ev->pub.time_ns != SONDE_NO_TIME)
		babeltrace_put_time(s, ev->pub.time_ns);
	outbuf_put(out, head->data, head->len);
	outbuf_put(out, packet->text.data, packet->text.len);
	has_any = packet->has_any;
	/* decode() has read the same bytes without a fault. */
	(void)ctf_view_put_fields(t->source, ev, &has_any, out);
	if (s->on_terminal && !out->failed)
		text_terminal_quiet(out, start, false);
	outbuf_char(out, '\n');
	return fd_writer_tick(&s->writer);
}

static int babeltrace_events(struct sink *s, const struct event *const *events, size_t nr)
{
	return sink_each(s, events, nr, babeltrace_put_event);
}

/* ---- options --------------------------------------------------------------------------------- */

static const struct key keys[] = { ONE_FORM_KEYS(struct one_form_options, ) };

static const char babeltrace_instead[] =
	"the lines of format=babeltrace have one form (choose events "
	"with time, cpu, pid, comm)";

/* ---- the sink -------------------------------------------------------------------------------- */

static int babeltrace_flush(struct sink *sink)
{
	return fd_writer_flush(&babeltrace_sink_of(sink)->writer);
}

static int babeltrace_finish(struct sink *sink, bool complete)
{
	(void)complete;
	return babeltrace_flush(sink);
}

static void babeltrace_close(struct sink *sink)
{
	struct babeltrace_sink *s = babeltrace_sink_of(sink);

	if (!s)
		return;
	fd_writer_done(&s->writer);
	vec_foreach(trace, &s->traces)
		babeltrace_trace_done(trace);
	vec_done(&s->traces);
	free(s);
}

static struct sink_wants babeltrace_wants(const struct sink_options *opts)
{
	(void)opts;
	return (struct sink_wants){ .samples = true, .no_values = true };
}

static int babeltrace_open(struct sink **ret, const struct sink_options *opts)
{
	struct babeltrace_sink *s;
	int r;

	TRY(one_form_refuse(opts->own, babeltrace_instead));
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->base.ops = &babeltrace_sink_ops;
	s->recordings = opts->recordings;
	s->on_terminal = opts->on_terminal || isatty(opts->fd);
	r = fd_writer_init(&s->writer, opts->fd);
	for (size_t i = 0; i < opts->recordings->nr && r >= 0; i++)
		r = babeltrace_add_trace(s, &opts->recordings->v[i]);
	if (r < 0) {
		babeltrace_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}

const struct sink_ops babeltrace_sink_ops = {
	.name = "babeltrace",
	.summary = "a line per event of a CTF trace, as babeltrace2 prints it",
	.takes_several = true,
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct one_form_options),
	.wants = babeltrace_wants,
	.open = babeltrace_open,
	.events = babeltrace_events,
	.finish = babeltrace_finish,
	.flush = babeltrace_flush,
	.close = babeltrace_close,
};
