/* SPDX-License-Identifier: MIT */
/*
 * Writers of single columns: inline, straight into memory that the caller knows to be large enough (HEAD_BYTES for all
 * but the event's name), each returning the place behind what it wrote.
 */
#ifndef SONDE_SINKS_TEXT_COLUMNS_H
#define SONDE_SINKS_TEXT_COLUMNS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/outbuf.h"

#define HEAD_BYTES 512u
#define COMM_BYTES 256u /* of those for comm; longer ones are cut */
#define COPY_BYTES 16u  /* short texts are copied in pieces of so many bytes, whatever their length */
#define NS_PER_S UINT64_C(1000000000)

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
	if (__builtin_expect(v < 0, 0))
		return p + sprintf(p, "%*d", (int)width, v);
	return put_digits(p, (uint32_t)v, width, ' ');
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

/* The seconds of the last time written, right aligned in 5 places, and a dot: they change rarely. */
struct seconds_text {
	uint64_t start_ns;
	uint32_t len;
	char text[28];
};

static inline void seconds_text_make(struct seconds_text *t, uint64_t s)
{
	char *end = put_digits(t->text, s, 5, ' ');

	*end++ = '.';
	t->start_ns = s * NS_PER_S;
	t->len = (uint32_t)(end - t->text);
}

static inline void seconds_text_init(struct seconds_text *t)
{
	seconds_text_make(t, 0);
}

static inline char *put_fixed_digits(char *p, uint32_t v, unsigned n)
{
	for (unsigned i = n; i-- > 0; v /= 10)
		p[i] = (char)('0' + v % 10);
	return p + n;
}

/* "1234.567890: " in at least 12 places before the colon, or "1234.567890123: " */
static inline char *put_time(char *p, uint64_t time_ns, bool nanoseconds, struct seconds_text *t)
{
	uint64_t ns = time_ns - t->start_ns;

	if (__builtin_expect(ns >= NS_PER_S, 0)) {
		seconds_text_make(t, time_ns / NS_PER_S);
		ns = time_ns - t->start_ns;
	}
	memcpy(p, t->text, 24);
	p += t->len;
	p = nanoseconds ? put_fixed_digits(p, (uint32_t)ns, 9) : put_fixed_digits(p, (uint32_t)ns / 1000, 6);
	p[0] = ':';
	p[1] = ' ';
	return p + 2;
}

/* A comm right aligned in 16 places and a blank. */
#define COMM_TEXT_LONG 255u

struct comm_text {
	char text[31];
	uint8_t len; /* 0: not made; COMM_TEXT_LONG: does not fit */
};

static inline void comm_text_make(struct comm_text *c, const char *comm)
{
	size_t len = strlen(comm), pad = len < 16 ? 16 - len : 0;

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
