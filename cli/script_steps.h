/* SPDX-License-Identifier: MIT */
/*
 * Scripts by name, with what records for them:
 *
 *	sonde script record NAME [RECORD-OPTIONS] [COMMAND]
 *	sonde script report NAME [ARGS]
 *	sonde script NAME [ARGS] [RECORD-OPTIONS] [COMMAND]	both at once, joined by a pipe
 *
 * A wrapper in bin/ (script_find.h) does each step where there is one. Else `sonde record` records what the script's line
 * "# record:" says, and the script itself is the report.
 */
#ifndef SONDE_CLI_SCRIPT_STEPS_H
#define SONDE_CLI_SCRIPT_STEPS_H

#include "cli.h"

struct script_steps {
	const char *const *options; /* words in front of argv[0], for the report; NULL-terminated */
	bool all_cpus;              /* -a was among them */
	bool has_input;             /* -i was */
	/* Runs a file over a recording: input NULL is that of the options. A status. */
	int (*run_file)(void *ctx, const char *file, const char *input, int argc, char **argv);
	void *ctx;
};

/* 1 it was one of these, and *ret_status is its status; 0 the first of the words is a script's file. */
int script_steps_run(const struct cli *cli, const struct script_steps *s, int argc, char **argv,
		     int *ret_status);

/* True if a word is "record" or "report", or a beginning of one. */
bool script_steps_is_word(const char *word);

#endif
