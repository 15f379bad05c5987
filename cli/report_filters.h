/* SPDX-License-Identifier: MIT */
/* Messages of a report without rows: the options that choose samples. */
#ifndef SONDE_CLI_REPORT_FILTERS_H
#define SONDE_CLI_REPORT_FILTERS_H

#include "report_view.h"

/* If no sample of the tables passes the filters, reports that with each filter that was given. */
void report_filters_say(const struct report_view *v, uint32_t nr_tables);
/* Reports that a profile has no samples. */
void report_filters_say_none(const struct report_args *a);

#endif
