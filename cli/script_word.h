/* SPDX-License-Identifier: MIT */
/* The first word of `sonde script`: a recording, which is read as with -i, or a script. */
#ifndef SONDE_CLI_SCRIPT_WORD_H
#define SONDE_CLI_SCRIPT_WORD_H

#include "cli.h"

/*
 * True for a file that is not text, a directory with events, or a pipe. False for names of scripts
 * and of steps ("record"), even if a recording has such a name. Does not open pipes.
 */
bool script_word_is_recording(const struct cli *cli, const char *word);

#endif
