/* SPDX-License-Identifier: MIT */
/* Where the cpus of the running machine are: their cores, dies, sockets and nodes. */
#ifndef SONDE_CAPTURE_RUNNING_TOPOLOGY_H
#define SONDE_CAPTURE_RUNNING_TOPOLOGY_H

#include <stddef.h>

/* Numbers of the kernel; -1 if it has none. */
struct cpu_place {
	int core, die, socket, node;
};

/* root: NULL means "". cpus: nr numbers; ret gets as many places. */
void cpu_places_read(const char *root, const int *cpus, size_t nr, struct cpu_place *ret);

#endif
