/* SPDX-License-Identifier: MIT */
/*
 * Counts of several runs, as JSON, and compared. docs/formats/stat-json.md describes the JSON. The
 * functions print no messages: fuzz targets call them.
 */
#ifndef SONDE_CLI_STAT_SERIES_H
#define SONDE_CLI_STAT_SERIES_H

#include "json_read.h"

#include <sonde/sonde.h>

#include <stdio.h>

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
	bool is_interrupted; /* the last run */
};

int stat_series_push(struct stat_series *s, double value);
void stat_series_done(struct stat_series *s);
/* True if both are of the same event, cgroup and place. */
bool stat_series_same(const struct stat_series *a, const struct stat_series *b);

/* Takes the texts and values of s, also on failure. Returns 0 or -ENOMEM. */
int stat_runs_push(struct stat_runs *r, struct stat_series *s);
int stat_runs_push_time(struct stat_runs *r, double ns);
/*
 * The series in `of` of the same event and place as number i of r; NULL if there is none. An event
 * that is counted twice has two series, in order.
 */
const struct stat_series *stat_runs_find(const struct stat_runs *of, const struct stat_runs *r,
					 size_t i);
void stat_runs_done(struct stat_runs *r);

/* ---- stat_runs_json.c ------------------------------------------------------------------------ */

/* Prints the object's members without its end, so that a comparison can follow. */
void stat_runs_begin_json(const struct stat_runs *r, FILE *out);
/* Adds the counts of a JSON text. Returns 0 or -ENOMEM; j->mistake says what is wrong with it. */
int stat_runs_parse(struct json_reader *j, struct stat_runs *r);

/* ---- stat_baseline.c ------------------------------------------------------------------------- */

/*
 * Returns the number of rows that increased by more than the threshold, in percent, or that could
 * not be compared: they were counted, but not twice in each series, or in one of them only.
 */
size_t stat_baseline_count(const struct stat_runs *base, const struct stat_runs *now,
			   double threshold);
/* A row that counts by `by` cannot have, such as a cpu's among sums; NULL if none. */
const struct stat_series *stat_baseline_find_other_place(const struct stat_runs *base,
							 enum sonde_stat_by by);
/* Prints the differences of the runs to those of the baseline. */
void stat_baseline_print(const struct stat_runs *base, const struct stat_runs *now,
			 const char *path, double threshold, FILE *out);
/* The same as a member of the JSON object, with its end. */
void stat_baseline_print_json(const struct stat_runs *base, const struct stat_runs *now,
			      double threshold, FILE *out);

#endif
