/* SPDX-License-Identifier: MIT */
/* Candidates for the completion of the shells (cli/completion/), from the option tables. */
#ifndef SONDE_CLI_COMPLETE_H
#define SONDE_CLI_COMPLETE_H

#include "cli.h"

/*
 * words[0..nr) are the words after the program's name up to the cursor; the last one may be empty.
 * Prints one line per candidate; its first byte is the kind:
 *
 *	=WORD	the current word, complete
 *	+WORD	the current word, to be continued
 *	fBEGIN	names of files, after BEGIN of the current word
 *	dBEGIN	names of folders
 *	cBEGIN	names of programs
 *	wN	the arguments of the program that is word N
 *
 * Reports no errors, because a shell would print them over the line that is being typed.
 */
void complete_print(struct cli *cli, int nr, char **words);

#endif
