/* SPDX-License-Identifier: MIT */
/* A program between our output and the terminal. */
#ifndef SONDE_CLI_PAGER_H
#define SONDE_CLI_PAGER_H

#include <stdbool.h>

/*
 * Starts COMMAND, a line of the shell, and gives it what is written from now on to standard output, and to standard
 * error where that is a terminal. When the program ends early, writing fails with EPIPE and nothing more is seen.
 * 0, or -1 after telling; pager_wait() is then not needed.
 */
int pager_start(const char *command);
/* Ends the output and waits for the program; fine also when there is none. */
void pager_wait(void);
bool pager_runs(void);
/* The program that perf's users get when they named none; NULL: none that is more than cat. */
const char *pager_default(void);

#endif
