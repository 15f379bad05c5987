/* SPDX-License-Identifier: MIT */
/* A program between our output and the terminal. */
#ifndef SONDE_CLI_PAGER_H
#define SONDE_CLI_PAGER_H

#include <stdbool.h>

/*
 * Starts COMMAND, a line for the shell, and pipes to it all further standard output, and standard
 * error if that is a terminal. If the program ends early, writes fail with EPIPE and the rest is
 * not shown. Returns 0, or -1 after reporting a failure; pager_wait() is then not needed.
 */
int pager_start(const char *command);
/* Ends the output and waits for the program; does nothing if there is none. */
void pager_wait(void);
bool pager_runs(void);
/* perf's default pager for users who named none; NULL if it would be cat. */
const char *pager_default(void);

#endif
