/* SPDX-License-Identifier: MIT */
/* Candidates for the completion of the shells (cli/completion/), from the option tables. */
#ifndef SONDE_CLI_COMPLETE_H
#define SONDE_CLI_COMPLETE_H

#include "cli.h"

/*
 * words[0..nr): what follows the program's name up to the cursor; the last one may be empty. Prints
 * a line per candidate, whose first byte is its kind:
 *
 *	=WORD	the current word, complete
 *	+WORD	the current word, of which more may follow
 *	fBEGIN	names of files, behind BEGIN of the current word
 *	dBEGIN	names of folders
 *	cBEGIN	names of programs
 *	wN	what the program that is word N takes
 *
 * Reports no error: a shell would draw it over the line that is being typed.
 */
void complete_print(struct cli *cli, int nr, char **words);

#endif
