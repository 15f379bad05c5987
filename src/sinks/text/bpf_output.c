/* SPDX-License-Identifier: MIT */
#include "sinks/text/bpf_output.h"

enum { ROW_BYTES = 8 };

/*
 * True for printable characters of Latin-1. perf prints its upper half unchanged, except control
 * characters.
 */
static bool bpf_output_is_printable(uint8_t c)
{
	return (c >= 0x20 && c < 0x7f) || c >= 0xa0;
}

/* True if the bytes are printable characters followed by one or more NULs up to the end. */
static bool bpf_output_is_text(const uint8_t *bytes, size_t len)
{
	size_t n = 0;

	while (n < len && bpf_output_is_printable(bytes[n]))
		n++;
	if (n == len)
		return false;
	while (n < len && !bytes[n])
		n++;
	return n == len;
}

static void bpf_output_put_row(const uint8_t *bytes, size_t len, size_t offset, struct outbuf *out)
{
	outbuf_str(out, offset ? "                 " : "      BPF output:");
	outbuf_fmt(out, " %04zx:", offset);
	for (size_t i = 0; i < ROW_BYTES; i++) {
		if (i < len)
			outbuf_fmt(out, " %02x", bytes[i]);
		else
			outbuf_str(out, "   ");
	}
	outbuf_str(out, "  ");
	for (size_t i = 0; i < ROW_BYTES; i++)
		outbuf_char(out, i >= len                            ? ' '
				 : bpf_output_is_printable(bytes[i]) ? (char)bytes[i]
								     : '.');
	outbuf_char(out, '\n');
}

void text_bpf_output_put(const uint8_t *bytes, size_t len, struct outbuf *out)
{
	outbuf_char(out, '\n');
	for (size_t at = 0; at < len; at += ROW_BYTES)
		bpf_output_put_row(bytes + at, len - at < ROW_BYTES ? len - at : ROW_BYTES, at,
				   out);
	if (bpf_output_is_text(bytes, len)) {
		outbuf_str(out, "      BPF string: \"");
		outbuf_str(out, (const char *)bytes);
		outbuf_str(out, "\"\n");
	}
}
