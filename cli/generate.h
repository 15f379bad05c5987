/* SPDX-License-Identifier: MIT */
/*
 * Skeletons of scripts: a file that prints every event of a recording, to be changed into the script one wants.
 *
 *	sonde script -g python [-o FILE] [--force]
 *
 * generate.c opens the recording, gathers its events (skeleton.h) and writes the file.
 */
#ifndef SONDE_CLI_GENERATE_H
#define SONDE_CLI_GENERATE_H

#include <stdbool.h>

#include "cli.h"

struct generate {
	const char *language; /* as given to -g */
	const char *output;   /* NULL: perf-script.SUFFIX in the current directory; "-": stdout */
	const char *session;  /* text form */
	bool force;           /* an existing file may be overwritten */
};

/* The exit status; what went wrong was told. */
int generate_script(const struct cli *cli, const struct generate *g);

#endif
