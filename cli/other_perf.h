/* SPDX-License-Identifier: MIT */
/*
 * perf itself, for what sonde does not have.
 *
 * Called as perf (as_perf.h), sonde becomes the first `perf` in PATH that is not this program.
 * SONDE_PERF_CHAIN in its environment lists the programs that did so: "DEV:INO,DEV:INO". They are
 * passed over, so that two sondes in PATH do not call each other, and a list that is too long ends
 * a loop through a program that calls sonde again.
 */
#ifndef SONDE_CLI_OTHER_PERF_H
#define SONDE_CLI_OTHER_PERF_H

#include "cli.h"

/* The first `perf` in PATH that is not sonde; to be released with free(), NULL if there is none. */
char *other_perf_find(void);
/*
 * Called as perf, becomes that program with cli's command line, in which command (a word of it, or
 * what the program's name says) and what follows it are kept word for word. argv[0..argc) follow
 * command. Returns if not called as perf or if there is no other perf: CLI_OK; else a status, after
 * an error was printed.
 */
int other_perf_run(const struct cli *cli, const char *command, int argc, char **argv);
/*
 * Reports that perf has the command and sonde has not, where perf is, and which script of ours
 * answers the same question. False if perf has no such command.
 */
bool other_perf_report_missing(const char *command, int argc, char **argv);

#endif
