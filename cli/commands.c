/* SPDX-License-Identifier: MIT */
/* The sub-commands in the order of help. */
#include "cli.h"

#include <sonde/sonde.h>

#include <string.h>

/* clang-format off */
const struct command *const commands[] = {
	&cmd_record, &cmd_run, &cmd_new, &cmd_stat, &cmd_script, &cmd_list, &cmd_info,
	&cmd_check, &cmd_evlist, &cmd_buildid_list, &cmd_cut, &cmd_split, &cmd_convert, &cmd_shell,
	&cmd_report, &cmd_flamegraph, &cmd_heatmap, &cmd_perf_alias, &cmd_help, &cmd_version, NULL
};
/* clang-format on */

const struct command *command_find(const char *name, const char **ret_nearest)
{
	struct sonde_nearest near = { .size = sizeof(near), .wanted = name };

	for (const struct command *const *c = commands; *c; c++) {
		if (!strcmp((*c)->name, name))
			return *c;
		if (!(*c)->hidden)
			sonde_nearest_offer(&near, (*c)->name);
	}
	if (ret_nearest)
		*ret_nearest = near.meant;
	return NULL;
}

const struct command_verb *command_find_verb(const struct command *c, const char *word)
{
	for (const struct command_verb *v = c->verbs; v && v->word; v++)
		if (strlen(word) >= 3 && !strncmp(v->word, word, strlen(word)))
			return v;
	return NULL;
}
