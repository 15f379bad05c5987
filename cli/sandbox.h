/* SPDX-License-Identifier: MIT */
/*
 * --sandbox: before a recording is read this process gives up what reading does not need. By Landlock: all files but the
 * recording, what symbols are looked for in, and a folder of temporary files of its own; TCP; signals to others. By
 * seccomp: all system calls but those that reading and writing to open files need, so no program is run, no socket opened, no
 * process traced or made, no memory made executable.
 *
 *	status = a->sandbox ? sandbox_enter(cli, &a->lines, NULL) : CLI_OK;
 *
 * It comes last, behind a pager's start, and lasts until the process ends.
 */
#ifndef SONDE_CLI_SANDBOX_H
#define SONDE_CLI_SANDBOX_H

#include "cli.h"
#include "lines.h"

/* An option of a command whose values, a struct s, have a bool m. */
#define SANDBOX_OPTION(s, m)                                                                   \
	OPT_OUR_FLAG(0, "sandbox", s, m,                                                       \
		     "gives up all rights that reading needs not, with Landlock and seccomp: " \
		     "SANDBOX in sonde(1)")

/*
 * lines: of the session's text form; the files that it names may be read. output: a file to be made, in whose folder files may
 * be written, renamed and removed; NULL: none is. 0, or a status after telling why there is no sandbox. With -v tells what is
 * in force and what this kernel lacks.
 */
int sandbox_enter(const struct cli *cli, const struct lines *lines, const char *output);

#endif
