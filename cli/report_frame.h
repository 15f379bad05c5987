/* SPDX-License-Identifier: MIT */
/* The lines of a report around its tables, which begin with '#'. */
#ifndef SONDE_CLI_REPORT_FRAME_H
#define SONDE_CLI_REPORT_FRAME_H

#include "report_options.h"
#include "report_view.h"

#include <sonde/sonde.h>

/* Printed before the recording is read. */
void report_frame_begin(FILE *out, const struct report_args *a);
/* Printed next, also if there are no samples: names given by -c, -d and -S. */
void report_frame_elided(FILE *out, const struct report_view *v);
/* Printed before the first table: lost samples. */
void report_frame_facts(FILE *out, const struct report_view *v, uint64_t lost_samples);
/* Printed before table `index`. Returns true if the table is to be printed. */
bool report_frame_event(FILE *out, const struct report_view *v, uint32_t index);
/* Printed after the last table: a tip about perf, as perf prints one. */
void report_frame_tip(FILE *out);

#endif
