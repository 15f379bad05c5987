/* SPDX-License-Identifier: MIT */
/*
 * The dense table of a session's schemas: assigns their ids and families (schemas of one name), and
 * compiles their print formats.
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
 * The compiled print format. The first call compiles it. NULL if the schema has no print format or
 * memory ran out.
 */
const struct printfmt *schema_printfmt(struct sonde_schema *sc);

/* The definitions of flags and symbols. The first call makes them. None if memory ran out. */
const struct sonde_define *schema_defines(struct sonde_schema *sc, size_t *ret_nr);

struct schema_table {
	struct arena arena;                 /* schemas and everything they refer to */
	VEC(struct sonde_schema *) schemas; /* indexed by id */
	struct hash64 by_name;              /* hash of a name -> the first schema's id */
	const void *maker;                  /* the source of the first schema taken */
	bool has_makers;                    /* schemas of other sources were taken, too */
};

/* Adds a schema, which is allocated in the table's arena. Sets its id and family. */
int schema_table_add(struct schema_table *t, struct sonde_schema *sc);
/*
 * The same for a session of several recordings. If another source than maker has added an identical
 * schema, *ret is that schema, and nothing is added. Otherwise *ret is sc.
 */
int schema_table_take(struct schema_table *t, struct sonde_schema *sc, const void *maker,
		      struct sonde_schema **ret);
/* The schema of an id; NULL if there is none. */
static inline struct sonde_schema *schema_at(const struct schema_table *t, uint32_t id)
{
	return id < t->schemas.n ? t->schemas.v[id] : NULL;
}

void schema_table_done(struct schema_table *t);

#endif
