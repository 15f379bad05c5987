/* SPDX-License-Identifier: MIT */
/* --affinity: the thread that empties the rings moves to the cpu, or the node, of the one it reads. */
#ifndef SONDE_RECORD_AFFINITY_H
#define SONDE_RECORD_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "capture/cpus.h"

struct affinity {
	cpu_set_t *sets; /* one after the other, by ring; owned */
	size_t set_bytes;
	size_t nr_sets, current; /* current: nr_sets before the first move */
};

/* ring_cpus: the cpu of each ring. by_node: its node. */
int affinity_init(struct affinity *a, const struct capture_cpus *ring_cpus, bool by_node);
/* Whether a ring is another place's than the one before. */
bool affinity_differs(const struct affinity *a, size_t ring);
/* Moves there; where the system does not allow it the thread stays where it is. */
void affinity_move(struct affinity *a, size_t ring);
void affinity_done(struct affinity *a);

#endif
