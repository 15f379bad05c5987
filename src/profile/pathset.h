/* SPDX-License-Identifier: MIT */
/*
 * struct pathset: distinct call paths, numbered from 0 in the order in which they were added. A
 * path is a list of frames, which are numbers of places + 1.
 *
 *	frames		a b c | a d | a b e f |
 *	begins[i] ^     ^     ^         ^ frames.n
 *
 * Most paths of a deep program differ in their inner half only. A list still needs less memory than
 * a node for each frame with a hash table of all nodes, and one look-up for each path instead of
 * one for each frame. The hash is mixed with the set's address, because paths come from files.
 */
#ifndef SONDE_PROFILE_PATHSET_H
#define SONDE_PROFILE_PATHSET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct pathset_slot {
	uint32_t path; /* its number + 1; 0 if the slot is free */
	uint32_t hash;
};

struct pathset {
	VEC(uint32_t) frames;
	VEC(uint32_t) begins;
	struct pathset_slot *slots; /* owned */
	size_t mask;
	uint64_t seed;
};

void pathset_done(struct pathset *s);
/*
 * Finds the number of a path of nr > 0 frames, or adds the path. Returns 1 if it is new, 0 if it is
 * known, -ENOSPC if the set would have more than `max` paths or 16 * max frames, or -ENOMEM.
 */
int pathset_put(struct pathset *s, const uint32_t *frames, uint32_t nr, uint64_t max,
		uint32_t *ret);

static inline uint32_t pathset_begin(const struct pathset *s, uint32_t path)
{
	return s->begins.v[path];
}

static inline uint32_t pathset_end(const struct pathset *s, uint32_t path)
{
	return path + 1 < s->begins.n ? s->begins.v[path + 1] : (uint32_t)s->frames.n;
}

#endif
