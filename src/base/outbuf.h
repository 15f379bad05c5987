/* SPDX-License-Identifier: MIT */
/*
 * struct outbuf: a growing buffer for text or bytes.
 *
 * A call that runs out of memory sets `failed`, and further writes do nothing. So a formatter can
 * write a complete line, and its caller checks once. The outbuf_room/outbuf_advance pair lets hot
 * formatters write straight into the buffer.
 */
#ifndef SONDE_BASE_OUTBUF_H
#define SONDE_BASE_OUTBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct outbuf {
	char *data; /* owned */
	size_t len, capacity;
	bool failed;
};

void outbuf_done(struct outbuf *o);
bool outbuf_grow(struct outbuf *o, size_t room);

/* Room for n more bytes at the returned place; NULL if out of memory. */
static inline char *outbuf_room(struct outbuf *o, size_t n)
{
	if (__builtin_expect(o->capacity - o->len < n, 0) && !outbuf_grow(o, n))
		return NULL;
	return o->data + o->len;
}

static inline void outbuf_advance(struct outbuf *o, size_t n)
{
	o->len += n;
}

static inline void outbuf_put(struct outbuf *o, const void *p, size_t n)
{
	/* If n is 0, p and data may be NULL, which memcpy() does not accept. */
	char *to = n ? outbuf_room(o, n) : NULL;

	if (to) {
		memcpy(to, p, n);
		o->len += n;
	}
}

static inline void outbuf_str(struct outbuf *o, const char *s)
{
	outbuf_put(o, s, strlen(s));
}

static inline void outbuf_char(struct outbuf *o, char c)
{
	char *to = outbuf_room(o, 1);

	if (to) {
		*to = c;
		o->len++;
	}
}

void outbuf_pad(struct outbuf *o, char c, size_t n);
/* Decimal and lower-case hexadecimal, without padding. */
void outbuf_u64(struct outbuf *o, uint64_t v);
void outbuf_i64(struct outbuf *o, int64_t v);
void outbuf_hex(struct outbuf *o, uint64_t v);
/* Right-aligned in at least `width` places, padded with `fill`. */
void outbuf_u64_width(struct outbuf *o, uint64_t v, unsigned width, char fill);
void outbuf_i64_width(struct outbuf *o, int64_t v, unsigned width);
void outbuf_hex_width(struct outbuf *o, uint64_t v, unsigned width, char fill);
/*
 * The shortest digits that read back as the same number, as Python writes them: "0.1", "-2.0",
 * "1e+100", "nan", "inf", "-inf". The locale does not matter. With is_single they read back as the
 * same float.
 */
void outbuf_double(struct outbuf *o, double v, bool is_single);
void outbuf_fmt(struct outbuf *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Writes the digits of v backwards, ending at `end`. Returns the first digit. At most 20 (decimal)
 * or 16 (hex) bytes.
 */
char *digits_u64(char *end, uint64_t v);
char *digits_hex(char *end, uint64_t v);
/* "00" "01" ... "99": the two digits of n are at 2 * n */
extern const char digit_pairs[201];

#endif
