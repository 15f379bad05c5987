/* SPDX-License-Identifier: MIT */
/*
 * Sums over samples. A sum stays at the largest number when it overflows. In a difference of
 * profiles sums are int64_t, and also stay at the smallest.
 */
#ifndef SONDE_PROFILE_COUNTS_H
#define SONDE_PROFILE_COUNTS_H

#include "profile/types.h"

static inline void counts_sum(struct profile *p, uint64_t *to, uint64_t more)
{
	if (__builtin_expect(__builtin_add_overflow(*to, more, to), 0)) {
		*to = UINT64_MAX;
		p->facts.flags |= SONDE_PROFILE_SATURATED;
	}
}

void counts_sum_signed(struct profile *p, uint64_t *to, uint64_t more);

static inline void counts_sum_as(struct profile *p, bool is_signed, uint64_t *to, uint64_t more)
{
	if (is_signed)
		counts_sum_signed(p, to, more);
	else
		counts_sum(p, to, more);
}

/* False if no sample was added. A difference can have no samples on balance, and still a period. */
static inline bool counts_any(const struct profile_counts *c)
{
	return c->samples || c->is_signed;
}

/* Turns sums into signed ones, which differences need. */
void counts_make_signed(struct profile *p, struct profile_counts *c, bool negate);
/* From now on the profile's sums are signed. */
void counts_begin_difference(struct profile *p);
/* A sum as an unsigned number in the same order. */
static inline uint64_t counts_order(const struct profile *p, uint64_t sum)
{
	return p->facts.flags & SONDE_PROFILE_DIFFERENCE ? sum ^ 1ull << 63 : sum;
}
/* A sum without its sign. */
static inline uint64_t counts_size(const struct profile *p, uint64_t sum)
{
	return p->facts.flags & SONDE_PROFILE_DIFFERENCE && (int64_t)sum < 0 ? -sum : sum;
}

void counts_add(struct profile *p, struct profile_counts *to, const struct profile_counts *more);
void counts_add_cell(struct profile *p, struct profile_counts *to, uint32_t cell);
struct profile_counts counts_of_cell(const struct profile *p, uint32_t cell);
/* Replaces the counts of a cell. */
void counts_put_cell(struct profile *p, uint32_t cell, const struct profile_counts *c);
/* Adds the counts of a new cell, with nothing but the facts of its first sample. */
int counts_new_cell(struct profile *p, const struct cell_counts *c);
uint64_t counts_period(const struct profile_counts *c);

#endif
