/* SPDX-License-Identifier: MIT */
/*
 * Two processes at once: what records writes into a pipe, what reports reads it. This one waits for both.
 *
 * Ctrl-C reaches all three: recording ends, the report ends with its last output. When the report ends before, the recorder
 * and its command are ended, too.
 */
#ifndef SONDE_CLI_SCRIPT_LIVE_H
#define SONDE_CLI_SCRIPT_LIVE_H

#include "cli.h"

struct script_live {
	const char *name; /* for messages */
	char **record;    /* command line; its standard output is the pipe */
	/* In a process of its own: becomes what reports, or returns a status. input: what -i is to be given */
	int (*report)(void *ctx, const char *input);
	void *ctx;
	bool by_stdin; /* the report reads the pipe as its standard input ("-"); else that stays ours */
};

/* The exit status: the report's, else the recorder's. */
int script_live_run(const struct cli *cli, const struct script_live *l);

#endif
