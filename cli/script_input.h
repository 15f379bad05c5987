/* SPDX-License-Identifier: MIT */
/* -i FILE among the words after a script's name, where `sonde script` does not read it. */
#ifndef SONDE_CLI_SCRIPT_INPUT_H
#define SONDE_CLI_SCRIPT_INPUT_H

#include "cli.h"

/*
 * Finds the file of an "-i FILE" among the words of a script or a recorder; NULL if there is none.
 * Borrowed from argv.
 */
const char *script_input_behind(int argc, char **argv);
/* True if the script's text suggests that it parses an option -i itself. */
bool script_input_is_own_option(const char *script_file);

#endif
