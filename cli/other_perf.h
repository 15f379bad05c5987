/* SPDX-License-Identifier: MIT */
/*
 * perf itself, for commands that sonde does not have.
 *
 * Called as perf (as_perf.h), sonde executes the first `perf` in PATH that is not this program.
 * SONDE_PERF_CHAIN in its environment lists the programs that did so: "DEV:INO,DEV:INO". These are
 * skipped, so that two sondes in PATH do not call each other. A list that is too long ends a loop
 * through a program that calls sonde again.
 */
#ifndef SONDE_CLI_OTHER_PERF_H
#define SONDE_CLI_OTHER_PERF_H

#include "cli.h"

/* The first `perf` in PATH that is not sonde; released with free(). NULL if there is none. */
char *other_perf_find(void);
/*
 * Called as perf, executes that program with cli's command line. command (a word of it, or from the
 * program's name) and the words after it are kept exactly. argv[0..argc) follow command. Returns
 * CLI_OK if not called as perf or if there is no other perf; otherwise a status after reporting an
 * error.
 */
int other_perf_run(const struct cli *cli, const char *command, int argc, char **argv);
/*
 * Reports that perf has the command and sonde does not, the path of perf, and the script of sonde
 * that answers the same question. False if perf has no such command.
 */
bool other_perf_report_missing(const char *command, int argc, char **argv);

#endif
