/* SPDX-License-Identifier: MIT */
/*
 * --affinity: the thread that empties the rings moves to the cpu, or to the node, of each ring.
 */
#ifndef SONDE_RECORD_DRAIN_AFFINITY_H
#define SONDE_RECORD_DRAIN_AFFINITY_H

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>

#include "capture/cpus.h"

struct affinity {
	cpu_set_t *sets; /* consecutive sets, indexed by ring.buffer; owned */
	size_t set_bytes;
	size_t nr_sets, current; /* current: nr_sets before the first move */
};

/*
 * recorded: the recorded cpus; a ring's `buffer` is an index into them. by_node: a ring's set is
 * all cpus of its cpu's node.
 */
int affinity_init(struct affinity *a, const struct capture_cpus *recorded, bool by_node);
/* True if this buffer's set of cpus differs from the current one. */
bool affinity_differs(const struct affinity *a, size_t buffer);
/*
 * Moves the thread to this buffer's cpus. It stays where it is if the system does not permit that.
 */
void affinity_move(struct affinity *a, size_t buffer);
void affinity_done(struct affinity *a);

#endif
