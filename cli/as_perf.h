/* SPDX-License-Identifier: MIT */
/*
 * sonde called as perf: by the link that perf_path.h puts into PATH, or by one of `sonde
 * perf-alias`. The default is then --compat perf-6.1 ($SONDE_COMPAT names another version), and
 * versions and usage lines are perf's.
 */
#ifndef SONDE_CLI_AS_PERF_H
#define SONDE_CLI_AS_PERF_H

#include "cli.h"

/*
 * Examines the name that the program was called by: `perf`; `perf-6.12`, like --compat perf-6.12;
 * `perf-script`, like `perf script`. *ret_command is the command in the name, else NULL. Other
 * names change nothing.
 */
void as_perf_look(struct cli *cli, const char *program, const char **ret_command);
bool as_perf(void);
/* The name of this program in usage lines: "sonde" or "perf". */
const char *as_perf_name(void);
/* The version in perf's form, for scripts: "6.1.0+sonde.0.1.0". */
void as_perf_print_version(const struct cli *cli);

#endif
