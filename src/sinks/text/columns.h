/* SPDX-License-Identifier: MIT */
/*
 * Inline writers of single columns. They write directly to memory; the caller provides enough of it
 * (HEAD_BYTES for all columns except the event's name). Each writer returns the end of its text.
 */
#ifndef SONDE_SINKS_TEXT_COLUMNS_H
#define SONDE_SINKS_TEXT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/outbuf.h"

#define HEAD_BYTES 512u
#define COMM_BYTES 256u /* part of HEAD_BYTES for comm; a longer comm is truncated */
/* Short texts are copied in pieces of this many bytes, regardless of their length. */
#define COPY_BYTES      16u
#define NAME_COPY_BYTES 32u /* at least copied of an event's name */
#define NS_PER_S        UINT64_C(1000000000)

static inline char *put_digits(char *p, uint64_t v, unsigned width, char fill)
{
	char digits[20], *d = digits_u64(digits + sizeof(digits), v);
	unsigned n = (unsigned)(digits + sizeof(digits) - d);

	for (; width > n; width--)
		*p++ = fill;
	memcpy(p, d, n);
	return p + n;
}

/* Right aligned. */
static inline char *put_int(char *p, int32_t v, unsigned width)
{
	uint32_t u = (uint32_t)v, rest;

	if (__builtin_expect(u > 99999, 0)) {
		if (v < 0)
			return p + sprintf(p, "%*d", (int)width, v);
		return put_digits(p, u, width, ' ');
	}
	for (; width > 5; width--)
		*p++ = ' ';
	p[0] = (char)('0' + u / 10000);
	rest = u % 10000;
	memcpy(p + 1, digit_pairs + rest / 100 * 2, 2);
	memcpy(p + 3, digit_pairs + rest % 100 * 2, 2);
	for (uint32_t unit = 10000, i = 0; u < unit && i < 4; unit /= 10)
		p[i++] = ' ';
	return p + 5;
}

/* Left aligned. */
static inline char *put_int_left(char *p, int32_t v, unsigned width)
{
	char *start = p;

	if (__builtin_expect(v < 0, 0))
		return p + sprintf(p, "%-*d", (int)width, v);
	p = put_digits(p, (uint32_t)v, 0, ' ');
	while (p < start + width)
		*p++ = ' ';
	return p;
}

/* "[001] " */
static inline char *put_cpu(char *p, int32_t cpu)
{
	if (__builtin_expect((uint32_t)cpu > 999, 0))
		return p + sprintf(p, "[%03d] ", cpu);
	p[0] = '[';
	p[1] = (char)('0' + cpu / 100);
	p[2] = (char)('0' + cpu / 10 % 10);
	p[3] = (char)('0' + cpu % 10);
	p[4] = ']';
	p[5] = ' ';
	return p + 6;
}

/* Without brackets: "  1 " */
static inline char *put_cpu_bare(char *p, int32_t cpu)
{
	return p + sprintf(p, "%3d ", cpu);
}

/*
 * The text of the last written time, right aligned in 5 places before the dot. It is kept because
 * the seconds change rarely, and the first four decimals do not change with each event.
 */
struct seconds_text {
	uint64_t start_ns;
	uint32_t len; /* length including the dot */
	/* Value of the first four digits after the dot, in nanoseconds. */
	uint32_t digits_ns;
	char text[32];
};
enum { DIGITS_NS = 100000 };

static inline void seconds_text_make(struct seconds_text *t, uint64_t s)
{
	char *end = put_digits(t->text, s, 5, ' ');

	*end++ = '.';
	memcpy(end, "0000", 4);
	t->start_ns = s * NS_PER_S;
	t->digits_ns = 0;
	t->len = (uint32_t)(end - t->text);
}

static inline void seconds_text_digits(struct seconds_text *t, uint32_t ns)
{
	const uint32_t digits = ns / DIGITS_NS;

	memcpy(t->text + t->len, digit_pairs + digits / 100 * 2, 2);
	memcpy(t->text + t->len + 2, digit_pairs + digits % 100 * 2, 2);
	t->digits_ns = digits * DIGITS_NS;
}

static inline void seconds_text_init(struct seconds_text *t)
{
	seconds_text_make(t, 0);
}

static inline char *put_3_digits(char *p, uint32_t v)
{
	p[0] = (char)('0' + v / 100);
	memcpy(p + 1, digit_pairs + v % 100 * 2, 2);
	return p + 3;
}

/* "1234.567890: " in at least 12 places before the colon, or "1234.567890123: " */
static inline char *put_time(char *p, uint64_t time_ns, bool nanoseconds, struct seconds_text *t)
{
	uint64_t ns = time_ns - t->start_ns;
	uint32_t rest;

	if (__builtin_expect(ns >= NS_PER_S, 0)) {
		seconds_text_make(t, time_ns / NS_PER_S);
		ns = time_ns - t->start_ns;
	}
	if (__builtin_expect((uint32_t)ns - t->digits_ns >= DIGITS_NS, 0))
		seconds_text_digits(t, (uint32_t)ns);
	rest = (uint32_t)ns - t->digits_ns;
	memcpy(p, t->text, sizeof(t->text));
	p += t->len + 4;
	memcpy(p, digit_pairs + rest / 1000 * 2, 2);
	p += 2;
	if (nanoseconds)
		p = put_3_digits(p, rest % 1000);
	p[0] = ':';
	p[1] = ' ';
	return p + 2;
}

/*
 * The text of the columns comm, pid, tid and cpu, kept for a task: most events repeat the text of a
 * recent task. The complete array is copied, regardless of the length.
 */
struct who_text {
	uint64_t columns; /* which columns, and their layout, from struct line; 0 if not made */
	uint32_t comm;
	int32_t pid, tid, cpu;
	uint32_t len;
	char text[52];
};
enum { RECENT_WHO = 256, WHO_COPY_BYTES = 48 };

/* A comm followed by a blank: right aligned in 16 places, or truncated to 8. */
#define COMM_TEXT_LONG 255u

struct comm_text {
	char text[31];
	uint8_t len; /* 0 if not made; COMM_TEXT_LONG if it does not fit */
};

static inline void comm_text_make(struct comm_text *c, const char *comm, bool is_short)
{
	size_t width = is_short ? 8 : 16, len = is_short ? strnlen(comm, width) : strlen(comm),
	       pad = len < width ? width - len : 0;

	if (len + 1 > sizeof(c->text)) {
		c->len = COMM_TEXT_LONG;
		return;
	}
	memset(c->text, ' ', pad);
	memcpy(c->text + pad, comm, len);
	c->text[pad + len] = ' ';
	c->len = (uint8_t)(pad + len + 1);
}

#endif
