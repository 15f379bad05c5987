/* SPDX-License-Identifier: MIT */
/* What the options of `sonde stat` set. */
#ifndef SONDE_CLI_STAT_ARGS_H
#define SONDE_CLI_STAT_ARGS_H

#include "lines.h"
#include "opt_events.h"

struct stat_args {
	struct lines lines;
	struct opt_events events;
	bool null_run, no_aggregate, per_core, per_die, per_socket, per_node, per_thread;
	bool json, no_big_num, metric_only, table, summary, no_csv_summary;
	bool interval_clear, quiet, append;
	int detailed;
	const char *separator; /* -x; NULL if not given */
	const char *interval, *interval_count, *timeout, *repeat, *output, *log_fd;
	const char *baseline, *threshold, *format;
	const char *input; /* stat report */
	bool topdown, smi_cost;
	const char *topdown_level;
	bool force;
	bool is_record, hides_counts; /* set by the word record */
	bool ignored;                 /* options that change nothing */
};

#endif
