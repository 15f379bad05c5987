/* SPDX-License-Identifier: MIT */
/* Rare numbers, and numbers that no hot path reads. */
#include "model/value.h"

#include <string.h>

bool field_swap(const struct sonde_field *f, bool swap)
{
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	return f->byte_order ? (f->byte_order == SONDE_ORDER_BIG) != host_is_big : swap;
}

uint64_t value_bits(const uint8_t *p, uint32_t len, uint32_t bit_offset, uint32_t bit_width,
		    bool is_big_endian)
{
	uint64_t v = 0;

	if (bit_width > 64 || bit_offset + bit_width > 8 * (uint64_t)len)
		return 0;
	for (uint32_t done = 0; done < bit_width;) {
		const uint8_t byte = p[(bit_offset + done) / 8];
		const uint32_t at = (bit_offset + done) % 8, left = bit_width - done,
			       n = left < 8 - at ? left : 8 - at;
		const uint64_t mask = (1u << n) - 1;

		if (is_big_endian)
			v = v << n | (byte >> (8 - at - n) & mask);
		else
			v |= (byte >> at & mask) << done;
		done += n;
	}
	return v;
}

uint64_t field_special_u64(const struct sonde_field *f, const uint8_t *bytes, uint32_t len,
			   bool swap)
{
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;

	swap = field_swap(f, swap);
	if (!f->bit_width)
		return field_u64(f, bytes, len, swap);
	if (f->width > len || f->offset > len - f->width)
		return 0;
	return value_bits(bytes + f->offset, f->width, f->bit_offset, f->bit_width,
			  swap != host_is_big);
}

uint64_t field_sign_extend(const struct sonde_field *f, uint64_t v)
{
	const unsigned bits = f->bit_width ? f->bit_width : 8 * f->width,
		       unused = bits && bits < 64 ? 64 - bits : 0;

	return f->is_signed ? (uint64_t)((int64_t)(v << unused) >> unused) : v;
}

double field_double(const struct sonde_field *f, const uint8_t *bytes, uint32_t len, bool swap)
{
	const uint64_t v = field_number(f, bytes, len, swap);
	const uint32_t half = (uint32_t)v;
	float single;
	double d;

	if (f->kind != SONDE_FIELD_FLOAT)
		return f->is_signed ? (double)(int64_t)field_sign_extend(f, v) : (double)v;
	memcpy(&single, &half, sizeof(single));
	memcpy(&d, &v, sizeof(d));
	return f->width == sizeof(single) ? (double)single : d;
}

const char *field_label(const struct sonde_field *f, uint64_t v)
{
	v = field_sign_extend(f, v);
	for (uint32_t i = 0; i < f->nr_labels; i++) {
		const struct sonde_label *l = &f->labels[i];

		if (f->is_signed ? (int64_t)l->from <= (int64_t)v && (int64_t)v <= (int64_t)l->to
				 : l->from <= v && v <= l->to)
			return l->text;
	}
	return NULL;
}
