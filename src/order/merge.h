/* SPDX-License-Identifier: MIT */
/* The k-way merge of the runs. */
#ifndef SONDE_ORDER_MERGE_H
#define SONDE_ORDER_MERGE_H

#include "order/ordering.h"

/* Opens every run with a record within the limit. The others stay pending until their round. */
int merge_begin(struct order *o, uint64_t limit);
/* Fills out[] with the next records up to the limit. If there are none, the walk continues. */
int merge_next(struct order *o);
/* Delivers a cut of the window out of turn, because it has no time or is late. */
void merge_deliver_at_once(struct order *o, struct window *w, const struct cut *cut);

#endif
