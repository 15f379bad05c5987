/* SPDX-License-Identifier: MIT */
/* The options of `sonde stat`: most are lines of a count's settings (include/sonde/sonde.h). */
#ifndef SONDE_CLI_STAT_OPTIONS_H
#define SONDE_CLI_STAT_OPTIONS_H

#include <sonde/sonde.h>

#include "opt.h"
#include "stat_args.h"

/* The words of by=, in the order of enum sonde_stat_by; ended by NULL. */
extern const char *const stat_by_names[];
extern const struct opt stat_options[];
extern const struct opt stat_report_options[];

int stat_args_set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value);
void stat_args_done(void *values);

#endif
