/* SPDX-License-Identifier: MIT */
/*
 * Reads field values from payload bytes: inline and bounded, for hot paths. field_u64() reads
 * fields of kind INT in the recording's byte order; field_number() and field_double() read all
 * numbers.
 */
#ifndef SONDE_MODEL_VALUE_H
#define SONDE_MODEL_VALUE_H

#include "base/bytes.h"
#include "sonde/sonde.h"

static inline bool value_has_width(uint32_t width)
{
	return width == 1 || width == 2 || width == 4 || width == 8;
}

/* A number of 1, 2, 4 or 8 bytes, zero-extended; any other width gives 0. */
static inline uint64_t value_u64(const uint8_t *p, uint32_t width, bool swap)
{
	switch (width) {
	case 1:
		return *p;
	case 2:
		return get_u16(p, swap);
	case 4:
		return get_u32(p, swap);
	case 8:
		return get_u64(p, swap);
	}
	return 0;
}

static inline int64_t value_sign_extend(uint64_t v, uint32_t width)
{
	unsigned unused_bits = width && width < 8 ? 64 - 8 * width : 0;

	return (int64_t)(v << unused_bits) >> unused_bits;
}

/* The number of bytes before the first NUL among 16 bytes. */
static inline unsigned value_comm_len(const uint8_t *p)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (unsigned i = 0; i < 16; i += 8) {
		uint64_t v = load_u64(p + i),
			 zero = (v - 0x0101010101010101) & ~v & 0x8080808080808080;

		if (zero)
			return i + (unsigned)__builtin_ctzll(zero) / 8;
	}
	return 16;
#else
	return (unsigned)strnlen((const char *)p, 16);
#endif
}

/* True if the record has all bytes of a field of known width. */
static inline bool field_is_inside(const struct sonde_field *f, uint32_t len)
{
	return f->width <= len && f->offset <= len - f->width;
}

static inline uint64_t field_u64(const struct sonde_field *f, const uint8_t *bytes, uint32_t len,
				 bool swap)
{
	if (!field_is_inside(f, len))
		return 0;
	return value_u64(bytes + f->offset, f->width, swap);
}

/*
 * The bytes of a field, or the bytes that a dynamic field points to, clipped to the record. NULL if
 * they are outside the record.
 */
static inline const uint8_t *field_bytes(const struct sonde_field *f, const uint8_t *bytes,
					 uint32_t len, bool swap, uint32_t *ret_len)
{
	uint32_t off = f->offset, n = f->width;

	*ret_len = 0;
	if (off > len)
		return NULL;
	if (f->is_dynamic) {
		uint32_t word;

		if (len - off < 4)
			return NULL;
		word = get_u32(bytes + off, swap);
		n = word >> 16;
		off = (word & 0xffff) + (f->is_relative ? f->offset + 4 : 0);
		if (off > len)
			return NULL;
	} else if (!n) {
		n = len - off;
	}
	*ret_len = n < len - off ? n : len - off;
	return bytes + off;
}

/* True for a number with its own byte order or a width in bits. */
static inline bool field_is_special(const struct sonde_field *f)
{
	return f->byte_order || f->bit_width;
}

/* True if the field must be swapped. swap says it for the event. */
bool field_swap(const struct sonde_field *f, bool swap);
/* A bit field of the len bytes at p; 0 if it is not inside them. See sonde_field.bit_width. */
uint64_t value_bits(const uint8_t *p, uint32_t len, uint32_t bit_offset, uint32_t bit_width,
		    bool is_big_endian);
/* The number of a field that field_is_special(), zero-extended. */
uint64_t field_special_u64(const struct sonde_field *f, const uint8_t *bytes, uint32_t len,
			   bool swap);
/* v, sign-extended if the field is signed. */
uint64_t field_sign_extend(const struct sonde_field *f, uint64_t v);
double field_double(const struct sonde_field *f, const uint8_t *bytes, uint32_t len, bool swap);
/* The label of v, which may be sign-extended or not. NULL if it has no label. */
const char *field_label(const struct sonde_field *f, uint64_t v);

/* The number of an INT, ENUM or BITS field, zero-extended; the bits of a FLOAT. */
static inline uint64_t field_number(const struct sonde_field *f, const uint8_t *bytes, uint32_t len,
				    bool swap)
{
	return __builtin_expect(field_is_special(f), 0) ? field_special_u64(f, bytes, len, swap)
							: field_u64(f, bytes, len, swap);
}

#endif
