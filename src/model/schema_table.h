/* SPDX-License-Identifier: MIT */
/*
 * The dense table of a session's schemas: their ids, which events have one name, their compiled
 * print formats.
 */
#ifndef SONDE_MODEL_SCHEMA_TABLE_H
#define SONDE_MODEL_SCHEMA_TABLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/vec.h"
#include "model/printfmt/printfmt.h"
#include "model/schema.h"

/*
 * The compiled print format, compiled at the first call; NULL when the schema has none or memory
 * ran out.
 */
const struct printfmt *schema_printfmt(struct sonde_schema *sc);

/* Made at the first call. None if memory ran out. */
const struct sonde_define *schema_defines(struct sonde_schema *sc, size_t *ret_nr);

struct schema_table {
	struct arena arena;                 /* schemas and all that hangs on them */
	VEC(struct sonde_schema *) schemas; /* indexed by id */
	struct hash64 by_name;              /* hash of a name -> the first schema's id */
	const void *maker;                  /* of the first schema that was taken */
	bool has_makers;                    /* ... and of others another one */
};

/* Takes the schema (allocated in the table's arena) in: sets id and family. */
int schema_table_add(struct schema_table *t, struct sonde_schema *sc);
/*
 * The same for a session of several recordings: one that a source other than maker made and that
 * says the same of its events in every respect is taken in its place.
 */
int schema_table_take(struct schema_table *t, struct sonde_schema *sc, const void *maker,
		      struct sonde_schema **ret);
/* NULL behind the last. */
static inline struct sonde_schema *schema_at(const struct schema_table *t, uint32_t id)
{
	return id < t->schemas.n ? t->schemas.v[id] : NULL;
}

void schema_table_done(struct schema_table *t);

#endif
