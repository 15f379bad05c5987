/* SPDX-License-Identifier: MIT */
/* The runs that the walk finds. If they are too many, they become index entries in the spill. */
#ifndef SONDE_ORDER_RUNS_H
#define SONDE_ORDER_RUNS_H

#include "order/ordering.h"

/* Notes a record for the merge: it continues the open run or begins one. */
int runs_note(struct order *o, const struct cut *cut);
/* Writes the pending index entries and makes a run of them. */
int runs_flush(struct order *o);

#endif
