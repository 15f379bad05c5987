/* SPDX-License-Identifier: MIT */
/*
 * Runs a report. The contents of the recording decide the defaults; then a profile is made and
 * printed.
 */
#ifndef SONDE_CLI_REPORT_H
#define SONDE_CLI_REPORT_H

#include "report_options.h"

struct report {
	const struct cli *cli;
	struct report_args *args;
	int status; /* status of the command, if report_print() returns 0 */
};

/* For recording_run(): ctx is a struct report. Returns 0, or a negative errno. */
int report_print(struct sonde_session *s, void *ctx);

#endif
