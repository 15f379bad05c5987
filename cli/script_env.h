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
 * exec_path is the folder of scripts/LANGUAGE/ if the user named none; NULL to leave PERF_EXEC_PATH
 * unchanged. The value is also stored in SONDE_EXEC_PATH, so that nested calls know that the user
 * did not set it. Returns 0, or -1 after reporting a failure.
 */
int script_env_set(const struct cli *cli, const char *exec_path);
/*
 * script_env_set() for a wrapper: its calls of perf also behave like this program and read with
 * these options (NULL if none), one word each. Returns 0, or -1 after reporting a failure.
 */
int script_env_set_for_wrapper(const struct cli *cli, const char *exec_path,
			       const char *const *options);
/*
 * Adds the options that a wrapper's caller stored in the environment before argv[0..argc), and
 * removes them from the environment. Returns argv if there are none; NULL after reporting that
 * there is no memory; otherwise a new array, released with free(), whose words are valid until the
 * process ends.
 */
char **script_env_take_options(int *argc, char **argv);

#endif
