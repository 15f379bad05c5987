/* SPDX-License-Identifier: MIT */
/* Kinds of branches, counted. Counts stop at UINT32_MAX: there is a set of them for each frame. */
#ifndef SONDE_PROFILE_BRANCH_TYPES_H
#define SONDE_PROFILE_BRANCH_TYPES_H

#include <stdint.h>

struct sonde_profile_branches;

enum { BRANCH_TYPES = 24, BRANCH_NEW_TYPES = 16 };

struct branch_types {
	uint32_t forward, backward; /* conditional branches */
	uint32_t cross_4k, cross_2m;
	/* By type; those of branch_entry.new_type are from BRANCH_NEW_TYPES on. */
	uint32_t types[BRANCH_TYPES];
};

/* Counts a branch n times. Branches without a type do not count. */
void branch_types_count(struct branch_types *t, uint64_t from, uint64_t to, uint64_t flags,
			uint64_t n);
void branch_types_add(struct branch_types *t, const struct branch_types *more);
/* Fills the members of *ret that are about types. */
void branch_types_give(const struct branch_types *t, struct sonde_profile_branches *ret);

#endif
