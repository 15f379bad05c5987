/* SPDX-License-Identifier: MIT */
/*
 * --affinity: the thread that empties the rings moves to the cpu, or the node, of the one it reads.
 */
#ifndef SONDE_RECORD_DRAIN_AFFINITY_H
#define SONDE_RECORD_DRAIN_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "capture/cpus.h"

struct affinity {
	cpu_set_t *sets; /* one after the other, by ring.buffer; owned */
	size_t set_bytes;
	size_t nr_sets, current; /* current: nr_sets before the first move */
};

/*
 * recorded: the cpus whose indexes the rings have as their `buffer`. by_node: a ring's place is its
 * cpu's node.
 */
int affinity_init(struct affinity *a, const struct capture_cpus *recorded, bool by_node);
/* Whether the ring of a buffer is another place's than the one before. */
bool affinity_differs(const struct affinity *a, size_t buffer);
/* Moves there; where the system does not allow it the thread stays where it is. */
void affinity_move(struct affinity *a, size_t buffer);
void affinity_done(struct affinity *a);

#endif
