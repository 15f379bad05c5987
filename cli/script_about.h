/* SPDX-License-Identifier: MIT */
/*
 * What a script, or its wrapper, says of itself in comments:
 *
 *	# description: system calls: how many, how long
 *	# args: <comm> [--top N]
 *	# record: -e raw_syscalls:sys_enter --filter 'id == 1'
 *
 * args are words for people in which <word> is one that must be given, [--word VALUE] one that may. record is what `sonde
 * record` is given, as in a shell; several such lines are one. A script without a description has the first line of its
 * docstring. A wrapper (bin/NAME-record) has the command line of its first `perf record` for what it records.
 */
#ifndef SONDE_CLI_SCRIPT_ABOUT_H
#define SONDE_CLI_SCRIPT_ABOUT_H

#include <stdbool.h>

struct script_about {
	char *description, *args, *record; /* NULL: not said */
	bool has_handlers;                 /* of a script: functions that events are given to */
};

/* A file that cannot be read says nothing. 0, or -1 when there is no memory. */
int script_about_read(const char *file, struct script_about *ret);
void script_about_done(struct script_about *a);

/* How many arguments must be given. */
int script_about_required(const struct script_about *a);
/* Whether args name this option ("--top", "--top=5"); *ret_words: it and a value behind it are so many words. */
bool script_about_takes(const struct script_about *a, const char *word, int *ret_words);

#endif
