/* SPDX-License-Identifier: MIT */
/* The k-way merge of the runs. */
#ifndef SONDE_ORDER_MERGE_H
#define SONDE_ORDER_MERGE_H

#include "order/ordering.h"

/* Opens every run that has a record within the limit; the others wait for their round. */
int merge_begin(struct order *o, uint64_t limit);
/* Fills out[] with the next records up to the limit; none left: the walk goes on. */
int merge_next(struct order *o);
/* Delivers a cut of the window that does not wait for its turn: it has no time, or it is late. */
void merge_deliver_at_once(struct order *o, struct window *w, const struct cut *cut);

#endif
