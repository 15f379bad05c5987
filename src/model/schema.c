/* SPDX-License-Identifier: MIT */
#include "model/schema.h"

#include <string.h>

enum {
	MAX_NESTING = 64
}; /* most dots in a field's path; sources limit the nesting of fields, too */

/* The len bytes may contain a NUL, if they are from a recording. */
static bool schema_is_name(const struct sonde_field *f, const char *name, size_t len)
{
	return !strncmp(f->name, name, len) && strlen(f->name) == len;
}

static const struct sonde_field *schema_find(const struct sonde_field *fields, size_t nr,
					     const char *name, size_t len, unsigned depth)
{
	const char *dot;

	for (size_t i = 0; i < nr; i++) {
		if (schema_is_name(&fields[i], name, len))
			return &fields[i];
	}
	/* A name may contain dots: the shortest prefix that names a struct is taken. */
	dot = depth < MAX_NESTING ? memchr(name, '.', len) : NULL;
	for (size_t i = 0; dot && i < nr; i++) {
		const size_t outer = (size_t)(dot - name);
		const struct sonde_field *f = &fields[i];

		if (f->kind == SONDE_FIELD_NESTED && schema_is_name(f, name, outer))
			return schema_find(f->fields, f->nr_fields, dot + 1, len - outer - 1,
					   depth + 1);
	}
	return NULL;
}

const struct sonde_field *schema_find_field(const struct sonde_schema *sc, const char *name,
					    size_t len)
{
	return schema_find(sc->fields, sc->nr_fields, name, len, 0);
}
