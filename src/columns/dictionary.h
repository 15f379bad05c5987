/* SPDX-License-Identifier: MIT */
/*
 * The dictionary of a column: distinct values, numbered from 0 in the order of their first
 * occurrence. Codes never change. Values are stored as an Arrow array needs them, so each batch
 * refers to the values so far without a copy.
 *
 *	offsets	0 | 4 | 11 | ...	n + 1 numbers, in elements
 *	values	bash|kworker|...
 */
#ifndef SONDE_COLUMNS_DICTIONARY_H
#define SONDE_COLUMNS_DICTIONARY_H

#include "columns/shared.h"

struct ArrowArray;

struct dictionary_slot {
	uint32_t hash;
	int32_t code; /* -1: free */
};

struct dictionary {
	uint32_t elem_bytes; /* 1 for texts, 8 for lists of addresses */
	int32_t nr;          /* values */
	size_t nr_elems;     /* elements of all values */
	struct shared *offsets, *values;
	struct dictionary_slot *slots; /* owned; open addressing with linear probing */
	size_t mask;
};

/* Returns 0 on success, -ENOMEM. */
int dictionary_init(struct dictionary *d, uint32_t elem_bytes);
void dictionary_done(struct dictionary *d);
/*
 * The code of a value of nr elements. Returns 0 on success, -ENOMEM, -EFBIG if the values no longer
 * fit into an Arrow array.
 */
int dictionary_code(struct dictionary *d, const void *value, size_t nr, int32_t *ret);
/* The values so far. Returns 0 on success, -ENOMEM. */
int dictionary_array(const struct dictionary *d, struct ArrowArray *ret);

#endif
