/* SPDX-License-Identifier: MIT */
/* Turns numbers into values: equal values get one id, and a rank in each order. */
#ifndef SONDE_PROFILE_RANKS_H
#define SONDE_PROFILE_RANKS_H

#include "profile/types.h"

int ranks_make(struct profile *p);

#endif
