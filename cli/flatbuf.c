/* SPDX-License-Identifier: MIT */
#include "flatbuf.h"

#include <stdlib.h>
#include <string.h>

enum {
	FLATBUF_MOST_FIELDS = 8,
	FLATBUF_MOST_BYTES = 1 << 30, /* references of readers are signed in places */
};

/* Appends n zero bytes and returns their position; 0 on failure. */
static size_t flatbuf_grow(struct flatbuf *b, size_t n)
{
	const size_t at = b->len;

	if (b->failed || n > FLATBUF_MOST_BYTES - b->len) {
		b->failed = true;
		return 0;
	}
	if (b->len + n > b->room) {
		const size_t room = 2 * (b->len + n) + 512;
		uint8_t *more = realloc(b->data, room);

		if (!more) {
			b->failed = true;
			return 0;
		}
		b->data = more;
		b->room = room;
	}
	memset(b->data + at, 0, n);
	b->len += n;
	return at;
}

/* Stores the low `width` bytes of a number, the lowest first. */
static void flatbuf_store(struct flatbuf *b, size_t at, uint64_t value, size_t width)
{
	for (size_t i = 0; i < width && !b->failed; i++)
		b->data[at + i] = (uint8_t)(value >> 8 * i);
}

static uint32_t flatbuf_load_u16(const struct flatbuf *b, size_t at)
{
	return b->data[at] | (uint32_t)b->data[at + 1] << 8;
}

static uint32_t flatbuf_load_u32(const struct flatbuf *b, size_t at)
{
	return flatbuf_load_u16(b, at) | flatbuf_load_u16(b, at + 2) << 16;
}

/* Appends zeros until what follows `ahead` further bytes is aligned. */
static void flatbuf_align(struct flatbuf *b, size_t ahead, size_t alignment)
{
	flatbuf_grow(b, (alignment - (b->len + ahead) % alignment) % alignment);
}

size_t flatbuf_table(struct flatbuf *b, const struct flatbuf_field *fields, size_t nr)
{
	size_t offsets[FLATBUF_MOST_FIELDS] = { 0 }, size = 4, vtable, table;

	if (nr > FLATBUF_MOST_FIELDS) {
		b->failed = true;
		return 0;
	}
	/* The widest fields first: the table begins at 4 modulo 8, so there are no gaps. */
	for (size_t width = 8; width; width /= 2)
		for (size_t i = 0; i < nr; i++)
			if (fields[i].width == width) {
				offsets[i] = size;
				size += width;
			}
	flatbuf_align(b, 4 + 2 * nr + 4, 8);
	vtable = flatbuf_grow(b, 4 + 2 * nr);
	table = flatbuf_grow(b, size);
	flatbuf_store(b, vtable, 4 + 2 * nr, 2);
	flatbuf_store(b, vtable + 2, size, 2);
	flatbuf_store(b, table, table - vtable, 4);
	for (size_t i = 0; i < nr; i++) {
		flatbuf_store(b, vtable + 4 + 2 * i, offsets[i], 2);
		flatbuf_store(b, table + offsets[i], fields[i].value, fields[i].width);
	}
	return b->failed ? 0 : table;
}

size_t flatbuf_root(struct flatbuf *b, const struct flatbuf_field *fields, size_t nr)
{
	const size_t root = flatbuf_grow(b, 4), table = flatbuf_table(b, fields, nr);

	flatbuf_store(b, root, table, 4);
	return table;
}

size_t flatbuf_string(struct flatbuf *b, const char *text, size_t len)
{
	size_t at;

	flatbuf_align(b, 0, 4);
	at = flatbuf_grow(b, 4 + len + 1);
	if (b->failed)
		return 0;
	flatbuf_store(b, at, len, 4);
	memcpy(b->data + at + 4, text, len);
	return at;
}

size_t flatbuf_vector(struct flatbuf *b, size_t nr)
{
	size_t at;

	flatbuf_align(b, 0, 4);
	at = nr <= FLATBUF_MOST_BYTES / 4 ? flatbuf_grow(b, 4 + 4 * nr) : flatbuf_grow(b, SIZE_MAX);
	flatbuf_store(b, at, nr, 4);
	return b->failed ? 0 : at;
}

size_t flatbuf_structs(struct flatbuf *b, size_t nr, size_t bytes)
{
	size_t at, all;

	flatbuf_align(b, 4, 8);
	at = flatbuf_grow(b, 4);
	if (__builtin_mul_overflow(nr, bytes, &all))
		all = SIZE_MAX;
	flatbuf_grow(b, all);
	flatbuf_store(b, at, nr, 4);
	return b->failed ? 0 : at;
}

void flatbuf_store_u64(struct flatbuf *b, size_t at, uint64_t value)
{
	flatbuf_store(b, at, value, 8);
}

/* The position of a field that is there. */
static size_t flatbuf_place(const struct flatbuf *b, size_t table, size_t id)
{
	const size_t vtable = table - flatbuf_load_u32(b, table);

	return table + flatbuf_load_u16(b, vtable + 4 + 2 * id);
}

void flatbuf_set_u8(struct flatbuf *b, size_t table, size_t id, uint8_t value)
{
	if (!b->failed)
		flatbuf_store(b, flatbuf_place(b, table, id), value, 1);
}

void flatbuf_refer(struct flatbuf *b, size_t table, size_t id, size_t target)
{
	size_t at;

	if (b->failed)
		return;
	at = flatbuf_place(b, table, id);
	flatbuf_store(b, at, target - at, 4);
}

void flatbuf_refer_item(struct flatbuf *b, size_t vector, size_t i, size_t target)
{
	const size_t at = vector + 4 + 4 * i;

	flatbuf_store(b, at, target - at, 4);
}

void flatbuf_done(struct flatbuf *b)
{
	free(b->data);
	*b = (struct flatbuf){ 0 };
}
