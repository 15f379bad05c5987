/* SPDX-License-Identifier: MIT */
#include "base/json.h"

#define ESCAPE_BYTES 6u /* "\u0000" */

/* Length of the valid UTF-8 sequence of two or more bytes at p; 0 if there is none. */
static unsigned json_utf8_len(const uint8_t *p, size_t left)
{
	uint32_t c;
	unsigned n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;

	if (p[0] < 0xc2 || p[0] > 0xf4 || left < n)
		return 0;
	c = p[0] & (0x7fu >> n);
	for (unsigned i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	/* Not the shortest form, a surrogate, or beyond Unicode. */
	if ((n == 3 && (c < 0x800 || (c >= 0xd800 && c <= 0xdfff))) ||
	    (n == 4 && (c < 0x10000 || c > 0x10ffff)))
		return 0;
	return n;
}

static char *json_put_escape(char *to, uint32_t unit)
{
	static const char hex[] = "0123456789abcdef";

	*to++ = '\\';
	*to++ = 'u';
	for (int shift = 12; shift >= 0; shift -= 4)
		*to++ = hex[unit >> shift & 15];
	return to;
}

const uint64_t json_powers[20] = {
	UINT64_C(1),
	UINT64_C(10),
	UINT64_C(100),
	UINT64_C(1000),
	UINT64_C(10000),
	UINT64_C(100000),
	UINT64_C(1000000),
	UINT64_C(10000000),
	UINT64_C(100000000),
	UINT64_C(1000000000),
	UINT64_C(10000000000),
	UINT64_C(100000000000),
	UINT64_C(1000000000000),
	UINT64_C(10000000000000),
	UINT64_C(100000000000000),
	UINT64_C(1000000000000000),
	UINT64_C(10000000000000000),
	UINT64_C(100000000000000000),
	UINT64_C(1000000000000000000),
	UINT64_C(10000000000000000000),
};

/* Characters that need no escape. */
static const bool is_plain[256] = { [' ' ... '!'] = true,
				    ['#' ... '['] = true,
				    [']' ... '~'] = true };

static char *json_put_ascii(char *to, uint8_t c)
{
	if (c == '"' || c == '\\')
		*to++ = '\\';
	else if (c < ' ' || c == 0x7f)
		return json_put_escape(to, c);
	*to++ = (char)c;
	return to;
}

void json_put_due(struct json *j)
{
	if (j->due & ~JSON_NEWLINE)
		outbuf_char(j->out, (char)(j->due & ~JSON_NEWLINE));
	if (j->due & JSON_NEWLINE)
		outbuf_char(j->out, '\n');
	j->due = 0;
}

/* Writes the string without a comma in front. */
static void json_quote_bytes(struct outbuf *out, const void *bytes, size_t len)
{
	const uint8_t *p = bytes, *end = p + len;
	char *start = outbuf_room(out, len * ESCAPE_BYTES + 2), *to = start;

	if (!start)
		return;
	*to++ = '"';
	while (p < end) {
		unsigned n;

		if (__builtin_expect(is_plain[*p], 1)) {
			*to++ = (char)*p++;
			continue;
		}
		if (*p < 0x80) {
			to = json_put_ascii(to, *p++);
			continue;
		}
		n = json_utf8_len(p, (size_t)(end - p));
		if (!n) {
			to = json_put_escape(to, 0xdc00u | *p++);
		} else if (p[0] == 0xc2 && p[1] < 0xa0) {
			to = json_put_escape(to, p[1]);
			p += n;
		} else {
			memcpy(to, p, n);
			to += n;
			p += n;
		}
	}
	*to++ = '"';
	outbuf_advance(out, (size_t)(to - start));
}

void json_string(struct json *j, const void *bytes, size_t len)
{
	json_separate(j);
	json_quote_bytes(j->out, bytes, len);
	j->due = ',';
}

void json_text(struct json *j, const char *text)
{
	json_string(j, text, strlen(text));
}

void json_name(struct json *j, const char *name, size_t len)
{
	json_string(j, name, len);
	outbuf_char(j->out, ':');
	j->due = 0;
}

static void json_put_token(struct json *j, const char *token)
{
	json_separate(j);
	outbuf_str(j->out, token);
	j->due = ',';
}

void json_bool(struct json *j, bool v)
{
	json_put_token(j, v ? "true" : "false");
}

void json_null(struct json *j)
{
	json_put_token(j, "null");
}

void json_double(struct json *j, double v)
{
	if (v - v != 0) { /* not finite */
		json_text(j, v != v ? "NaN" : v < 0 ? "-Infinity" : "Infinity");
		return;
	}
	json_separate(j);
	outbuf_double(j->out, v, false);
	j->due = ',';
}

void json_digits(struct json *j, const char *digits)
{
	json_put_token(j, digits);
}

void json_begin_words(struct json *j)
{
	json_separate(j);
	outbuf_char(j->out, '"');
}

void json_end_words(struct json *j)
{
	outbuf_char(j->out, '"');
	j->due = ',';
}

void json_hex(struct json *j, const uint8_t *bytes, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	char *to;

	json_separate(j);
	j->due = ',';
	to = outbuf_room(j->out, 2 * len + 2);
	if (!to)
		return;
	*to++ = '"';
	for (size_t i = 0; i < len; i++) {
		*to++ = hex[bytes[i] >> 4];
		*to++ = hex[bytes[i] & 15];
	}
	*to = '"';
	outbuf_advance(j->out, 2 * len + 2);
}
