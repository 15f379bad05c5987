/* SPDX-License-Identifier: MIT */
/* The options of `sonde stat`: most are lines of a count's settings (include/sonde/sonde.h). */
#ifndef SONDE_CLI_STAT_OPTIONS_H
#define SONDE_CLI_STAT_OPTIONS_H

#include <sonde/sonde.h>

#include "lines.h"
#include "opt.h"
#include "opt_events.h"

struct stat_args {
	struct lines lines;
	struct opt_events events;
	bool null_run, no_aggregate, per_core, per_die, per_socket, per_node, per_thread;
	bool json, no_big_num, big_num, metric_only, table, summary, no_csv_summary;
	bool interval_count, interval_clear, quiet, append, forever;
	int detailed;
	const char *separator; /* -x; NULL if not given */
	const char *interval, *repeat, *output, *log_fd;
	const char *baseline, *threshold, *format;
	const char *input; /* stat report */
	bool force;
	bool is_record, hides_counts; /* set by the word record */
	bool ignored;                 /* options that change nothing */
	const char *ignored_text;
};

/* The words of by=, in the order of enum sonde_stat_by; ended by NULL. */
extern const char *const stat_by_names[];
extern const struct opt stat_options[];
extern const struct opt stat_report_options[];

int stat_args_set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value);
void stat_args_done(void *values);

#endif
