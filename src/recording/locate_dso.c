/* SPDX-License-Identifier: MIT */
/* A recording's table of dsos, made when the first dso is needed. */
#include "recording/locate.h"

struct dso *locate_dso(struct recording *rec, const struct dso_key *key)
{
	if (!rec->dsos) {
		struct dso_table_options opts = {
			.symfs = recording_symfs(rec),
			.buildid_dir = rec->opts->buildid_dir,
			.ids = &rec->all->dso_ids,
			.demangle = rec->opts->demangle,
			.no_follow = rec->opts->no_follow,
			.force = rec->opts->force,
			.rules = rec->opts->rules,
		};

		if (dso_table_new(&rec->dsos, &opts) < 0)
			return NULL;
	}
	return dso_get(rec->dsos, key);
}
