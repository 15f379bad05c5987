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
/* A recent place. It stays valid while the mappings, identified by their stamp, do not change. */
struct recent_place {
	uint64_t stamp, ip; /* stamp is 0 if the slot is free */
	uint32_t cpumode, place;
};

enum { RECENT_PLACES = 1 << 14 };

static inline size_t places_slot(uint64_t stamp, uint64_t ip)
{
	return hash_u64(ip ^ stamp << 40) % RECENT_PLACES;
}

int places_find_recent(struct profile *p, const struct event *ev, uint64_t stamp, uint64_t ip,
		       uint32_t cpumode, uint32_t *ret);
/*
 * The same for a frame with only a known address. stamp: identifies the mappings at that time; 0 if
 * they are unknown.
 */
static inline int places_recent(struct profile *p, const struct event *ev, uint64_t stamp,
				uint64_t ip, uint32_t cpumode, uint32_t *ret)
{
	if (__builtin_expect(p->recent && stamp, 1)) {
		const struct recent_place *r = &p->recent[places_slot(stamp, ip)];

		if (r->ip == ip && r->stamp == stamp && r->cpumode == cpumode) {
			*ret = r->place;
			return 0;
		}
	}
	return places_find_recent(p, ev, stamp, ip, cpumode, ret);
}
/*
 * The place of an address of which no mode is recorded: the first mode that has a mapping for it,
 * in perf's order.
 */
int places_find_in_modes(struct profile *p, const struct event *ev, uint64_t ip, uint32_t *ret);
/* The same place with another mode. */
int places_with_mode(struct profile *p, uint32_t place, uint32_t cpumode, uint32_t *ret);
/* To be called before the events of another session. */
void places_forget_recent(struct profile *p);

#endif
