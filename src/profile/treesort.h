/* SPDX-License-Identifier: MIT */
/*
 * Sorts by adding one element after another to a red-black tree, as perf does. perf's comparison of
 * rows is not transitive (rows of one thread with equal sums are compared by their call chains), so
 * the result depends on which elements meet.
 */
#ifndef SONDE_PROFILE_TREESORT_H
#define SONDE_PROFILE_TREESORT_H

#include <stddef.h>
#include <stdint.h>

/* Adds the elements of v from left to right, each after equal ones. Returns 0 or -ENOMEM. */
int treesort(uint32_t *v, size_t n, int (*compare)(const void *a, const void *b, void *ctx),
	     void *ctx);

#endif
