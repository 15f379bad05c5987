/* SPDX-License-Identifier: MIT */
/*
 * How far a long reading is, in one line of a terminal on stderr: "37 %, 1200000 events, 12 s left". It is drawn after a second,
 * and wiped before anything else is written.
 */
#ifndef SONDE_CLI_PROGRESS_H
#define SONDE_CLI_PROGRESS_H

#include "cli.h"

struct sonde_session;
/*
 * Draws from now on if stderr is a terminal, this process has it, and there is no pager. writes_meanwhile: the session's
 * output is written while it reads, so nothing is drawn if that goes to a terminal.
 */
void progress_begin(const struct cli *cli, struct sonde_session *s, bool writes_meanwhile);
void progress_wipe(void);

#endif
