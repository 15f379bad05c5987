/* SPDX-License-Identifier: MIT */
/* Call chains become paths: lists of places. */
#ifndef SONDE_PROFILE_CHAINS_H
#define SONDE_PROFILE_CHAINS_H

#include "profile/types.h"
#include "model/event.h"

/*
 * Finds or adds the path of an event's chain. *ret is the path's number, PROFILE_ROOT without one.
 * *place is the sampled place; ignore-callees may replace it. profile.chain_parent is set
 * if the key parent is used: if parent= names several functions of the chain, the outermost with
 * CALLGRAPH_CALLER, otherwise the innermost, as in perf.
 */
int chains_find(struct profile *p, const struct event *ev, uint32_t *place, uint32_t *ret);
/*
 * Samples of an event type without chains borrow the chain before them, for rows with children:
 * *path, with *ret_borrowed true. perf takes the last chain of all, whoever had it, also without
 * borrow-chains=1; otherwise it is one of the same thread. Chains of other samples are noted.
 */
int chains_borrow(struct profile *p, const struct event *ev, uint32_t *path, bool *ret_borrowed);

#endif
