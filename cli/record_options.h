/* SPDX-License-Identifier: MIT */
/*
 * The options of `sonde record`: most are lines of a recording's settings (include/sonde/sonde.h).
 */
#ifndef SONDE_CLI_RECORD_OPTIONS_H
#define SONDE_CLI_RECORD_OPTIONS_H

#include <sonde/sonde.h>

#include "lines.h"
#include "opt.h"
#include "opt_events.h"

struct record_args {
	struct lines lines;
	struct opt_events events;
	bool quiet, fail_on_loss, serve;
	bool chains;     /* -g: call chains of the default kind */
	bool debuginfod; /* requested; has no effect */
};

extern const struct opt record_options[];

/* The set_key of struct command. Later lines override earlier ones, as later options do. */
int record_args_set_key(struct opt_parser *p, void *values, const struct opt *o, const char *value);
void record_args_done(void *values);

#endif
