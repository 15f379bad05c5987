/* SPDX-License-Identifier: MIT */
/*
 * A strict reader of Arrow's C structs: checks an array against its schema and reads every byte
 * that it refers to. It knows nothing of sonde but the header.
 *
 *	char why[ARROW_WALK_WHY];
 *
 *	if (arrow_walk(&schema, &array, why) < 0)
 *		fail_msg("%s", why);
 *
 * Checked: formats, number of buffers and children, names, metadata; buffers aligned to 64 bytes;
 * offsets that begin at 0, never decrease, and end inside the elements; valid UTF-8 of each value;
 * null_count equal to the bitmap; no bitmap if there is no null; codes of values that are not null
 * inside the dictionary; values of a dictionary all different.
 */
#ifndef ARROW_WALK_H
#define ARROW_WALK_H

#include <stdbool.h>

#include "sonde/sonde.h"

enum { ARROW_WALK_WHY = 256 };

/* Returns 0, or -1 with a text in why. */
int arrow_walk(const struct ArrowSchema *schema, const struct ArrowArray *array,
	       char why[ARROW_WALK_WHY]);
int arrow_walk_schema(const struct ArrowSchema *schema, char why[ARROW_WALK_WHY]);

bool arrow_is_null(const struct ArrowArray *a, int64_t row);
/* The column of that name; -1 if there is none. */
int arrow_find(const struct ArrowSchema *schema, const char *name);
/* The number of a value of an integer format, sign- or zero-extended. */
uint64_t arrow_number(const char *format, const struct ArrowArray *a, int64_t row);
/* A value of a column u, z or a dictionary of them. Borrowed from the array. */
const char *arrow_text(const struct ArrowArray *a, int64_t row, size_t *ret_len);
/* The value of a key of a schema's metadata; "" if it is missing. */
const char *arrow_meta_value(const struct ArrowSchema *schema, const char *key, char room[64]);

#endif
