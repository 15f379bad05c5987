/* SPDX-License-Identifier: MIT */
/* The columns before the payload, in one piece of memory that is surely large enough. */
#include <linux/perf_event.h>

#include "base/err.h"
#include "session.h"
#include "sinks/text/line.h"

/* The comm right aligned in 16 places and a blank, made once per comm. */
static const struct comm_text *comm_text(struct text_sink *s, uint32_t comm)
{
	if (__builtin_expect(comm >= s->comms.n, 0)) {
		if (vec_reserve(&s->comms, comm + 1 - s->comms.n) < 0)
			return NULL;
		memset(s->comms.v + s->comms.n, 0, (comm + 1 - s->comms.n) * sizeof(*s->comms.v));
		s->comms.n = comm + 1;
	}
	if (__builtin_expect(!s->comms.v[comm].len, 0))
		comm_text_make(&s->comms.v[comm], sonde_session_string(s->session, comm),
			       s->latency);
	return &s->comms.v[comm];
}

/* A comm that has no text made for it: before a call chain it is not padded, or it is a very long one. */
static char *put_odd_comm(char *p, const char *comm)
{
	size_t len = strnlen(comm, COMM_BYTES - 1);

	memcpy(p, comm, len);
	p[len] = ' ';
	return p + len + 1;
}

/* The time as asked for: since the first event shown, or since the one shown before. */
static uint64_t relative_time(struct text_sink *s, uint64_t time_ns)
{
	uint64_t base = s->time_base_ns;

	if (s->times == TIMES_BETWEEN || !base)
		s->time_base_ns = time_ns;
	return base ? time_ns - base : 0;
}

int text_head_put(struct text_sink *s, const struct event *ev, const struct line *line)
{
	uint64_t fields = line->fields;
	char *start = outbuf_room(&s->writer.out, HEAD_BYTES + line->name_room), *p = start;

	if (!p)
		return err_nomem();
	if (fields & TEXT_COMM) {
		const struct comm_text *c = comm_text(s, ev->pub.comm);

		if (!c)
			return err_nomem();
		if (__builtin_expect((line->bare_comm && !s->latency) || c->len == COMM_TEXT_LONG,
				     0)) {
			p = put_odd_comm(p, sonde_session_string(s->session, ev->pub.comm));
		} else {
			memcpy(p, c->text, sizeof(*c));
			p += c->len;
		}
	}
	if (fields & TEXT_PID) {
		p = put_int(p, ev->pub.pid, s->id_width);
		*p++ = fields & TEXT_TID ? '/' : ' ';
	}
	if (fields & TEXT_TID) {
		p = fields & TEXT_PID ? put_int_left(p, ev->pub.tid, s->id_width)
				      : put_int(p, ev->pub.tid, s->id_width);
		*p++ = ' ';
	}
	if (fields & TEXT_CPU)
		p = s->latency ? put_cpu_bare(p, ev->pub.cpu) : put_cpu(p, ev->pub.cpu);
	if (fields & TEXT_TIME) {
		uint64_t time_ns = ev->pub.time_ns;

		if (__builtin_expect(line->odd_head && s->times != TIMES_RECORDED, 0))
			time_ns = relative_time(s, time_ns);
		p = put_time(p, time_ns, s->nanoseconds, &s->seconds);
	}
	if (fields & TEXT_PERIOD) {
		p = put_digits(p, s->sample.period, 10, ' ');
		*p++ = ' ';
	}
	if (fields & TEXT_EVENT) {
		for (uint32_t i = 0; i < line->name_room; i += COPY_BYTES)
			memcpy(p + i, line->name + i, COPY_BYTES);
		p += line->name_len;
	}
	outbuf_advance(&s->writer.out, (size_t)(p - start));
	return 0;
}
