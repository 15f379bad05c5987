/* SPDX-License-Identifier: MIT */
/*
 * Skeletons of scripts: a file that prints every event of a recording, for the user to change.
 *
 *	sonde script -g python [-o FILE] [--force]
 *
 * generate.c opens the recording, collects its events (skeleton.h) and writes the file.
 */
#ifndef SONDE_CLI_GENERATE_H
#define SONDE_CLI_GENERATE_H

#include <stdbool.h>

#include "cli.h"

struct generate {
	const char *language; /* as given to -g */
	/* NULL for perf-script.SUFFIX in the current folder; "-" for standard output. */
	const char *output;
	const char *session; /* text form */
	bool force;          /* permits overwriting an existing file */
};

/* Returns the exit status after reporting any failure. */
int generate_script(const struct cli *cli, const struct generate *g);

#endif
