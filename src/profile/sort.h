/* SPDX-License-Identifier: MIT */
/* The order of rows. */
#ifndef SONDE_PROFILE_SORT_H
#define SONDE_PROFILE_SORT_H

#include "profile/types.h"

/* See sonde_profile_sort(). */
int sort_rows(struct profile *p, const char *order, uint32_t member);

#endif
