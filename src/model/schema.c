/* SPDX-License-Identifier: MIT */
#include "model/schema.h"

#include <string.h>

const struct sonde_field *schema_find_field(const struct sonde_schema *sc, const char *name,
					    size_t len)
{
	for (size_t i = 0; i < sc->nr_fields; i++) {
		if (!strncmp(sc->fields[i].name, name, len) && !sc->fields[i].name[len])
			return &sc->fields[i];
	}
	return NULL;
}
