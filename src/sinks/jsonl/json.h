/* SPDX-License-Identifier: MIT */
/* Values as JSON text, appended to a buffer: exact integers, and strings that give foreign bytes back. */
#ifndef SONDE_SINKS_JSONL_JSON_H
#define SONDE_SINKS_JSONL_JSON_H

#include "base/outbuf.h"

/*
 * A string of any bytes, in its quotes. Valid UTF-8 stays as it is; control characters (C0, DEL, C1) are escaped; each byte
 * 0xNN that is not part of valid UTF-8 becomes \udcNN, a lone surrogate, which valid text cannot hold.
 */
void json_string(struct outbuf *out, const void *bytes, size_t len);
/* The same of a text with a final NUL. */
void json_text(struct outbuf *out, const char *text);
/* The bytes as a string of hexadecimal digits. */
void json_hex(struct outbuf *out, const uint8_t *bytes, size_t len);

static inline void json_u64(struct outbuf *out, uint64_t v)
{
	char digits[20], *first;

	if (v < 10) { /* most numbers are */
		outbuf_char(out, (char)('0' + v));
		return;
	}
	first = digits_u64(digits + sizeof(digits), v);
	outbuf_put(out, first, (size_t)(digits + sizeof(digits) - first));
}

static inline void json_i64(struct outbuf *out, int64_t v)
{
	if (v < 0)
		outbuf_char(out, '-');
	json_u64(out, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

/* `,"name":value`; name is a literal that needs no escape. */
#define json_member_u64(out, name, v) \
	(outbuf_put(out, ",\"" name "\":", sizeof(name) + 3), json_u64(out, v))
#define json_member_i64(out, name, v) \
	(outbuf_put(out, ",\"" name "\":", sizeof(name) + 3), json_i64(out, v))
#define json_member_text(out, name, text) \
	(outbuf_put(out, ",\"" name "\":", sizeof(name) + 3), json_text(out, text))

#endif
