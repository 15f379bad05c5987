/* SPDX-License-Identifier: MIT */
/* Sums over samples. They stay at the largest number when they reach it. */
#ifndef SONDE_PROFILE_COUNTS_H
#define SONDE_PROFILE_COUNTS_H

#include "profile/types.h"

void counts_add(struct profile *p, struct profile_counts *to, const struct profile_counts *more);
uint64_t counts_period(const struct profile_counts *c);

#endif
