/* SPDX-License-Identifier: MIT */
#include "skeleton.h"

#include <string.h>

const struct sonde_field *skeleton_fields(const struct sonde_schema *sc, size_t *ret_nr)
{
	size_t nr;
	const struct sonde_field *f = sonde_schema_fields(sc, &nr);

	while (nr && f->is_common) {
		f++;
		nr--;
	}
	*ret_nr = nr;
	return f;
}

const struct sonde_define *skeleton_names(const struct sonde_schema *sc,
					  const struct sonde_field *f)
{
	size_t nr;
	const struct sonde_define *d = sonde_schema_defines(sc, &nr);

	if (f->kind != SONDE_FIELD_INT && f->kind != SONDE_FIELD_ENUM)
		return NULL;
	for (; nr; nr--, d++)
		if ((d->kind == SONDE_DEFINE_FLAG_FIELD ||
		     d->kind == SONDE_DEFINE_SYMBOLIC_FIELD) &&
		    !strcmp(d->field, f->name))
			return d;
	return NULL;
}
