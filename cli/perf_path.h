/* SPDX-License-Identifier: MIT */
/*
 * A `perf` in the path: scripts and wrappers that call perf themselves get this program.
 *
 * One folder holds nothing but a link `perf` to sonde: BUILD/cli/perf-path/ in a build folder, LIBEXECDIR/sonde/ where
 * sonde is installed. It is found from the running program, so that an installation may be moved.
 */
#ifndef SONDE_CLI_PERF_PATH_H
#define SONDE_CLI_PERF_PATH_H

#include "cli.h"

/* That folder, to be released with free(); NULL when there is none whose `perf` is this program. */
char *perf_path_folder(void);
/*
 * Puts it first in PATH, for interpreters, wrappers and all they call; SONDE_COMPAT tells those which perf to be. Once in
 * PATH is enough: nested calls change nothing. 0, or -1 after telling that what they call `perf` is not sonde.
 */
int perf_path_prepend(const struct cli *cli);

#endif
