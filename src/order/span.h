/* SPDX-License-Identifier: MIT */
/*
 * Finds the times of the first and the last sample of an input that does not store them, by one
 * walk over all records.
 */
#ifndef SONDE_ORDER_SPAN_H
#define SONDE_ORDER_SPAN_H

#include "filters/time_window.h"
#include "sources/source.h"

/* -ETIME if no sample has a time. The source counts damage, as in any walk. */
int order_span_find(struct source *source, size_t window_bytes, struct time_span *ret);

#endif
