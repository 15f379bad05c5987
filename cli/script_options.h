/* SPDX-License-Identifier: MIT */
/*
 * The options of `sonde script`: most are lines of a session's text form (include/sonde/sonde.h).
 */
#ifndef SONDE_CLI_SCRIPT_OPTIONS_H
#define SONDE_CLI_SCRIPT_OPTIONS_H

#include "lines.h"
#include "opt.h"
#include "strict.h"

struct script_args {
	struct lines lines; /* of the session's text form */
	char *fields;       /* owned; values of all -F, separated by blanks; NULL if none */
	const char *script, *interpreter;
	const char *generate, *output; /* -g, -o */
	const char *color;             /* auto, always, never; NULL if not given */
	const char *ignored;           /* value of options that have no effect here */
	struct strict strict;
	bool sandbox, header, header_only, xed, stitch_lbr, no_effect;
	bool json; /* --json, for lists; events use --format */
	bool list, list_dlfilters, has_dlfilter;
	bool all_cpus;   /* -a, for a script's recording */
	bool check_only; /* -d: events are read, but not printed */
};

extern const struct opt script_options[];

/* The set_key of struct command. Later lines override earlier ones, as later options do. */
int script_options_set_key(struct opt_parser *p, void *values, const struct opt *o,
			   const char *value);
void script_options_done(void *values);

#endif
