/* SPDX-License-Identifier: MIT */
/*
 * The counts of each run, for --format json and --baseline. docs/formats/stat-json.md describes the
 * JSON.
 */
#ifndef SONDE_CLI_STAT_RUNS_H
#define SONDE_CLI_STAT_RUNS_H

#include "cli.h"
#include "stat_print.h"

/* The values of one row over the runs. */
struct stat_series {
	char *event, *cgroup, *place, *unit; /* owned; "" if there is none */
	double *values;                      /* owned; NAN if it was not counted in a run */
	size_t n;
};

struct stat_runs {
	struct stat_series *list; /* owned */
	size_t n;
	double *elapsed_ns; /* owned; of each run */
	size_t nr_runs;
};

/* Adds a complete run. Returns 0 or -ENOMEM. */
int stat_runs_add(struct stat_runs *r, const struct stat_printer *p,
		  const struct sonde_stat_round *round);
/*
 * Reads a file of --format json, or a recording of stat record -r N. Returns 0, or -1 after
 * reporting the mistake.
 */
int stat_runs_read(const struct cli *cli, const char *path, enum sonde_stat_by by,
		   struct stat_runs *ret);
/* Prints the object's members without its end, so that a comparison can follow. */
void stat_runs_begin_json(const struct stat_runs *r, FILE *out);
/*
 * The series in `of` of the same event and place as number i of r; NULL if there is none. An event
 * that is counted twice has two series, in order.
 */
const struct stat_series *stat_runs_find(const struct stat_runs *of, const struct stat_runs *r,
					 size_t i);
void stat_runs_done(struct stat_runs *r);

/* ---- stat_baseline.c ------------------------------------------------------------------------- */

/*
 * Prints the differences of the runs to those of the baseline. Returns the number of rows that
 * increased by more than the threshold, in percent, or that could not be compared.
 */
size_t stat_baseline_print(const struct stat_runs *base, const struct stat_runs *now,
			   const char *path, double threshold, FILE *out);
/* The same as a member of the JSON object, with its end. */
size_t stat_baseline_print_json(const struct stat_runs *base, const struct stat_runs *now,
				double threshold, FILE *out);

#endif
