/* SPDX-License-Identifier: MIT */
/*
 * Writes the columns in front of the payload into one piece of memory that is large enough for all.
 */
#include <time.h>

#include "base/err.h"
#include "model/callchain.h"
#include "recording/recording.h"
#include "sinks/text/line.h"
#include "sinks/text/terminal.h"

#define FLAGS_WIDTH 24u
#define MISC_WIDTH  6

/* A comm without control characters; borrowed until the next call. */
static const char *head_shown_comm(struct text_sink *s, uint32_t comm)
{
	const char *name = strpool_text(&s->recordings->strings, comm);

	if (__builtin_expect(!s->terminal, 1))
		return name;
	s->quiet_comm.len = 0;
	outbuf_str(&s->quiet_comm, name);
	text_terminal_quiet(&s->quiet_comm, 0, false);
	outbuf_char(&s->quiet_comm, '\0');
	return s->quiet_comm.failed ? "" : s->quiet_comm.data;
}

/* The comm right aligned in 16 places, and a blank; made once per comm. */
static const struct comm_text *head_comm_text(struct text_sink *s, uint32_t comm)
{
	if (__builtin_expect(comm >= s->comms.n, 0)) {
		if (vec_reserve(&s->comms, comm + 1 - s->comms.n) < 0)
			return NULL;
		memset(s->comms.v + s->comms.n, 0, (comm + 1 - s->comms.n) * sizeof(*s->comms.v));
		s->comms.n = comm + 1;
	}
	if (__builtin_expect(!s->comms.v[comm].len, 0))
		comm_text_make(&s->comms.v[comm], head_shown_comm(s, comm), s->latency);
	return &s->comms.v[comm];
}

/*
 * Writes a comm without a cached text: it is in front of a call chain and not padded, or it is very
 * long.
 */
static char *head_put_odd_comm(char *p, const char *comm)
{
	size_t len = strnlen(comm, COMM_BYTES - 1);

	memcpy(p, comm, len);
	p[len] = ' ';
	return p + len + 1;
}

/*
 * Writes the letters of the cpu mode. As in perf, there is a letter for each mode whose bits are
 * set in this one.
 */
static char *head_put_misc(const struct text_sink *s, char *p, const struct event *ev)
{
	static const char letters[] = "KUHGg";
	char *end = p + MISC_WIDTH;

	for (uint32_t mode = CPUMODE_KERNEL; mode <= CPUMODE_GUEST_USER; mode++) {
		if ((ev->pub.cpumode & mode) == mode)
			*p++ = letters[mode - 1];
	}
	for (const char *more = s->provider_ops->misc(ev); *more && p < end; more++)
		*p++ = *more;
	/* perf pads with at least one blank. */
	do
		*p++ = ' ';
	while (p < end);
	return p;
}

/* Writes a time of day, formatted by strftime(), and its fraction after it. */
static char *head_put_day(const struct text_sink *s, struct day_text *d, char *p, uint64_t wall_ns,
			  bool utc, const char *format)
{
	time_t seconds = (time_t)(wall_ns / NS_PER_S);
	unsigned ns = (unsigned)(wall_ns % NS_PER_S);
	struct tm tm;

	if (seconds != d->second || !d->len) {
		d->len = 0;
		if (!(utc ? gmtime_r(&seconds, &tm) : localtime_r(&seconds, &tm)))
			return p;
		d->second = seconds;
		d->len = (uint32_t)strftime(d->text, sizeof(d->text), format, &tm);
		if (utc || !strftime(d->zone, sizeof(d->zone), "%z", &tm))
			memcpy(d->zone, "Z", sizeof("Z"));
	}
	memcpy(p, d->text, d->len);
	p += d->len;
	*p++ = '.';
	return s->nanoseconds ? put_digits(p, ns, 9, '0') : put_digits(p, ns / 1000, 6, '0');
}

/* perf's column tod, in this machine's time zone. */
static char *head_put_tod(struct text_sink *s, char *p, uint64_t time_ns)
{
	p = head_put_day(s, &s->tod, p, time_ns + s->tod_ns + (uint64_t)s->recordings->line.zero_ns,
			 false, "%F %H:%M:%S");
	*p++ = ' ';
	return p;
}

/*
 * clock=utc prints "2026-11-22T21:15:58.123456Z: ", clock=local "2026-11-22T22:15:58.123456+0100:
 * ".
 */
static char *head_put_time_of_day(struct text_sink *s, char *p, uint64_t time_ns)
{
	size_t len;

	p = head_put_day(s, &s->of_day, p, time_ns, s->utc, "%FT%H:%M:%S");
	len = strlen(s->of_day.zone);
	memcpy(p, s->of_day.zone, len);
	p += len;
	*p++ = ':';
	*p++ = ' ';
	return p;
}

/* The time since the first shown event, or since the previously shown event. */
static uint64_t head_relative_time(struct text_sink *s, uint64_t time_ns)
{
	uint64_t base = s->time_base_ns;

	if (s->times == TIMES_BETWEEN || !base)
		s->time_base_ns = time_ns;
	return base ? time_ns - base : 0;
}

