/* SPDX-License-Identifier: MIT */
/* Places: distinct addresses, with what is there. */
#ifndef SONDE_PROFILE_PLACES_H
#define SONDE_PROFILE_PLACES_H

#include "profile/types.h"
#include "model/event.h"

/* The number of the place of an address. frame: that it is of; NULL for the sampled address. */
int places_find(struct profile *p, const struct event *ev, uint64_t ip, uint32_t cpumode,
		const struct sonde_frame *frame, uint32_t *ret);

#endif
