/* SPDX-License-Identifier: MIT */
/*
 * Digits written forward into room that the caller has: 24 bytes may be touched, whatever the number of digits; the
 * place behind the last digit is returned. Several digits are computed side by side in one word.
 */
#ifndef SONDE_MODEL_PRINTFMT_DIGITS_H
#define SONDE_MODEL_PRINTFMT_DIGITS_H

#include <stdint.h>
#include <string.h>

#include "base/outbuf.h"

/* A word whose lowest byte comes first in memory. */
static inline void pf_store_le(char *to, uint64_t v)
{
#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
	v = __builtin_bswap64(v);
#endif
	memcpy(to, &v, 8);
}

/* Eight hexadecimal digits of v, the highest in the lowest byte. */
static inline uint64_t pf_hex_word(uint32_t v)
{
	uint64_t x = v, over_nine;

	x = ((x & 0xffff0000) << 16) | (x & 0xffff);
	x = ((x & 0x0000ff000000ff00) << 8) | (x & 0x000000ff000000ff);
	x = ((x & 0x00f000f000f000f0) << 4) | (x & 0x000f000f000f000f);
	over_nine = ((x + 0x0606060606060606) >> 4) & 0x0101010101010101;
	return __builtin_bswap64(x + 0x3030303030303030 + over_nine * ('a' - '0' - 10));
}

static inline char *pf_write_hex(char *to, uint64_t v)
{
	unsigned n = v ? (67u - (unsigned)__builtin_clzll(v)) / 4 : 1;

	if (n <= 8) {
		pf_store_le(to, pf_hex_word((uint32_t)v) >> 8 * (8 - n));
		return to + n;
	}
	pf_store_le(to, pf_hex_word((uint32_t)(v >> 32)) >> 8 * (16 - n));
	pf_store_le(to + n - 8, pf_hex_word((uint32_t)v));
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
