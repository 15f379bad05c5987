/* SPDX-License-Identifier: MIT */
/*
 * The names that are most similar to a misspelled one. Every "did you mean" of the library, the
 * command line and the script engines uses near_apart() and near_is_meant(); the latter two through
 * sonde_nearest_offer().
 */
#ifndef SONDE_BASE_NEAR_H
#define SONDE_BASE_NEAR_H

#include <stdbool.h>
#include <stddef.h>

enum { NEAR_BEST = 3, NEAR_NAME = 96 };

struct near {
	const char *wanted; /* borrowed, or word */
	char word[NEAR_NAME + 1];
	size_t n;
	unsigned distance[NEAR_BEST]; /* ascending */
	char name[NEAR_BEST][NEAR_NAME + 1];
};

void near_init(struct near *n, const char *wanted);
/* The same for a name of that length inside a text; n->wanted is a copy, truncated to NEAR_NAME. */
void near_init_part(struct near *n, const char *wanted, size_t len);
/* A name that is offered several times is named once. */
void near_offer(struct near *n, const char *candidate);
/* "; did you mean A, B or C?", or "" if no name is near. */
void near_text(const struct near *n, char *buf, size_t size);
/*
 * The number of insertions, deletions, changes and swaps of neighbours; UINT_MAX for names longer
 * than NEAR_NAME.
 */
unsigned near_distance(const char *a, const char *b);
/*
 * The distance of a candidate. "sched_switch" has distance 1 from "sched:sched_switch": the system
 * of an event counts as one letter if the wanted name has none.
 */
unsigned near_apart(const char *wanted, const char *candidate);
/* True if the user probably meant a candidate at that distance. */
bool near_is_meant(const char *wanted, const char *candidate, unsigned apart);

#endif
