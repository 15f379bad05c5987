/* SPDX-License-Identifier: MIT */
#include "sinks/text/terminal.h"

#include <stdlib.h>

#include "base/err.h"
/* Bytes of the character at p if it is well-formed UTF-8 and no control character, else 0. */
static size_t terminal_harmless(const unsigned char *p, size_t len, bool line_ends)
{
	size_t n = *p < 0x80 ? 1 : *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;

	if (n == 1)
		return (*p >= 0x20 && *p != 0x7f) || (line_ends && (*p == '\n' || *p == '\t'));
	if (*p < 0xc2 || *p > 0xf4 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	}
	/* U+0080..U+009F are control characters for some terminals */
	return *p == 0xc2 && p[1] < 0xa0 ? 0 : n;
}

static size_t terminal_first_harmful(const unsigned char *p, size_t len, bool line_ends)
{
	size_t i = 0, n;

	while (i < len && (n = terminal_harmless(p + i, len - i, line_ends)))
		i += n;
	return i;
}

void text_terminal_quiet(struct outbuf *out, size_t start, bool line_ends)
{
	size_t len = out->failed ? 0 : out->len - start, at;
	const unsigned char *text;
	unsigned char *rest;

	if (!len)
		return; /* `data` may be NULL */
	text = (const unsigned char *)out->data + start;
	at = terminal_first_harmful(text, len, line_ends);
	if (at == len)
		return;
	rest = malloc(len - at);
	if (!rest) {
		err_note_nomem();
		out->len = start + at; /* drop the rest rather than print it unchanged */
		return;
	}
	len -= at;
	memcpy(rest, text + at, len);
	out->len = start + at;
	for (size_t i = 0, n; i < len; i += n ? n : 1) {
		n = terminal_harmless(rest + i, len - i, line_ends);
		if (n)
			outbuf_put(out, rest + i, n);
		else
			outbuf_fmt(out, "\\x%02x", rest[i]);
	}
	free(rest);
}
