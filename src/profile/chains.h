/* SPDX-License-Identifier: MIT */
/* Call chains become paths: nodes with a parent, the outermost caller first. */
#ifndef SONDE_PROFILE_CHAINS_H
#define SONDE_PROFILE_CHAINS_H

#include "profile/types.h"
#include "model/event.h"

/*
 * The node of the innermost frame of an event's chain; PROFILE_ROOT if it has no chain. *place: the
 * sampled place, which ignore-callees may replace. Equal bytes of a chain with equal mappings are
 * resolved once.
 */
int chains_find(struct profile *p, const struct event *ev, uint32_t *place, uint32_t *ret);
/* The place + 1 of the outermost or innermost function, as perf looks, that parent= names. */
uint64_t chains_parent(const struct profile *p, uint32_t node);
void chains_forget(struct profile *p);

#endif
