/* SPDX-License-Identifier: MIT */
/* The walk: reads ahead, finds the runs, and delivers records that have no time. */
#ifndef SONDE_ORDER_WALK_H
#define SONDE_ORDER_WALK_H

#include "order/ordering.h"

/* Continues the walk with file i, or with the next file that is not monotonic. */
void walk_from(struct order *o, unsigned i);
/* Reads ahead: notes records for the merge, and delivers the others at once. */
int walk_next(struct order *o);

#endif
