/* SPDX-License-Identifier: MIT */
/* A baseline must count the same events at the same places; that is known before anything runs. */
#ifndef SONDE_CLI_STAT_BASELINE_CHECK_H
#define SONDE_CLI_STAT_BASELINE_CHECK_H

#include "cli.h"
#include "stat_series.h"

/* s: the count that is compared; by: of its rows. Returns 0, or the status after reporting. */
int stat_baseline_check(const struct cli *cli, const char *path, const struct stat_runs *base,
			const struct sonde_stat *s, enum sonde_stat_by by);

#endif
