/* SPDX-License-Identifier: MIT */
/*
 * Reads the values of Arrow arrays one by one, for the formats that are written by rows.
 *
 *	struct cell *c;
 *
 *	cell_new(&c, schema->children[i]);
 *	...
 *	const struct ArrowArray *a = batch->children[i];
 *	const struct cell *values = cell_find(c, &a, &row);
 *
 *	if (values && values->type.kind == CELL_UNSIGNED)
 *		use(cell_u64(&values->type, a, row));
 *	else if (!values)
 *		... null
 */
#ifndef SONDE_CLI_CELL_H
#define SONDE_CLI_CELL_H

#include <sonde/sonde.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cell_kind {
	CELL_SIGNED,
	CELL_UNSIGNED,
	CELL_FLOAT,
	CELL_BOOL,
	CELL_TEXT,  /* UTF-8 */
	CELL_BYTES, /* any bytes */
	CELL_LIST,  /* of the values of children[0] */
	CELL_STRUCT /* of children; only the formats that are written by columns have it */
};

/* The layout of an array, without that of its dictionary: then the values are the codes. */
struct cell_type {
	enum cell_kind kind;
	uint32_t width; /* bytes of a number, of an offset, or of fixed bytes */
	/* Values of TEXT, BYTES and LIST have offsets of `width` bytes, else a fixed size. */
	bool has_offsets;
	uint32_t fixed; /* LIST without offsets: elements of a list */
};

/* Returns false for a format that is not supported. */
bool cell_type_parse(struct cell_type *ret, const struct ArrowSchema *schema);

/* row counts from 0 in all of these; the array's own offset is added. */
static inline bool cell_is_null(const struct ArrowArray *a, int64_t row)
{
	const uint8_t *valid = a->null_count && a->n_buffers ? a->buffers[0] : NULL;

	row += a->offset;
	return valid && !(valid[row / 8] >> row % 8 & 1);
}
/* The value of a number of any kind, sign-extended if it is signed. */
uint64_t cell_u64(const struct cell_type *t, const struct ArrowArray *a, int64_t row);
double cell_double(const struct cell_type *t, const struct ArrowArray *a, int64_t row);
/* TEXT and BYTES; not terminated. Valid as long as the array. */
const char *cell_bytes(const struct cell_type *t, const struct ArrowArray *a, int64_t row,
		       size_t *ret_len);
/* LIST: the rows of children[0] that are its elements: [*ret_from, *ret_to). */
void cell_list(const struct cell_type *t, const struct ArrowArray *a, int64_t row,
	       int64_t *ret_from, int64_t *ret_to);

/* A column with its dictionary and the elements of its lists. */
struct cell {
	struct cell_type type;
	struct cell *values;  /* of the dictionary; NULL if it has none */
	struct cell *element; /* of a list; NULL for other kinds */
};

/* Returns 0, -ENOMEM, or -ENOTSUP for a type that cannot be written by rows. */
int cell_new(struct cell **ret, const struct ArrowSchema *schema);
void cell_free(struct cell *c); /* NULL is allowed */
/* The columns of a struct's children, in an array that cells_free() frees. */
int cells_new(struct cell ***ret, const struct ArrowSchema *schema);
void cells_free(struct cell **columns, int64_t nr); /* NULL is allowed */
/*
 * Finds the value of a row: follows the dictionary. Returns the column of the value, with its array
 * and row, or NULL if the value is null.
 */
const struct cell *cell_find(const struct cell *c, const struct ArrowArray **a, int64_t *row);

/* Text that grows. */
struct cell_text {
	char *data; /* owned; not terminated */
	size_t len, room;
	bool failed; /* no memory */
};
void cell_text_put(struct cell_text *t, const char *bytes, size_t len);
void cell_text_done(struct cell_text *t);
static inline void cell_text_put_char(struct cell_text *t, char c)
{
	if (t->len < t->room)
		t->data[t->len++] = c;
	else
		cell_text_put(t, &c, 1);
}
/* A number of type t in decimal digits. */
void cell_text_put_integer(struct cell_text *text, const struct cell_type *t, uint64_t value);
/*
 * A float with the fewest digits that give the same 64 bits when they are read; NaN, Infinity,
 * -Infinity.
 */
void cell_text_put_double(struct cell_text *text, double value);
/* Bytes as hexadecimal digits. */
void cell_text_put_hex(struct cell_text *text, const char *bytes, size_t len);
/* A list as JSON: [1,2]. Elements that are text or bytes are in quotes. a and row: cell_find(). */
void cell_text_put_list(struct cell_text *text, const struct cell *c, const struct ArrowArray *a,
			int64_t row);

#endif
