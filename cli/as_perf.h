/* SPDX-License-Identifier: MIT */
/*
 * sonde called as perf: by the link that perf_path.h puts into PATH, or one of `sonde perf-alias`. Then --compat perf-6.1
 * is the default ($SONDE_COMPAT names another), and versions and usage lines are perf's.
 */
#ifndef SONDE_CLI_AS_PERF_H
#define SONDE_CLI_AS_PERF_H

#include "cli.h"

/*
 * Looks at the name that the program was called by: `perf`, `perf-6.12` (as --compat perf-6.12), `perf-script` (as `perf
 * script`, which is then *ret_command, else NULL). For other names nothing changes.
 */
void as_perf_look(struct cli *cli, const char *program, const char **ret_command);
bool as_perf(void);
/* What usage lines call this program: "sonde" or "perf". */
const char *as_perf_name(void);
/* The version as scripts read perf's: "6.1.0+sonde.0.1.0". */
void as_perf_print_version(const struct cli *cli);

#endif
