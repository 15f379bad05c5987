/* SPDX-License-Identifier: MIT */
/* Sums over samples. A sum stays at the largest number when it overflows. */
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

void counts_add(struct profile *p, struct profile_counts *to, const struct profile_counts *more);
uint64_t counts_period(const struct profile_counts *c);

#endif
