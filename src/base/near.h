/* SPDX-License-Identifier: MIT */
/* The names most like a misspelled one, by edit distance. */
#ifndef SONDE_BASE_NEAR_H
#define SONDE_BASE_NEAR_H

#include <stddef.h>

enum { NEAR_BEST = 3, NEAR_NAME = 96 };

struct near {
	const char *wanted; /* lent */
	size_t n;
	unsigned distance[NEAR_BEST]; /* ascending */
	char name[NEAR_BEST][NEAR_NAME];
};

void near_init(struct near *n, const char *wanted);
void near_offer(struct near *n, const char *candidate);
/* "; did you mean A, B or C?" or "" when nothing is near. */
void near_text(const struct near *n, char *buf, size_t size);
/* Insertions, deletions, changes and swaps of neighbours; UINT_MAX for names longer than NEAR_NAME. */
unsigned near_distance(const char *a, const char *b);

#endif
