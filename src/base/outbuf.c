/* SPDX-License-Identifier: MIT */
#include "base/outbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"

const char digit_pairs[201] = "0001020304050607080910111213141516171819"
			      "2021222324252627282930313233343536373839"
			      "4041424344454647484950515253545556575859"
			      "6061626364656667686970717273747576777879"
			      "8081828384858687888990919293949596979899";

void outbuf_done(struct outbuf *o)
{
	free(o->data);
	*o = (struct outbuf){ 0 };
}

bool outbuf_grow(struct outbuf *o, size_t room)
{
	size_t want = o->capacity ? o->capacity : 4096;
	char *data;

	if (o->failed)
		return false;
	while (want - o->len < room) {
		if (want > SIZE_MAX / 2) {
			o->failed = true;
			err_note_nomem();
			return false;
		}
		want *= 2;
	}
	data = realloc(o->data, want);
	if (!data) {
		o->failed = true;
		err_note_nomem();
		return false;
	}
	o->data = data;
	o->capacity = want;
	return true;
}

void outbuf_pad(struct outbuf *o, char c, size_t n)
{
	char *to = n ? outbuf_room(o, n) : NULL;

	if (to) {
		memset(to, c, n);
		o->len += n;
	}
}

char *digits_u64(char *end, uint64_t v)
{
	/* Four digits per step, because each division depends on the one before. */
	while (v >= 10000) {
		uint32_t four = (uint32_t)(v % 10000);

		v /= 10000;
		end -= 4;
		memcpy(end, digit_pairs + four / 100 * 2, 2);
		memcpy(end + 2, digit_pairs + four % 100 * 2, 2);
	}
	if (v >= 100) {
		end -= 2;
		memcpy(end, digit_pairs + v % 100 * 2, 2);
		v /= 100;
	}
	if (v >= 10) {
		end -= 2;
		memcpy(end, digit_pairs + v * 2, 2);
	} else {
		*--end = (char)('0' + v);
	}
	return end;
}

char *digits_hex(char *end, uint64_t v)
{
	do {
		*--end = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	return end;
}

static void outbuf_put_padded(struct outbuf *o, const char *digits, size_t n, unsigned width,
			      char fill)
{
	char *to = outbuf_room(o, n + width);
	size_t pad = width > n ? width - n : 0;

	if (!to)
		return;
	memset(to, fill, pad);
	memcpy(to + pad, digits, n);
	o->len += pad + n;
}

void outbuf_u64(struct outbuf *o, uint64_t v)
{
	outbuf_u64_width(o, v, 0, ' ');
}

void outbuf_i64(struct outbuf *o, int64_t v)
{
	outbuf_i64_width(o, v, 0);
}

void outbuf_hex(struct outbuf *o, uint64_t v)
{
	outbuf_hex_width(o, v, 0, ' ');
}

void outbuf_u64_width(struct outbuf *o, uint64_t v, unsigned width, char fill)
{
	char digits[20], *p = digits_u64(digits + sizeof(digits), v);

	outbuf_put_padded(o, p, (size_t)(digits + sizeof(digits) - p), width, fill);
}

void outbuf_i64_width(struct outbuf *o, int64_t v, unsigned width)
{
	char digits[21],
		*p = digits_u64(digits + sizeof(digits), v < 0 ? -(uint64_t)v : (uint64_t)v);

	if (v < 0)
		*--p = '-';
	outbuf_put_padded(o, p, (size_t)(digits + sizeof(digits) - p), width, ' ');
}

void outbuf_hex_width(struct outbuf *o, uint64_t v, unsigned width, char fill)
{
	char digits[16], *p = digits_hex(digits + sizeof(digits), v);

	outbuf_put_padded(o, p, (size_t)(digits + sizeof(digits) - p), width, fill);
}

enum { DOUBLE_DIGITS = 17, FLOAT_DIGITS = 9 };

/* Significant digits without trailing zeros, and the power of ten of the first digit. */
struct decimal {
	char digits[DOUBLE_DIGITS];
	int nr, exponent;
};

/* Skips everything that is not a digit: the decimal point depends on the locale. */
static void outbuf_read_scientific(const char *text, struct decimal *ret)
{
	const char *e = strchr(text, 'e');

	ret->nr = 0;
	for (const char *p = text; p < e && ret->nr < DOUBLE_DIGITS; p++) {
		if (*p >= '0' && *p <= '9')
			ret->digits[ret->nr++] = *p;
	}
	while (ret->nr > 1 && ret->digits[ret->nr - 1] == '0')
		ret->nr--;
	ret->exponent = (int)strtol(e + 1, NULL, 10);
}

static void outbuf_shortest_decimal(double v, bool is_single, struct decimal *ret)
{
	char text[64];

	for (int n = 1; n <= (is_single ? FLOAT_DIGITS : DOUBLE_DIGITS); n++) {
		double back;

		snprintf(text, sizeof(text), "%.*e", n - 1, v);
		back = is_single ? (double)strtof(text, NULL) : strtod(text, NULL);
		if (memcmp(&back, &v, sizeof(v)) == 0)
			break;
	}
	outbuf_read_scientific(text, ret);
}

static void outbuf_put_positional(struct outbuf *o, const struct decimal *d)
{
	if (d->exponent < 0) {
		outbuf_put(o, "0.", 2);
		outbuf_pad(o, '0', (size_t)(-d->exponent - 1));
		outbuf_put(o, d->digits, (size_t)d->nr);
		return;
	}
	for (int i = 0; i < d->nr || i <= d->exponent + 1; i++) {
		if (i == d->exponent + 1)
			outbuf_char(o, '.');
		outbuf_char(o, i < d->nr ? d->digits[i] : '0');
	}
}

void outbuf_double(struct outbuf *o, double v, bool is_single)
{
	struct decimal d;

	if (v != v) {
		outbuf_put(o, "nan", 3);
		return;
	}
	if (__builtin_signbit(v))
		outbuf_char(o, '-');
	v = __builtin_fabs(v);
	if (__builtin_isinf(v)) {
		outbuf_put(o, "inf", 3);
		return;
	}
	outbuf_shortest_decimal(v, is_single, &d);
	if (d.exponent >= -4 && d.exponent < 16) {
		outbuf_put_positional(o, &d);
		return;
	}
	outbuf_char(o, d.digits[0]);
	if (d.nr > 1)
		outbuf_char(o, '.');
	outbuf_put(o, d.digits + 1, (size_t)d.nr - 1);
	outbuf_fmt(o, "e%+03d", d.exponent);
}

void outbuf_fmt(struct outbuf *o, const char *fmt, ...)
{
	va_list ap, again;
	char *to;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	to = n < 0 ? NULL : outbuf_room(o, (size_t)n + 1);
	if (to) {
		vsnprintf(to, (size_t)n + 1, fmt, again);
		o->len += (size_t)n;
	}
	va_end(again);
}
