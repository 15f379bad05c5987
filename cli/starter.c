/* SPDX-License-Identifier: MIT */
#include "starter.h"

#include "list.h"

#include <string.h>

size_t starter_fields(const struct sonde_schema *sc, const struct sonde_field **ret,
		      bool (*is_name)(const char *name))
{
	size_t nr, n = 0;
	const struct sonde_field *f = skeleton_fields(sc, &nr);

	/* From the highest rank down, so that the best ones have room. */
	for (int rank = LIST_TRACEPOINT_RANKS; rank > 1; rank--)
		for (size_t i = 0; i < nr && n < STARTER_FIELDS; i++)
			if (list_tracepoint_rank(sc, &f[i]) == rank && is_name(f[i].name) &&
			    strcmp(f[i].name, "__syscall_nr"))
				ret[n++] = &f[i];
	for (size_t i = 1; i < n; i++)
		for (size_t k = i; k && ret[k - 1] > ret[k]; k--) {
			const struct sonde_field *other = ret[k];

			ret[k] = ret[k - 1];
			ret[k - 1] = other;
		}
	return n;
}