#define WHO_COLUMNS (TEXT_COMM | TEXT_PID | TEXT_TID | TEXT_CPU)
/* An additional bit in who_text.columns: comm is not padded. */
#define WHO_BARE_COMM (UINT64_C(1) << 63)
_Static_assert(!(WHO_COLUMNS & WHO_BARE_COMM), "a bit of its own");

/* Writes comm, pid, tid and cpu; returns NULL if out of memory. */
static char *head_make_who(struct text_sink *s, char *p, const struct event *ev, uint64_t columns)
{
	if (columns & TEXT_COMM) {
		const struct comm_text *c = head_comm_text(s, ev->pub.comm);

		if (!c)
			return NULL;
		if ((columns & WHO_BARE_COMM && !s->latency) || c->len == COMM_TEXT_LONG) {
			p = head_put_odd_comm(p, head_shown_comm(s, ev->pub.comm));
		} else {
			memcpy(p, c->text, sizeof(*c));
			p += c->len;
		}
	}
	if (columns & TEXT_PID) {
		p = put_int(p, ev->pub.pid, s->id_width);
		*p++ = columns & TEXT_TID ? '/' : ' ';
	}
	if (columns & TEXT_TID) {
		p = columns & TEXT_PID ? put_int_left(p, ev->pub.tid, s->id_width)
				       : put_int(p, ev->pub.tid, s->id_width);
		*p++ = ' ';
	}
	if (columns & TEXT_CPU)
		p = s->latency ? put_cpu_bare(p, ev->pub.cpu) : put_cpu(p, ev->pub.cpu);
	return p;
}

/* The same for a task that is not in `who`. The text is kept there if it is not too long. */
static __attribute__((noinline)) char *head_put_new_who(struct text_sink *s, char *p,
							const struct event *ev, uint64_t columns,
							struct who_text *w)
{
	char *end = head_make_who(s, p, ev, columns);

	if (!end || end - p > WHO_COPY_BYTES)
		return end;
	*w = (struct who_text){
		.columns = columns,
		.comm = ev->pub.comm,
		.pid = ev->pub.pid,
		.tid = ev->pub.tid,
		.cpu = ev->pub.cpu,
		.len = (uint32_t)(end - p),
	};
	memcpy(w->text, p, w->len);
	return end;
}

static inline char *head_put_who(struct text_sink *s, char *p, const struct event *ev,
				 uint64_t columns)
{
	const struct sonde_event *e = &ev->pub;
	struct who_text *w = &s->who[((uint32_t)e->tid ^ (uint32_t)e->cpu << 5) % RECENT_WHO];

	if (__builtin_expect(w->columns != columns || w->comm != e->comm || w->tid != e->tid ||
				     w->pid != e->pid || w->cpu != e->cpu,
			     0))
		return head_put_new_who(s, p, ev, columns, w);
	memcpy(p, w->text, WHO_COPY_BYTES);
	return p + w->len;
}

/* perf prints a time that a perf.data does not have as the highest one. */
static inline bool head_lacks_time(const struct event *ev)
{
	return ev->pub.time_ns == SONDE_NO_TIME && ev->recording->clock.has_time_zero;
}

int text_head_put(struct text_sink *s, const struct event *ev, const struct line *line)
{
	uint64_t fields = line->fields,
		 who = (fields & WHO_COLUMNS) | (line->bare_comm ? WHO_BARE_COMM : 0);
	char *start = outbuf_room(&s->writer.out, HEAD_BYTES + line->name_room), *p = start;

	if (!p)
		return err_nomem();
	if (who & WHO_COLUMNS) {
		p = head_put_who(s, p, ev, who);
		if (!p)
			return err_nomem();
	}
	if (__builtin_expect(line->odd_head, 0)) {
		if (fields & TEXT_MISC)
			p = head_put_misc(s, p, ev);
		if (fields & TEXT_TOD)
			p = head_put_tod(s, p, ev->pub.time_ns);
	}
	if (fields & TEXT_TIME && __builtin_expect(!head_lacks_time(ev), 1)) {
		uint64_t time_ns = ev->pub.time_ns;

		if (__builtin_expect(line->odd_head && s->times == TIMES_OF_DAY, 0)) {
			p = head_put_time_of_day(s, p, time_ns);
		} else {
			if (__builtin_expect(line->odd_head && s->times != TIMES_RECORDED, 0))
				time_ns = head_relative_time(s, time_ns);
			p = put_time(p, time_ns, s->nanoseconds, &s->seconds);
		}
	}
	if (fields & TEXT_PERIOD) {
		p = put_digits(p, s->sample.period, 10, ' ');
		*p++ = ' ';
	}
	if (fields & TEXT_EVENT) {
		memcpy(p, line->name, NAME_COPY_BYTES);
		for (uint32_t i = NAME_COPY_BYTES; i < line->name_room; i += COPY_BYTES)
			memcpy(p + i, line->name + i, COPY_BYTES);
		p += line->name_len;
	}
	if (__builtin_expect(fields & TEXT_FLAGS, 0)) {
		memset(p, ' ', FLAGS_WIDTH); /* only decoded traces have flags */
		p += FLAGS_WIDTH;
	}
	outbuf_advance(&s->writer.out, (size_t)(p - start));
	return 0;
}
