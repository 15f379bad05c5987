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
#include <sys/types.h>

#include "cli.h"

struct generate {
	const char *language; /* as given to -g */
	/* NULL for perf-script.SUFFIX in the current folder; "-" for standard output. */
	const char *output;
	const char *session; /* text form */
	bool force;          /* permits overwriting an existing file */
};

struct skeleton;
struct sonde_session;

/*
 * Collects a session's events. Returns -1 if there is no memory. The lists are released with free()
 * in both cases.
 */
int generate_gather(struct sonde_session *s, struct skeleton *ret);
/* Creates a new file. On failure returns false with errno, and no file is left. */
bool generate_create(const char *path, const char *text, size_t len, mode_t mode);
/* Returns the exit status after reporting any failure. */
int generate_script(const struct cli *cli, const struct generate *g);

#endif
