/* SPDX-License-Identifier: MIT */
/* Options that are lines "key=value" of a text form which libsonde parses (OPT_KIND_KEY): collected as they are given. */
#ifndef SONDE_CLI_LINES_H
#define SONDE_CLI_LINES_H

#include "opt.h"

struct lines {
	char *text; /* owned; a line per option given, later ones win; NULL: none */
	size_t len;
};

/* value NULL takes all lines of the key out. 0, or -1 after opt_error(); word: of the option, for messages. */
int lines_set(struct lines *l, struct opt_parser *p, const char *word, const char *key,
	      const char *value);
/* The last value given for a key, to be released with free(); NULL when there is none. */
char *lines_given(const struct lines *l, const char *key);
/* How often a key is there. */
int lines_count(const struct lines *l, const char *key);
void lines_done(struct lines *l);

#endif
