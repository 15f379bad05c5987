/* SPDX-License-Identifier: MIT */
/*
 * A builder of flatbuffers, the encoding of Arrow's metadata. It writes forwards: a table is
 * followed by what it refers to, and a reference is filled in when its target is written.
 *
 *	u32 root | ... | vtable | table | strings, vectors and tables that it refers to
 *
 *	vtable	u16 its bytes | u16 bytes of the table | u16 offset of each field in the table, 0 =
 *none table	i32 position of the table - position of its vtable | fields
 *	vector	u32 elements | elements
 *	string	u32 bytes | bytes | NUL
 *
 * A field that is a reference has the u32 distance from itself to its target. All numbers are
 * little-endian and aligned to their size, counted from the beginning of the buffer.
 *
 *	struct flatbuf b = { 0 };
 *	const struct flatbuf_field fields[] = { FLATBUF_U16(4), FLATBUF_REF };
 *	const size_t table = flatbuf_root(&b, fields, 2);
 *
 *	flatbuf_refer(&b, table, 1, flatbuf_string(&b, "name"));
 *	if (b.failed)
 *		... no memory
 *	flatbuf_done(&b);
 */
#ifndef SONDE_CLI_FLATBUF_H
#define SONDE_CLI_FLATBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct flatbuf {
	uint8_t *data; /* owned */
	size_t len, room;
	bool failed; /* no memory, or longer than a reference can span: further calls do nothing */
};

/* The fields of a table in the order of their ids. */
struct flatbuf_field {
	uint8_t width;  /* bytes; 0 if the field is left out, which means its default */
	uint64_t value; /* 0 for a reference, which flatbuf_refer() fills in */
};
#define FLATBUF_NONE       ((struct flatbuf_field){ 0, 0 })
#define FLATBUF_U8(v)      ((struct flatbuf_field){ 1, (uint64_t)(v) })
#define FLATBUF_U16(v)     ((struct flatbuf_field){ 2, (uint64_t)(v) })
#define FLATBUF_U32(v)     ((struct flatbuf_field){ 4, (uint64_t)(v) })
#define FLATBUF_U64(v)     ((struct flatbuf_field){ 8, (uint64_t)(v) })
#define FLATBUF_REF        FLATBUF_U32(0)
#define FLATBUF_REF_IF(is) ((is) ? FLATBUF_REF : FLATBUF_NONE)

/* All functions that write return the position of what they wrote, 0 on failure. */

/* Writes a table with up to 8 fields. */
size_t flatbuf_table(struct flatbuf *b, const struct flatbuf_field *fields, size_t nr);
/* Writes the root table, first of all. */
size_t flatbuf_root(struct flatbuf *b, const struct flatbuf_field *fields, size_t nr);
size_t flatbuf_string(struct flatbuf *b, const char *text, size_t len);
/* Writes a vector of nr references, which flatbuf_refer_item() fills in. */
size_t flatbuf_vector(struct flatbuf *b, size_t nr);
/*
 * Writes a vector of nr structs of `bytes` bytes each, which hold 64-bit numbers and are 0. They
 * begin at the returned position + 4.
 */
size_t flatbuf_structs(struct flatbuf *b, size_t nr, size_t bytes);
/* Stores a number of 64 bits at a position. */
void flatbuf_store_u64(struct flatbuf *b, size_t at, uint64_t value);
/* Changes field `id` of a table, a number of 8 bits. */
void flatbuf_set_u8(struct flatbuf *b, size_t table, size_t id, uint8_t value);
/* Lets field `id` of a table, which is a reference, refer to a target. */
void flatbuf_refer(struct flatbuf *b, size_t table, size_t id, size_t target);
/* Lets element i of a vector of references refer to a target. */
void flatbuf_refer_item(struct flatbuf *b, size_t vector, size_t i, size_t target);
void flatbuf_done(struct flatbuf *b);

#endif
