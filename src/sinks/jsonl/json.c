/* SPDX-License-Identifier: MIT */
#include "sinks/jsonl/json.h"

#define ESCAPE_BYTES 6u /* "\u0000" */

/* Length of the valid UTF-8 sequence of more than one byte at p; 0: there is none. */
static unsigned utf8_len(const uint8_t *p, size_t left)
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

static char *put_escape(char *to, uint32_t unit)
{
	static const char hex[] = "0123456789abcdef";

	*to++ = '\\';
	*to++ = 'u';
	for (int shift = 12; shift >= 0; shift -= 4)
		*to++ = hex[unit >> shift & 15];
	return to;
}

static char *put_ascii(char *to, uint8_t c)
{
	if (c == '"' || c == '\\')
		*to++ = '\\';
	else if (c < ' ' || c == 0x7f)
		return put_escape(to, c);
	*to++ = (char)c;
	return to;
}

void json_string(struct outbuf *out, const void *bytes, size_t len)
{
	const uint8_t *p = bytes, *end = p + len;
	char *start = outbuf_room(out, len * ESCAPE_BYTES + 2), *to = start;

	if (!start)
		return;
	*to++ = '"';
	while (p < end) {
		unsigned n;

		if (__builtin_expect(*p < 0x80, 1)) {
			to = put_ascii(to, *p++);
			continue;
		}
		n = utf8_len(p, (size_t)(end - p));
		if (!n) {
			to = put_escape(to, 0xdc00u | *p++);
		} else if (p[0] == 0xc2 && p[1] < 0xa0) {
			to = put_escape(to, p[1]);
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

void json_text(struct outbuf *out, const char *text)
{
	json_string(out, text, strlen(text));
}

void json_hex(struct outbuf *out, const uint8_t *bytes, size_t len)
{
	static const char hex[] = "0123456789abcdef";
	char *to = outbuf_room(out, 2 * len + 2);

	if (!to)
		return;
	*to++ = '"';
	for (size_t i = 0; i < len; i++) {
		*to++ = hex[bytes[i] >> 4];
		*to++ = hex[bytes[i] & 15];
	}
	*to = '"';
	outbuf_advance(out, 2 * len + 2);
}
