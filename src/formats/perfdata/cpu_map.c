/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/cpu_map.h"

/*
 * u16 kind, then
 *	LIST	u16 nr, u16 cpu[nr]
 *	MASK	u16 nr, u16 bytes of a word (4, 8), padding to it, word[nr]
 *	RANGE	u8 any, u8 pad, u16 first, u16 last
 */
static uint16_t cpu_map_take_u16(struct bytes *b)
{
	const uint8_t *p = NULL;

	return bytes_take(b, "number", 2, &p) < 0 ? 0 : get_u16(p, b->swap);
}

enum cpu_map_kind { CPU_MAP_LIST, CPU_MAP_MASK, CPU_MAP_RANGE };

static int cpu_map_read_mask(struct bytes *b, int (*add)(void *ctx, int64_t cpu), void *ctx)
{
	unsigned nr = cpu_map_take_u16(b), word_bytes = cpu_map_take_u16(b);

	if (word_bytes == 8)
		TRY(bytes_skip(b, "padding", 4));
	if (word_bytes != 4 && word_bytes != 8)
		return bytes_fail(b, -EBADMSG, "a mask of words of %u bytes", word_bytes);
	for (unsigned i = 0; i < nr; i++) {
		uint32_t half = 0;
		uint64_t word = 0;

		if (word_bytes == 4) {
			TRY(bytes_u32(b, "mask", &half));
			word = half;
		} else {
			TRY(bytes_u64(b, "mask", &word));
		}
		for (unsigned bit = 0; bit < 8 * word_bytes; bit++) {
			if (word >> bit & 1)
				TRY(add(ctx, (int64_t)i * 8 * word_bytes + bit));
		}
	}
	return 0;
}

int perfdata_cpus_read(struct bytes *b, int (*add)(void *ctx, int64_t cpu), void *ctx)
{
	unsigned kind, nr;

	if (bytes_left(b) < 8)
		return bytes_fail(b, -EBADMSG, "a set of cpus of %zu bytes", bytes_left(b));
	kind = cpu_map_take_u16(b);
	switch (kind) {
	case CPU_MAP_LIST:
		nr = cpu_map_take_u16(b);
		if (nr > bytes_left(b) / 2)
			return bytes_fail(b, -EBADMSG, "%u cpus do not fit", nr);
		while (nr--)
			TRY(add(ctx, (int16_t)cpu_map_take_u16(b)));
		break;
	case CPU_MAP_MASK:
		TRY(cpu_map_read_mask(b, add, ctx));
		break;
	case CPU_MAP_RANGE: {
		bool any = cpu_map_take_u16(b) & 0xff;
		unsigned from = cpu_map_take_u16(b), to = cpu_map_take_u16(b);

		if (b->swap) /* a byte, not a number */
			any = b->pos[-6];
		if (any)
			TRY(add(ctx, -1));
		for (unsigned cpu = from; cpu <= to; cpu++)
			TRY(add(ctx, cpu));
		break;
	}
	default:
		return bytes_fail(b, -EBADMSG, "a set of cpus of kind %u", kind);
	}
	return 0;
}
