/* SPDX-License-Identifier: MIT */
/* The head of a line: task, cpu, flags, time, name of the event. */

#include <stdlib.h>

#include "sinks/tracecmd/tracecmd.h"

enum { COMM_WIDTH = 16, SHORT_COMM_WIDTH = 8, PID_WIDTH = 5, NAME_WIDTH = 20 };

static void line_right_aligned(struct outbuf *out, const char *text, size_t len, size_t width)
{
	if (len < width)
		outbuf_pad(out, ' ', width - len);
	outbuf_put(out, text, len);
}

/* ---- names of tasks -------------------------------------------------------------------------- */

static const char *line_comm(const struct tracecmd_sink *s, const struct tracecmd_input *in,
			     const struct event *ev)
{
	static const char unknown[] = "<...>";
	const int32_t pid = ev->pub.tid;
	const char *comm;
	uint64_t id;

	if (!pid)
		return "<idle>";
	if (!in->view) {
		comm = strpool_text(in->rec->strings, ev->pub.comm);
		return comm && *comm != ':' ? comm : unknown;
	}
	comm = tracedat_saved_comm(in->view, pid);
	if (comm)
		return comm;
	id = hash64_find(&in->learned, (uint32_t)pid);
	return id == HASH64_EMPTY ? unknown : strpool_text(&s->names, (uint32_t)id);
}

int tracecmd_learn(struct tracecmd_sink *s, const struct event *ev, int32_t pid,
		   const struct tracecmd_type *type, unsigned comm)
{
	struct tracecmd_input *in = &s->inputs.v[ev->recording->nr];
	const struct sonde_field *f = type->fields[comm];
	const uint8_t *text;
	uint32_t len, id;

	if (!in->view || !f || tracedat_saved_comm(in->view, pid) ||
	    hash64_find(&in->learned, (uint32_t)pid) != HASH64_EMPTY)
		return 0;
	text = field_bytes(f, ev->pub.bytes, ev->pub.bytes_len, ev->pub.flags & SONDE_EVENT_SWAPPED,
			   &len);
	if (!text)
		return 0;
	TRY(strpool_intern(&s->names, (const char *)text, strnlen((const char *)text, len), &id));
	in->who[(uint32_t)pid % TRACECMD_WHO].len = 0;
	return hash64_put(&in->learned, (uint32_t)pid, id);
}

/* ---- columns --------------------------------------------------------------------------------- */

/* The names of the other inputs and buffers are as wide. */
void tracecmd_put_prefix(struct tracecmd_sink *s, struct tracecmd_input *in, const char *buffer,
			 struct outbuf *out)
{
	const char *name = *buffer ? buffer : in->name;

	if (!s->prefix_width)
		return;
	if (in->has_no_prefix) {
		in->has_no_prefix = false;
		return;
	}
	if (!name) {
		outbuf_pad(out, ' ', s->prefix_width + 2);
		return;
	}
	line_right_aligned(out, name, strlen(name), s->prefix_width);
	outbuf_str(out, ": ");
}

static void line_put_pid(struct outbuf *out, int32_t pid)
{
	const size_t start = out->len;

	outbuf_i64(out, pid);
	if (out->len - start < PID_WIDTH)
		outbuf_pad(out, ' ', PID_WIDTH - (out->len - start));
}

static unsigned line_number_of(const struct sonde_field *f, const struct event *ev)
{
	return f ? (unsigned)field_u64(f, ev->pub.bytes, ev->pub.bytes_len,
				       ev->pub.flags & SONDE_EVENT_SWAPPED)
		 : 0;
}

static void line_put_digit(struct outbuf *out, unsigned v)
{
	if (v)
		outbuf_hex(out, v);
	else
		outbuf_char(out, '.');
}

/* A number that older kernels recorded; negative ones have no digit. */
static void line_put_depth(struct outbuf *out, const struct sonde_field *f, const struct event *ev)
{
	int64_t v;

	if (!f)
		return;
	v = value_sign_extend(
		field_u64(f, ev->pub.bytes, ev->pub.bytes_len, ev->pub.flags & SONDE_EVENT_SWAPPED),
		f->width);
	if (v < 0)
		outbuf_char(out, '.');
	else
		outbuf_i64(out, v);
}

