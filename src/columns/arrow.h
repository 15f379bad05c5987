/* SPDX-License-Identifier: MIT */
/*
 * Makes the structs of Arrow's C data interface: arrays that own references to shared memory, and
 * schemas that own copies of their texts. Release functions may be called by any thread. Children
 * and dictionaries that were moved away are not released with their parent.
 */
#ifndef SONDE_COLUMNS_ARROW_H
#define SONDE_COLUMNS_ARROW_H

#include "columns/shared.h"
#include "sonde/sonde.h"

enum { ARROW_MAX_BUFFERS = 3 };

/* The content of an array. */
struct arrow_content {
	int64_t length, null_count;
	unsigned nr_buffers;
	struct shared *buffers[ARROW_MAX_BUFFERS]; /* borrowed; NULL for a missing bitmap */
	unsigned nr_children;                      /* they are made empty, for the caller to fill */
	int has_dictionary;                        /* the same */
};

/*
 * Makes an array whose children and dictionary are already released. Returns 0 on success, -ENOMEM
 * on failure, which leaves *ret as it was.
 */
int arrow_array(struct ArrowArray *ret, const struct arrow_content *content);

/* A key and its value, for arrow_schema(); the last pair of an array has key NULL. */
struct arrow_meta {
	const char *key, *value;
};

/* The same for a schema. name, format and meta (may be NULL) are copied. */
int arrow_schema(struct ArrowSchema *ret, const char *format, const char *name, int64_t flags,
		 const struct arrow_meta *meta, unsigned nr_children, int has_dictionary);

/* Releases an array or a schema that may be released already. */
void arrow_array_done(struct ArrowArray *a);
void arrow_schema_done(struct ArrowSchema *s);

#endif
