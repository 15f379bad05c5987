/* SPDX-License-Identifier: MIT */
/* Places: distinct addresses, each with its function, file and source line. */
#ifndef SONDE_PROFILE_PLACES_H
#define SONDE_PROFILE_PLACES_H

#include "profile/types.h"
#include "model/event.h"

/*
 * Finds or adds the place of an address; *ret is its number. frame: the frame that has the address;
 * NULL for the sampled address.
 */
int places_find(struct profile *p, const struct event *ev, uint64_t ip, uint32_t cpumode,
		const struct sonde_frame *frame, uint32_t *ret);
/*
 * The same for a frame with only a known address. stamp: identifies the mappings at that time; 0 if
 * they are unknown.
 */
int places_recent(struct profile *p, const struct event *ev, uint64_t stamp, uint64_t ip,
		  uint32_t cpumode, uint32_t *ret);
/* The same place with another mode. */
int places_with_mode(struct profile *p, uint32_t place, uint32_t cpumode, uint32_t *ret);
/* To be called before the events of another session. */
void places_forget_recent(struct profile *p);

#endif
