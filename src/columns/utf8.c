/* SPDX-License-Identifier: MIT */
#include "columns/utf8.h"

#include "base/err.h"

static bool utf8_is_tail(uint8_t byte)
{
	return (byte & 0xc0) == 0x80;
}

/* The length of the character at p; 0 if there is none. */
static size_t utf8_char_len(const uint8_t *p, size_t len)
{
	if (p[0] < 0x80)
		return 1;
	if (len < 2 || p[0] < 0xc2 || p[0] > 0xf4 || !utf8_is_tail(p[1]))
		return 0;
	if (p[0] < 0xe0)
		return 2;
	if (len < 3 || !utf8_is_tail(p[2]))
		return 0;
	if (p[0] < 0xf0) {
		const bool is_overlong = p[0] == 0xe0 && p[1] < 0xa0,
			   is_surrogate = p[0] == 0xed && p[1] > 0x9f;

		return is_overlong || is_surrogate ? 0 : 3;
	}
	if (len < 4 || !utf8_is_tail(p[3]) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] > 0x8f))
		return 0;
	return 4;
}

bool utf8_is_valid(const uint8_t *p, size_t len)
{
	const uint64_t high_bits = 0x8080808080808080u;
	uint64_t word;
	size_t n;

	for (; len >= sizeof(word); p += sizeof(word), len -= sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		if (word & high_bits)
			break;
	}
	for (; len; p += n, len -= n) {
		n = utf8_char_len(p, len);
		if (!n)
			return false;
	}
	return true;
}

int utf8_append(const uint8_t *p, size_t len, struct outbuf *out)
{
	static const char digits[] = "0123456789abcdef";

	while (len) {
		const size_t n = utf8_char_len(p, len);

		if (n) {
			outbuf_put(out, p, n);
		} else {
			const char bytes[] = { '\\', 'x', digits[*p >> 4], digits[*p & 15] };

			outbuf_put(out, bytes, sizeof(bytes));
		}
		p += n ? n : 1;
		len -= n ? n : 1;
	}
	return out->failed ? err_nomem() : 0;
}

int utf8_replace(const uint8_t *p, size_t len, struct outbuf *out)
{
	out->len = 0;
	return utf8_append(p, len, out);
}
