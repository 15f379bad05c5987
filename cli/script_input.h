/* SPDX-License-Identifier: MIT */
/* Recordings among the words of `sonde script`: in place of -i FILE, and as -i FILE where a script gets it. */
#ifndef SONDE_CLI_SCRIPT_INPUT_H
#define SONDE_CLI_SCRIPT_INPUT_H

#include "cli.h"

/*
 * Whether a word in front of a script is a recording: a file that is no text, a directory with events, a pipe. Names of
 * scripts and of steps ("record") are none, whatever files have them. Opens no pipe.
 */
bool script_input_is(const struct cli *cli, const char *word);
/* The file of an "-i FILE" among the words of a script or a recorder, if it is there; NULL. Borrowed from argv. */
const char *script_input_behind(int argc, char **argv);
/* Whether a script seems to parse an option -i itself, by its text. */
bool script_input_is_own_option(const char *script_file);

#endif
