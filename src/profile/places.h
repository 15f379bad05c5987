/* SPDX-License-Identifier: MIT */
/* Places: distinct addresses, with what is there. */
#ifndef SONDE_PROFILE_PLACES_H
#define SONDE_PROFILE_PLACES_H

#include "profile/types.h"
#include "model/event.h"

/* The number of the place of an address. frame: that it is of; NULL for the sampled address. */
int places_find(struct profile *p, const struct event *ev, uint64_t ip, uint32_t cpumode,
		const struct sonde_frame *frame, uint32_t *ret);
/* The same for frames without more than an address; stamp: of the mappings that hold, 0 unknown. */
int places_recent(struct profile *p, const struct event *ev, uint64_t stamp, uint64_t ip,
		  uint32_t cpumode, uint32_t *ret);
/* The same place with another mode. */
int places_with_mode(struct profile *p, uint32_t place, uint32_t cpumode, uint32_t *ret);
/* Before the events of another session. */
void places_forget_recent(struct profile *p);

#endif
