/* SPDX-License-Identifier: MIT */
/*
 * perf itself, for commands that sonde does not have.
 *
 * Called as perf (as_perf.h), sonde executes the first `perf` in PATH that is not this program.
 * SONDE_PERF_CHAIN in the environment lists the sondes that already did so: "DEV:INO,DEV:INO". They
 * are skipped, so that two sondes in PATH do not call each other. The length of the list is
 * limited, which ends a loop through a program that calls sonde again.
 */
#ifndef SONDE_CLI_OTHER_PERF_H
#define SONDE_CLI_OTHER_PERF_H

#include "cli.h"

/* The first `perf` in PATH that is not sonde; released with free(). NULL if there is none. */
char *other_perf_find(void);
/*
 * If called as perf, executes the other perf with cli's command line. command (a word of that line,
 * or part of the program's name) and the words after it are kept exactly. argv[0..argc) are the
 * words after command. Returns CLI_OK if not called as perf or if there is no other perf; otherwise
 * a status after reporting an error.
 */
int other_perf_run(const struct cli *cli, const char *command, int argc, char **argv);
/*
 * Reports that perf has the command and sonde does not, the path of perf, and the script of sonde
 * that answers the same question. False if perf has no such command.
 */
bool other_perf_report_missing(const char *command, int argc, char **argv);

#endif
