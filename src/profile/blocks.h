/* SPDX-License-Identifier: MIT */
/*
 * Blocks of code between branches, with the cycles that they took (blocks=1). A block begins at the
 * target of a branch and ends at the source of the next one, in one function. Blocks with the same
 * end are one block, which begins where the longest of them does.
 */
#ifndef SONDE_PROFILE_BLOCKS_H
#define SONDE_PROFILE_BLOCKS_H

#include "model/event.h"
#include "profile/types.h"

struct block {
	uint32_t dso, start_place, end_place;
	bool has_start;                 /* otherwise it begins with the function */
	uint64_t sym_start, start, end; /* start, end: offsets in the function */
	uint64_t cycles, count;
	uint64_t share; /* perf's key of order */
};

struct blocks {
	struct wordset keys; /* dso, start of the function, end of the block */
	VEC(struct block) all;
	/* Those of a table, in perf's order: indices in all, made when the table is asked for. */
	VEC(uint32_t) shown;
	uint32_t shown_table; /* its number + 1 */
	uint64_t cycles;      /* of all branches */
};

int blocks_init(struct profile *p);
void blocks_done(struct profile *p);
/* Adds the blocks of a branch stack; entries[0] is the newest branch. */
int blocks_add(struct profile *p, const struct event *ev, const struct sonde_branch *entries,
	       uint64_t nr);
/*
 * The i-th block of a table: of a function that is the target of a branch there. NULL after the
 * last, and -ENOMEM in *ret_error.
 */
const struct block *blocks_at(struct profile *p, uint32_t table, uint64_t i, int *ret_error);

#endif
