/* SPDX-License-Identifier: MIT */
/*
 * Comments in which a script, or its wrapper, describes itself:
 *
 *	# description: system calls: how many, how long
 *	# args: <comm> [--top N]
 *	# record: -e raw_syscalls:sys_enter --filter 'id == 1'
 *	# sonde: record -g -m 16M
 *
 * args is text for users: <word> is a required argument, [--word VALUE] an optional one. record has
 * the arguments of `sonde record`, as in a shell; several such lines are joined. sonde has
 *arguments that `sonde run` adds. Without a description the first line of the docstring is used.
 *The record line of a wrapper (bin/NAME-record) is the command line of its first `perf record`.
 */
#ifndef SONDE_CLI_SCRIPT_ABOUT_H
#define SONDE_CLI_SCRIPT_ABOUT_H

#include <stdbool.h>

struct script_about {
	char *description, *args, *record, *sonde; /* NULL if missing */
	bool has_handlers; /* for a script: it defines functions that get events */
};

/* An unreadable file has no description. Returns 0, or -1 if there is no memory. */
int script_about_read(const char *file, struct script_about *ret);
void script_about_done(struct script_about *a);

/* The number of required arguments. */
int script_about_required(const struct script_about *a);
/*
 * True if `args` has this option ("--top", "--top=5"). *ret_words is the number of words of the
 * option and its value.
 */
bool script_about_takes(const struct script_about *a, const char *word, int *ret_words);

#endif
