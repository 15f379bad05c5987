/* SPDX-License-Identifier: MIT */
/*
 * What interpreters and wrappers find in their environment: PERF_EXEC_PATH, a `perf` in PATH that is sonde, the build-id
 * cache. And what a wrapper's own `perf script` is told behind the wrapper's back, since wrappers differ in what they
 * pass on: options, one a line, in SONDE_SCRIPT_OPTIONS.
 */
#ifndef SONDE_CLI_SCRIPT_ENV_H
#define SONDE_CLI_SCRIPT_ENV_H

#include "cli.h"

/*
 * exec_path: below which scripts/LANGUAGE/ is, where the user named none; NULL: as it is. What is set then is in SONDE_EXEC_PATH,
 * too, so that nested calls know that it is not the user's. 0, or -1 after telling.
 */
int script_env_set(const struct cli *cli, const char *exec_path);
/*
 * For a wrapper: also that the calls of perf in it behave as this one, and read with these options (NULL: none), each of
 * them a word. 0, or -1 after telling.
 */
int script_env_set_for_wrapper(const struct cli *cli, const char *exec_path,
			       const char *const *options);
/*
 * The words that a wrapper's caller left, before argv[0..argc): a new array, to be released with free(), whose words live as
 * long as the process. They are left once. argv itself when there are none; NULL after telling that there is no memory.
 */
char **script_env_take_options(int *argc, char **argv);

#endif
