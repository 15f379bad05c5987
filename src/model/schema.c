/* SPDX-License-Identifier: MIT */
#include "model/schema.h"

#include <string.h>

#include "model/printfmt/printfmt.h"

const struct sonde_field *schema_find_field(const struct sonde_schema *sc, const char *name,
					    size_t len)
{
	for (size_t i = 0; i < sc->nr_fields; i++) {
		if (!strncmp(sc->fields[i].name, name, len) && !sc->fields[i].name[len])
			return &sc->fields[i];
	}
	return NULL;
}

const struct printfmt *schema_printfmt(struct sonde_schema *sc)
{
	if (!sc->print && sc->print_fmt)
		printfmt_compile(&sc->print, sc, sc->dialect);
	return sc->print;
}

int schema_table_add(struct schema_table *t, struct sonde_schema *sc)
{
	if (t->schemas.n >= UINT32_MAX)
		return err_set(-E2BIG, "more than 4294967295 event types");
	sc->arena = &t->arena;
	sc->id = sc->family = (uint32_t)t->schemas.n;
	vec_foreach(other, &t->schemas) {
		if (!strcmp((*other)->name, sc->name)) {
			sc->family = (*other)->family;
			break;
		}
	}
	return vec_push(&t->schemas, sc);
}

void schema_table_done(struct schema_table *t)
{
	vec_foreach(sc, &t->schemas)
		printfmt_free((*sc)->print);
	vec_done(&t->schemas);
	arena_done(&t->arena);
}
