/* SPDX-License-Identifier: MIT */
/* The walk: reads ahead, finds the runs, and delivers what acts when it is read. */
#ifndef SONDE_ORDER_WALK_H
#define SONDE_ORDER_WALK_H

#include "order/ordering.h"

/* The walk goes on with file i, or the next one that is to be walked. */
void walk_from(struct order *o, unsigned i);
/* Reads ahead: notes the records that wait for the merge, and delivers the others. */
int walk_next(struct order *o);

#endif
