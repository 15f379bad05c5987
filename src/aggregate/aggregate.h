/* SPDX-License-Identifier: MIT */
/*
 * The life of an aggregation:
 *
 *	aggregate_new(&a, all, is_complete, &opts)
 *	aggregate_collect(a, events, nr)	for each batch of events
 *	aggregate_sort(a), aggregate_row_at()	as often as wanted
 *	aggregate_clear(a), aggregate_free(a)
 */
#ifndef SONDE_AGGREGATE_AGGREGATE_H
#define SONDE_AGGREGATE_AGGREGATE_H

#include "aggregate/types.h"

/* The words of sonde_aggregate_options.kind, by enum aggregate_kind. */
extern const char *const aggregate_kind_names[NR_AGGREGATE_KINDS];
/* The words of sonde_aggregate_options.by, by enum aggregate_key_kind. */
extern const char *const aggregate_key_names[NR_OWN_KEYS];

/* is_complete: all schemas of the recordings are known. See sonde_aggregate_new(). */
int aggregate_new(struct aggregate **ret, struct recordings *all, bool is_complete,
		  const struct sonde_aggregate_options *opts);
/* The number of keys in the row of merged keys. */
uint64_t aggregate_merged(const struct aggregate *a);
int aggregate_clear(struct aggregate *a);
void aggregate_free(struct aggregate *a); /* NULL is fine */

#endif
