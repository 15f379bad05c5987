/* SPDX-License-Identifier: MIT */
/* "Did you mean ...": the nearest of some words to one that was mistyped. */
#ifndef SONDE_CLI_NEAREST_H
#define SONDE_CLI_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *typed;
	const char *found; /* NULL: nothing is near enough to be worth a line */
	size_t distance;   /* of found */
};

void nearest_init(struct nearest *n, const char *typed);
void nearest_offer(struct nearest *n, const char *word);

#endif
