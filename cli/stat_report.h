/* SPDX-License-Identifier: MIT */
/* sonde stat report: prints the counts of a file. */
#ifndef SONDE_CLI_STAT_REPORT_H
#define SONDE_CLI_STAT_REPORT_H

#include "cli.h"
#include "stat_options.h"

/* a: with the options before and after the word. Returns the exit status. */
int stat_report(struct cli *cli, const struct stat_args *a, enum sonde_stat_by by, bool has_by);

#endif
