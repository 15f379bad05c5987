/* SPDX-License-Identifier: MIT */
/* The table of `sonde report -T`: counters that the recording read for each thread. */
#ifndef SONDE_CLI_REPORT_THREADS_H
#define SONDE_CLI_REPORT_THREADS_H

#include <sonde/sonde.h>
#include <stdbool.h>
#include <stdio.h>

/* A line for each thread, a column for each counter. */
void report_threads_print(FILE *out, const struct sonde_profile *p);
/*
 * A line for each thread and counter, with the number of the event type. In perf's text all of them
 * are in one line.
 */
void report_threads_print_raw(FILE *out, const struct sonde_profile *p, struct sonde_session *s,
			      bool in_one_line);

#endif
