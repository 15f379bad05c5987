/* SPDX-License-Identifier: MIT */
/* The lines of a report around its tables, which begin with '#'. */
#ifndef SONDE_CLI_REPORT_FRAME_H
#define SONDE_CLI_REPORT_FRAME_H

#include "report_options.h"
#include "report_view.h"

#include <sonde/sonde.h>

/* Before the recording is read. */
void report_frame_begin(FILE *out, const struct report_args *a);
/* Before the first table: names that -c, -d and -S hold, and lost samples. */
void report_frame_facts(FILE *out, const struct report_view *v, uint64_t lost_samples);
/* Before table `index`; returns true if the table is printed at all. */
bool report_frame_event(FILE *out, const struct report_view *v, uint32_t index);
/* After the last table, as perf does: a line about perf. */
void report_frame_tip(FILE *out);

#endif
