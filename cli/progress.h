/* SPDX-License-Identifier: MIT */
/*
 * How far a long reading is, in one line of a terminal on stderr. The library draws it (progress=1,
 * src/session/progress_line.h) after a second; it is wiped before anything else is written, and at
 * Ctrl-C.
 */
#ifndef SONDE_CLI_PROGRESS_H
#define SONDE_CLI_PROGRESS_H

#include "cli.h"

/*
 * The line of a session's text that asks for it, or "". It is drawn if stderr is a terminal that
 * this process has, and there is no pager. writes_meanwhile: output is written while the session
 * reads, so nothing is drawn if that goes to a terminal. From now on signals that end the process
 * wipe the line.
 */
const char *progress_begin(const struct cli *cli, bool writes_meanwhile);

#endif
