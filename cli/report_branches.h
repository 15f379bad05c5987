/* SPDX-License-Identifier: MIT */
/* Texts about branches: behind a frame of a call graph, and below the tables. */
#ifndef SONDE_CLI_REPORT_BRANCHES_H
#define SONDE_CLI_REPORT_BRANCHES_H

#include <sonde/sonde.h>
#include <stdbool.h>
#include <stdio.h>

/*
 * " (COND_FWD predicted:76.6%)", " (cycles:74)" or "", released with free(); NULL if there is no
 * memory. as_perf: averages leave out what perf leaves out.
 */
char *report_branches_text(const struct sonde_profile_branches *b, bool as_perf);
/*
 * Prints the types of all branches with their shares. Returns false if no branch has a type. As in
 * perf the last line is not ended.
 */
bool report_branches_put_types(FILE *out, const struct sonde_profile_branches *b);

#endif
