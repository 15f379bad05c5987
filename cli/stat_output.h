/* SPDX-License-Identifier: MIT */
/* Where counts are printed, and what is printed before and after the rows of a run. */
#ifndef SONDE_CLI_STAT_OUTPUT_H
#define SONDE_CLI_STAT_OUTPUT_H

#include "cli.h"
#include "stat_options.h"
#include "stat_print.h"

/* How long each run took. */
struct stat_times {
	double *seconds; /* owned; of each run */
	size_t n;
};

/* Returns 0, or -ENOMEM. */
int stat_times_add(struct stat_times *t, uint64_t ns);
/* Sets what the options alone decide: the layout and its details. */
void stat_printer_choose(struct stat_printer *p, const struct cli *cli, const struct stat_args *a);
/* Opens -o or --log-fd, else returns standard error. NULL after reporting a failure. */
FILE *stat_output_open(const struct cli *cli, const struct stat_args *a);
/* True if a file is that of -o or --log-fd, by whatever name. */
bool stat_output_is_file(const struct stat_args *a, const char *path);
/* True if counts that a program reads could not be written to standard error. */
bool stat_output_is_lost(const struct cli *cli, const struct stat_args *a, FILE *out);
/*
 * Returns 0, or -1 after reporting that the output could not be written. Standard error stays open.
 */
int stat_output_close(const struct cli *cli, const struct stat_args *a, FILE *out);

/* " Performance counter stats for 'true' (3 runs):" */
void stat_print_title(FILE *out, const char *subject, unsigned runs);
/*
 * What is counted: "'sleep 1'", "process id '4711'". The caller frees it; NULL without memory.
 * *ret_is_command: the command, not other processes or everything on some cpus.
 */
char *stat_subject(const struct stat_args *a, int argc, char **argv, bool *ret_is_command);
/* The times after the rows. with_rusage: user and system time of the command are printed. */
void stat_print_times(FILE *out, const struct sonde_stat_round *r, const struct stat_times *times,
		      bool with_table, bool with_rusage);

#endif
