/* SPDX-License-Identifier: MIT */
/*
 * Arrow's structs with shared ownership, without Python: consumers release them in any thread,
 * without the interpreter lock.
 */
#ifndef SONDE_PY_ARROW_H
#define SONDE_PY_ARROW_H

#include <stddef.h>

#include "sonde/sonde.h"

/* A batch with its type, counted by references. */
struct arrow_batch {
	struct ArrowSchema schema;
	struct ArrowArray array; /* a struct (+s) */
	int refs;
};

/* Takes over both structs; NULL (nothing is taken) if there is no memory. */
struct arrow_batch *arrow_batch_new(struct ArrowSchema *schema, struct ArrowArray *array);
struct arrow_batch *arrow_batch_ref(struct arrow_batch *b); /* returns b */
void arrow_batch_unref(struct arrow_batch *b);              /* NULL is allowed */

/* An array of no elements of a type. Returns 0 or -ENOMEM. */
int arrow_empty(const struct ArrowSchema *type, struct ArrowArray *ret);
/* A copy of a type. Returns 0 or -ENOMEM. */
int arrow_copy_schema(const struct ArrowSchema *from, struct ArrowSchema *ret);
/* A view of an array of the batch, which keeps the batch. Returns 0 or -ENOMEM. */
int arrow_share(struct arrow_batch *b, const struct ArrowArray *from, struct ArrowArray *ret);
/*
 * A stream of column `column` of the batches, or of all columns if it is -1. All batches have one
 * type; nr is at least 1. Returns 0 or -ENOMEM.
 */
int arrow_stream(struct arrow_batch *const *batches, size_t nr, int64_t column,
		 struct ArrowArrayStream *ret);

#endif
