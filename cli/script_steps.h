/* SPDX-License-Identifier: MIT */
/*
 * Scripts by name, with their recorders:
 *
 *	sonde script record NAME [RECORD-OPTIONS] [COMMAND]
 *	sonde script report NAME [ARGS]
 *	sonde script NAME [ARGS] [RECORD-OPTIONS] [COMMAND]	both at once, joined by a pipe
 *
 * A wrapper in bin/ (script_find.h) does the step if there is one. Otherwise `sonde record` records
 * with the arguments in the script's line "# record:", and the script itself is the report.
 */
#ifndef SONDE_CLI_SCRIPT_STEPS_H
#define SONDE_CLI_SCRIPT_STEPS_H

#include "cli.h"

struct script_steps {
	const char *const *options; /* words before argv[0], for the report; NULL-terminated */
	bool all_cpus;              /* -a was given */
	bool has_input;             /* -i was given */
	/*
	 * Runs a script file over a recording. input is NULL for the input of the options. Returns
	 * a status.
	 */
	int (*run_file)(void *ctx, const char *file, const char *input, int argc, char **argv);
	void *ctx;
};

/*
 * Runs one of the commands above. Returns 1 and the status in *ret_status, or 0 if the first word
 * is a script's file.
 */
int script_steps_run(const struct cli *cli, const struct script_steps *s, int argc, char **argv,
		     int *ret_status);

/* True if a word is "record" or "report", or a beginning of one. */
bool script_steps_is_word(const char *word);

#endif
