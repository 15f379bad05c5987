/* SPDX-License-Identifier: MIT */
/*
 * The environment of interpreters and wrappers: PERF_EXEC_PATH, a `perf` in PATH that is sonde, the
 * build-id cache. Options for a wrapper's own `perf script` are in SONDE_SCRIPT_OPTIONS, one per
 * line, because wrappers differ in which options they pass on.
 */
#ifndef SONDE_CLI_SCRIPT_ENV_H
#define SONDE_CLI_SCRIPT_ENV_H

#include "cli.h"

/*
 * exec_path: the folder of scripts/LANGUAGE/ if the user named none; NULL: unchanged. The value is
 * also stored in SONDE_EXEC_PATH, so that nested calls know that it is not the user's. Returns 0,
 * or -1 after reporting a failure.
 */
int script_env_set(const struct cli *cli, const char *exec_path);
/*
 * For a wrapper: also makes its calls of perf behave as this one, and read with these options
 * (NULL: none), one word each. Returns 0, or -1 after reporting a failure.
 */
int script_env_set_for_wrapper(const struct cli *cli, const char *exec_path,
			       const char *const *options);
/*
 * Adds the options that a wrapper's caller left, before argv[0..argc). Returns a new array,
 * released with free(), whose words live as long as the process; argv itself if there are none;
 * NULL after reporting that there is no memory. The options are removed from the environment.
 */
char **script_env_take_options(int *argc, char **argv);

#endif
