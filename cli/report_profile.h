/* SPDX-License-Identifier: MIT */
/*
 * The profile of a report: its settings and the order of its rows, made of options, keys and what
 * the recording has.
 */
#ifndef SONDE_CLI_REPORT_PROFILE_H
#define SONDE_CLI_REPORT_PROFILE_H

#include "report_run.h"

bool report_is_pipe(struct sonde_session *s);
/* perf reads a pipe's event types too late to make rows of callers, or a group of them. */
bool report_has_no_callers(const struct report_run *run);
/* True if --weight names a value of samples or a field of tracepoints. */
bool report_weighs_field(const struct report_args *a);
/* Reads the session into run->view.profile, finished and sorted. Returns a negative errno. */
int report_make_profile(struct report_run *run);

#endif
