/* SPDX-License-Identifier: MIT */
/* Listing scripts: what each does, what it records, where it is. */
#ifndef SONDE_CLI_SCRIPT_LIST_H
#define SONDE_CLI_SCRIPT_LIST_H

#include "cli.h"

struct script_places;

/* `sonde script -l`, is_json: for programs; returns the exit status. */
int script_list_print(const struct cli *cli, bool is_json);
/* Tells that there is no script of that name, and the nearest one. */
void script_list_print_nearest(const struct script_places *p, const char *name);

#endif
