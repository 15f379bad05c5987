/* SPDX-License-Identifier: MIT */
#include "model/record_schema.h"

#include <string.h>

#include "base/err.h"

int record_schema_make(struct schema_table *t, const void *maker, const char *name, unsigned traits,
		       const struct sonde_field *fields, size_t nr, struct sonde_schema **ret)
{
	struct sonde_schema *sc = arena_alloc(&t->arena, sizeof(*sc));

	if (!sc)
		return err_nomem();
	*sc = (struct sonde_schema){
		.kind = SONDE_RECORD,
		.traits = traits,
		.system = "",
		.event = name,
		.name = name,
		.abi = { .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__, .long_bytes = 8 },
		.fields = arena_array(&t->arena, nr, sizeof(*fields)),
		.nr_fields = nr,
	};
	if (!sc->fields)
		return err_nomem();
	memcpy(sc->fields, fields, nr * sizeof(*fields));
	return schema_table_take(t, sc, maker, ret);
}
