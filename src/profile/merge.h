/* SPDX-License-Identifier: MIT */
/* Sums and differences of finished profiles: see sonde_profile_merge(). */
#ifndef SONDE_PROFILE_MERGE_H
#define SONDE_PROFILE_MERGE_H

#include "profile/types.h"

/* Adds or subtracts the samples of `more`. */
int merge_profile(struct profile *p, const struct profile *more, bool subtract);
void merge_done(struct profile *p);

#endif
