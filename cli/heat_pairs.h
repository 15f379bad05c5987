/* SPDX-License-Identifier: MIT */
/*
 * Pairs of events: the time from START to the next STOP of the same key. Forms of `key`:
 *
 *	dev,sector	fields of both events
 *	pid=next_pid	a field of START, and one of STOP
 *	tid, cpu	the thread, the cpu of the event, unless it has such a field
 */
#ifndef SONDE_CLI_HEAT_PAIRS_H
#define SONDE_CLI_HEAT_PAIRS_H

#include "heat.h"

#include <sonde/sonde.h>

enum { HEAT_KEYS = 4 };

struct heat_pairs {
	struct heat *heat;
	const char *start, *stop; /* patterns of event names */
	const char *key;          /* NULL if the events' fields decide */
	struct heat_pair *open;   /* owned; open starts, in chains by key */
	uint32_t *slots;          /* owned */
	uint32_t nr_open, room, free;
	struct heat_side *sides; /* owned; by schema id */
	uint32_t nr_sides;
	uint64_t starts, stops; /* seen */
	uint64_t without_start; /* stops without a start */
	uint64_t dropped;       /* starts not stored, because too many were open */
	/* The event type that has no field wrong_key; NULL if there is none. */
	const struct sonde_schema *wrong;
	char wrong_key[64];
};

/* Returns 0 or -ENOMEM. */
int heat_pairs_add(struct heat_pairs *p, const struct sonde_event *ev);
/* The number of starts without a stop. */
uint64_t heat_pairs_unended(const struct heat_pairs *p);
void heat_pairs_done(struct heat_pairs *p);

#endif
