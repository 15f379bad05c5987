/* SPDX-License-Identifier: MIT */
/* The counts of each run, for --format json and --baseline. */
#ifndef SONDE_CLI_STAT_RUNS_H
#define SONDE_CLI_STAT_RUNS_H

#include "cli.h"
#include "stat_print.h"
#include "stat_series.h"

/* Adds a complete run. Returns 0 or -ENOMEM. */
int stat_runs_add(struct stat_runs *r, const struct stat_printer *p,
		  const struct sonde_stat_round *round);
/*
 * Reads a file of --format json, or a recording of stat record -r N. Returns 0, or -1 after
 * reporting the mistake.
 */
int stat_runs_read(const struct cli *cli, const char *path, enum sonde_stat_by by,
		   struct stat_runs *ret);

#endif
