/* SPDX-License-Identifier: MIT */
/*
 * --sandbox: before a recording is read, this process gives up all rights that reading does not
 * need. Landlock permits only the recording, the files that may have symbols, and a folder of
 * temporary files; it denies TCP, and signals to other processes. seccomp permits only system calls
 * for reading and for writing to open files. So the process cannot run a program, open a socket,
 * trace or create a process, or make memory executable.
 *
 *	status = a->sandbox ? sandbox_enter(cli, &a->lines, NULL) : CLI_OK;
 *
 * Entering it is the last step, after the start of a pager. It lasts until the process ends.
 */
#ifndef SONDE_CLI_SANDBOX_H
#define SONDE_CLI_SANDBOX_H

#include "cli.h"
#include "lines.h"

/* The option of a command whose values are a struct s with a member bool m. */
#define SANDBOX_OPTION(s, m)                                                                       \
	OPT_OUR_FLAG(0, "sandbox", s, m,                                                           \
		     "gives up all rights that reading does not need, with Landlock and seccomp: " \
		     "SANDBOX in sonde(1)")

/*
 * lines are those of the session's text form; the files that they name may be read. output is a
 * file to be made, in whose folder files may be written, renamed and removed; NULL if none. Returns
 * 0, or a status after reporting why there is no sandbox. With -v reports which restrictions are in
 * force and which ones this kernel does not support.
 */
int sandbox_enter(const struct cli *cli, const struct lines *lines, const char *output);

#endif
