/* SPDX-License-Identifier: MIT */
/*
 * Options that are lines "key=value" of a text form that libsonde parses (OPT_KIND_KEY), collected
 * in the order given.
 */
#ifndef SONDE_CLI_LINES_H
#define SONDE_CLI_LINES_H

#include "opt.h"

struct lines {
	char *text; /* owned; one line per option, later ones win; NULL if there are none */
	size_t len;
};

/*
 * Adds a line; value NULL removes all lines of the key. word is the option's name, for messages.
 * Returns 0, or -1 after opt_error().
 */
int lines_set(struct lines *l, struct opt_parser *p, const char *word, const char *key,
	      const char *value);
/* The last value given for a key, released with free(); NULL if there is none. */
char *lines_given(const struct lines *l, const char *key);
/* The number of lines with a key. */
int lines_count(const struct lines *l, const char *key);
void lines_done(struct lines *l);

#endif
