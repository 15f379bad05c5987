/* SPDX-License-Identifier: MIT */
/*
 * The progress line of a long run, on a terminal on stderr. The library draws it after a second
 * (progress=1, src/session/progress_line.h). It is wiped before any other output and at Ctrl-C.
 */
#ifndef SONDE_CLI_PROGRESS_H
#define SONDE_CLI_PROGRESS_H

#include "cli.h"

/*
 * Returns the line of a session's text form that requests a progress line, or "" if none is to be
 * drawn. The library draws it if stderr is the terminal of this process and there is no pager.
 * writes_meanwhile is true if output is written while the session reads; nothing is then drawn if
 * the output goes to a terminal. From now on, signals that end the process erase the progress line.
 */
const char *progress_begin(const struct cli *cli, bool writes_meanwhile);

#endif
