/* SPDX-License-Identifier: MIT */
/* The times of the first and the last sample of an input that does not say them itself: all records are walked once. */
#ifndef SONDE_ORDER_SPAN_H
#define SONDE_ORDER_SPAN_H

#include "filters/time_window.h"
#include "sources/source.h"

/* 0 and *ret, -ETIME when no sample has a time. Damage met on the way is counted by the source as in any walk. */
int order_span_find(struct source *source, size_t window_bytes, struct time_span *ret);

#endif
