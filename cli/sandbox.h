/* SPDX-License-Identifier: MIT */
/*
 * --sandbox: before a recording is read, this process gives up all rights that reading does not
 * need. Landlock denies all files but the recording, the files that may have symbols, and a folder
 * of temporary files; it also denies TCP, and signals to other processes. seccomp denies all system
 * calls but those for reading and for writing to open files: no program is run, no socket opened,
 * no process traced or made, no memory made executable.
 *
 *	status = a->sandbox ? sandbox_enter(cli, &a->lines, NULL) : CLI_OK;
 *
 * It is the last step, after the start of a pager, and lasts until the process ends.
 */
#ifndef SONDE_CLI_SANDBOX_H
#define SONDE_CLI_SANDBOX_H

#include "cli.h"
#include "lines.h"

/* An option of a command whose values, a struct s, have a bool m. */
#define SANDBOX_OPTION(s, m)                                                                       \
	OPT_OUR_FLAG(0, "sandbox", s, m,                                                           \
		     "gives up all rights that reading does not need, with Landlock and seccomp: " \
		     "SANDBOX in sonde(1)")

/*
 * lines: of the session's text form; files that it names may be read. output: a file to be made, in
 * whose folder files may be written, renamed and removed; NULL if none. Returns 0, or a status
 * after reporting why there is no sandbox. With -v reports what is in force and what this kernel
 * does not support.
 */
int sandbox_enter(const struct cli *cli, const struct lines *lines, const char *output);

#endif
