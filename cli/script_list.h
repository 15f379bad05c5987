/* SPDX-License-Identifier: MIT */
/* Lists scripts: what each does, what it records, its path. */
#ifndef SONDE_CLI_SCRIPT_LIST_H
#define SONDE_CLI_SCRIPT_LIST_H

#include "cli.h"

struct script_places;

/* `sonde script -l`, with is_json for programs. Returns the exit status. */
int script_list_print(const struct cli *cli, bool is_json);
/* Reports that there is no script of that name, and the nearest name. */
void script_list_print_nearest(const struct cli *cli, const struct script_places *p,
			       const char *name);

#endif
