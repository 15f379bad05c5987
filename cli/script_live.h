/* SPDX-License-Identifier: MIT */
/*
 * Two processes at once: the recorder writes into a pipe, the report reads it. This process waits
 * for both.
 *
 * Ctrl-C reaches all three: the recording ends, then the report with its last output. If the report
 * ends first, the recorder and its command are ended, too.
 */
#ifndef SONDE_CLI_SCRIPT_LIVE_H
#define SONDE_CLI_SCRIPT_LIVE_H

#include "cli.h"

struct script_live {
	const char *name; /* for messages */
	char **record;    /* command line; its standard output is the pipe */
	/*
	 * Runs in its own process: executes the report, or returns a status. input is the value for
	 * -i.
	 */
	int (*report)(void *ctx, const char *input);
	void *ctx;
	/*
	 * The report reads the pipe as its standard input ("-"). Otherwise its standard input is
	 * that of sonde.
	 */
	bool by_stdin;
};

/*
 * Returns the exit status: the report's if it failed, else the recorder's unless perf's rule
 * ignores it. After a signal other than SIGINT returns 128 plus its number.
 */
int script_live_run(const struct cli *cli, const struct script_live *l);

#endif
