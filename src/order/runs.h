/* SPDX-License-Identifier: MIT */
/* The runs that the walk finds; too many become index entries in the spill. */
#ifndef SONDE_ORDER_RUNS_H
#define SONDE_ORDER_RUNS_H

#include "order/ordering.h"

/* Notes a record that waits for the merge: it continues the open run or begins one. */
int runs_note(struct order *o, const struct cut *cut);
/* Makes a run of the index entries that are not written yet. */
int runs_flush(struct order *o);

#endif
