/* SPDX-License-Identifier: MIT */
/* Splits a line into words as a shell does, without expanding anything. */
#ifndef SONDE_CLI_SHELL_WORDS_H
#define SONDE_CLI_SHELL_WORDS_H

#include <stddef.h>

struct shell_words {
	char **v; /* NULL-terminated */
	int n;
	char *text; /* the words, each ended by a NUL */
};

/*
 * Blanks separate words; '...', "..." and \ quote. Returns 0, -1 if a quote is not closed or there
 * is no memory. Released with shell_words_done().
 */
int shell_words_split(const char *line, struct shell_words *ret);
void shell_words_done(struct shell_words *w);

#endif
