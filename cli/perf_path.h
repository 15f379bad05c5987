/* SPDX-License-Identifier: MIT */
/*
 * A `perf` in PATH: scripts and wrappers that call perf get this program.
 *
 * One folder contains only a link `perf` to sonde: BUILD/cli/perf-path/ in a build folder,
 * LIBEXECDIR/sonde/ in an installation. It is found relative to the running program, so that an
 * installation may be moved.
 */
#ifndef SONDE_CLI_PERF_PATH_H
#define SONDE_CLI_PERF_PATH_H

#include "cli.h"

/* The path of that folder, released with free(); NULL if its `perf` is not this program. */
char *perf_path_folder(void);
/*
 * Puts the folder first in PATH, for interpreters, wrappers and their children. SONDE_COMPAT passes
 * the version of perf to them. Nested calls change nothing. Returns 0, or -1 after reporting that
 * `perf` in PATH is not sonde.
 */
int perf_path_prepend(const struct cli *cli);

#endif
