/* SPDX-License-Identifier: MIT */
/* Reports for programs: --format json and csv. */
#ifndef SONDE_CLI_REPORT_FORMATS_H
#define SONDE_CLI_REPORT_FORMATS_H

#include "report_view.h"

/* docs/formats/report.md describes what these print. Each returns 0, or a negative errno. */
int report_formats_json(FILE *out, struct report_view *v, uint32_t nr_tables);
int report_formats_csv(FILE *out, struct report_view *v, uint32_t nr_tables);

#endif
