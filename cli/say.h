/* SPDX-License-Identifier: MIT */
/*
 * Lines for the user on stderr. Text with names from recordings is escaped: control characters are
 * printed as \x1b.
 */
#ifndef SONDE_CLI_SAY_H
#define SONDE_CLI_SAY_H

#include <stddef.h>
#include <stdio.h>

void cli_put_quiet(FILE *out, const char *text, size_t len);
/* Prints "HEADTEXT" and a newline on stderr. */
void cli_put_line(const char *head, const char *text, size_t len);
/* Prints "sonde: ..." and a newline on stderr. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
