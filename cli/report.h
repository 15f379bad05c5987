/* SPDX-License-Identifier: MIT */
/*
 * Runs a report. The contents of the recording decide the defaults; then a profile is made and
 * printed.
 */
#ifndef SONDE_CLI_REPORT_H
#define SONDE_CLI_REPORT_H

#include "report_run.h"

/* For recording_run(): ctx is a struct report. Returns 0, or a negative errno. */
int report_print(struct sonde_session *s, void *ctx);

#endif
