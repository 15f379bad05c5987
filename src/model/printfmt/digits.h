/* SPDX-License-Identifier: MIT */
/*
 * Writes digits forward into memory of the caller. Up to 24 bytes may be touched, whatever the
 * number of digits. Functions return the place after the last digit. Several digits are computed
 * in parallel in one word.
 */
#ifndef SONDE_MODEL_PRINTFMT_DIGITS_H
#define SONDE_MODEL_PRINTFMT_DIGITS_H

#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/outbuf.h"

/* Stores a word with its lowest byte first. */
static inline void pf_store_le(char *to, uint64_t v)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(to, &v, 8);
}

/*
 * The sixteen hexadecimal digits of v, eight in each word. The highest digit is the lowest byte of
 * ret[0].
 */
#ifdef __SSE2__
static inline void pf_hex_words(uint64_t v, uint64_t ret[2])
{
	const __m128i low = _mm_set1_epi8(0x0f),
		      bytes = _mm_cvtsi64_si128((long long)__builtin_bswap64(v)),
		      nibbles = _mm_unpacklo_epi8(_mm_and_si128(_mm_srli_epi16(bytes, 4), low),
						  _mm_and_si128(bytes, low)),
		      over_nine = _mm_and_si128(_mm_cmpgt_epi8(nibbles, _mm_set1_epi8(9)),
						_mm_set1_epi8('a' - '0' - 10)),
		      text = _mm_add_epi8(_mm_add_epi8(nibbles, _mm_set1_epi8('0')), over_nine);

	ret[0] = (uint64_t)_mm_cvtsi128_si64(text);
	ret[1] = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(text, text));
}
#else
static inline uint64_t pf_hex_word(uint32_t v)
{
	uint64_t x = v, over_nine;

	x = ((x & 0xffff0000) << 16) | (x & 0xffff);
	x = ((x & 0x0000ff000000ff00) << 8) | (x & 0x000000ff000000ff);
	x = ((x & 0x00f000f000f000f0) << 4) | (x & 0x000f000f000f000f);
	over_nine = ((x + 0x0606060606060606) >> 4) & 0x0101010101010101;
	return __builtin_bswap64(x + 0x3030303030303030 + over_nine * ('a' - '0' - 10));
}

static inline void pf_hex_words(uint64_t v, uint64_t ret[2])
{
	ret[0] = pf_hex_word((uint32_t)(v >> 32));
	ret[1] = pf_hex_word((uint32_t)v);
}
#endif

/*
 * Has no branch, because the lengths of successive numbers vary. Writes the word with the first
 * digit, then the other word. For a number of eight digits or fewer the second word is after the
 * number's end.
 */
static inline char *pf_write_hex(char *to, uint64_t v)
{
	const unsigned n = (67u - (unsigned)__builtin_clzll(v | 1)) / 4;
	uint64_t words[2];

	pf_hex_words(v, words);
	pf_store_le(to, (n > 8 ? words[0] : words[1]) >> (8 * (16 - n) & 63));
	pf_store_le(n > 8 ? to + n - 8 : to + 8, words[1]);
	return to + n;
}

/* Eight decimal digits of v < 10^8 as numbers 0..9, the highest in the lowest byte. */
static inline uint64_t pf_decimal_word(uint32_t v)
{
	uint64_t x = (uint64_t)(v / 10000) | (uint64_t)(v % 10000) << 32;
	uint64_t high = ((x * 10486) >> 20) & 0x0000007f0000007f, low = x - 100 * high;

	x = high | low << 16;
	high = ((x * 103) >> 10) & 0x000f000f000f000f;
	low = x - 10 * high;
	return high | low << 8;
}

static inline char *pf_write_u64(char *to, uint64_t v)
{
	const uint64_t ascii = 0x3030303030303030;
	uint64_t x;
	unsigned zeros;

	if (v < 10) {
		*to = (char)('0' + v);
		return to + 1;
	}
	if (v >= 100000000) {
		to = pf_write_u64(to, v / 100000000);
		pf_store_le(to, pf_decimal_word((uint32_t)(v % 100000000)) | ascii);
		return to + 8;
	}
	x = pf_decimal_word((uint32_t)v);
	zeros = (unsigned)__builtin_ctzll(x) / 8;
	pf_store_le(to, (x | ascii) >> 8 * zeros);
	return to + 8 - zeros;
}

static inline char *pf_write_i64(char *to, int64_t v)
{
	if (v >= 0)
		return pf_write_u64(to, (uint64_t)v);
	*to = '-';
	return pf_write_u64(to + 1, -(uint64_t)v);
}

/* 0x... */
static inline void pf_put_0x(struct outbuf *o, uint64_t v)
{
	char *to = outbuf_room(o, 26);

	if (to) {
		memcpy(to, "0x", 2);
		o->len = (size_t)(pf_write_hex(to + 2, v) - o->data);
	}
}

#endif