/* "dNh1.": interrupts off, need to reschedule, context, depth of preemption and of migration. */
static void line_put_latency(struct outbuf *out, const struct tracecmd_type *type,
			     const struct event *ev)
{
	enum { IRQS_OFF = 1, IRQS_UNKNOWN = 2, NEED_RESCHED = 4, HARDIRQ = 8, SOFTIRQ = 16 };
	const unsigned flags = line_number_of(type->flags, ev),
		       depth = line_number_of(type->preempt, ev);

	outbuf_char(out, flags & IRQS_OFF ? 'd' : flags & IRQS_UNKNOWN ? 'X' : '.');
	outbuf_char(out, flags & NEED_RESCHED ? 'N' : '.');
	outbuf_char(out, flags & HARDIRQ   ? flags & SOFTIRQ ? 'H' : 'h'
			 : flags & SOFTIRQ ? 's'
					   : '.');
	line_put_digit(out, depth & 0xf);
	line_put_digit(out, depth >> 4 & 0xf);
	line_put_depth(out, type->migrate, ev);
	line_put_depth(out, type->lock_depth, ev);
}

static void line_put_time(const struct tracecmd_sink *s, const struct tracecmd_input *in,
			  const struct event *ev, struct outbuf *out)
{
	enum { SECONDS_WIDTH = 5, PLAIN_WIDTH = 12, NSEC_PER_SEC = 1000000000 };
	const uint64_t ns = recording_shown_time(in->rec, ev->pub.time_ns);

	if (in->has_plain_times) {
		outbuf_u64_width(out, ns, PLAIN_WIDTH, ' ');
		outbuf_char(out, ':');
		return;
	}
	outbuf_char(out, ' ');
	if (s->has_ns) {
		outbuf_u64_width(out, ns / NSEC_PER_SEC, SECONDS_WIDTH, ' ');
		outbuf_char(out, '.');
		outbuf_u64_width(out, ns % NSEC_PER_SEC, 9, '0');
	} else {
		const uint64_t us = (ns + 500) / 1000;

		outbuf_u64_width(out, us / 1000000, SECONDS_WIDTH, ' ');
		outbuf_char(out, '.');
		outbuf_u64_width(out, us % 1000000, 6, '0');
	}
	outbuf_char(out, ':');
}

/* ---- the head -------------------------------------------------------------------------------- */

/* " NAME: " and blanks up to the column of texts. */
static int line_make_head(struct tracecmd_type *type, const struct sonde_schema *sc)
{
	const size_t len = strlen(sc->event), width = len < NAME_WIDTH ? NAME_WIDTH : len;

	type->head = malloc(width + 4);
	if (!type->head)
		return err_nomem();
	memset(type->head, ' ', width + 3);
	memcpy(type->head + 1, sc->event, len);
	type->head[1 + len] = ':';
	type->head_len = width + 3;
	return 0;
}

/* "COMM-PID ". */
static void line_make_who(struct tracecmd_sink *s, struct tracecmd_input *in,
			  const struct event *ev, struct outbuf *out)
{
	const char *comm = line_comm(s, in, ev);
	const size_t len = strlen(comm);

	if (s->has_latency)
		line_right_aligned(out, comm, len < SHORT_COMM_WIDTH ? len : SHORT_COMM_WIDTH,
				   SHORT_COMM_WIDTH);
	else
		line_right_aligned(out, comm, len, COMM_WIDTH);
	outbuf_char(out, '-');
	line_put_pid(out, ev->pub.tid);
	outbuf_char(out, ' ');
}

static void line_put_who(struct tracecmd_sink *s, struct tracecmd_input *in, const struct event *ev,
			 struct outbuf *out)
{
	struct tracecmd_who *who = &in->who[(uint32_t)ev->pub.tid % TRACECMD_WHO];
	size_t start;

	if (who->len && who->pid == ev->pub.tid) {
		outbuf_put(out, who->text, who->len);
		return;
	}
	start = out->len;
	line_make_who(s, in, ev, out);
	if (!in->view || out->failed || out->len - start > sizeof(who->text))
		return;
	who->pid = ev->pub.tid;
	who->len = (uint32_t)(out->len - start);
	memcpy(who->text, out->data + start, who->len);
}

int tracecmd_put_head(struct tracecmd_sink *s, struct tracecmd_input *in,
		      struct tracecmd_type *type, const struct event *ev, struct outbuf *out)
{
	if (!type->head)
		TRY(line_make_head(type, ev->schema));
	line_put_who(s, in, ev, out);
	if (s->has_latency) {
		outbuf_u64_width(out, (uint32_t)ev->pub.cpu, 3, ' ');
		if (s->has_raw_fields)
			outbuf_fmt(out, "-0x%x", line_number_of(type->flags, ev));
		else
			line_put_latency(out, type, ev);
	} else {
		outbuf_char(out, '[');
		outbuf_u64_width(out, (uint32_t)ev->pub.cpu, 3, '0');
		outbuf_char(out, ']');
	}
	line_put_time(s, in, ev, out);
	outbuf_put(out, type->head, type->head_len);
	return 0;
}
