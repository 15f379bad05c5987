/* SPDX-License-Identifier: MIT */
#include "capture/running/topology.h"

#include <limits.h>
#include <stdio.h>

#include "base/err.h"
#include "base/sysfile.h"
#include "capture/cpus.h"

#define TOPOLOGY "%s/sys/devices/system/cpu/cpu%d/topology/%s"
#define NODES    "%s/sys/devices/system/node"

/* A machine without NUMA has no nodes. */
static void topology_read_nodes(const char *root, const int *cpus, size_t nr, struct cpu_place *ret)
{
	struct capture_cpus nodes = { 0 };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), NODES "/online", root);
	if (capture_cpus_read(path, &nodes) < 0) {
		err_clear();
		return;
	}
	vec_foreach(node, &nodes.list) {
		struct capture_cpus members = { 0 };

		snprintf(path, sizeof(path), NODES "/node%d/cpulist", root, *node);
		if (capture_cpus_read(path, &members) < 0)
			err_clear();
		for (size_t i = 0; i < nr; i++)
			if (capture_cpus_has(&members, cpus[i]))
				ret[i].node = *node;
		vec_done(&members.list);
	}
	vec_done(&nodes.list);
}

void cpu_places_read(const char *root, const int *cpus, size_t nr, struct cpu_place *ret)
{
	root = root ? root : "";
	for (size_t i = 0; i < nr; i++)
		ret[i] = (struct cpu_place){
			.core = (int)sysfile_number(-1, TOPOLOGY, root, cpus[i], "core_id"),
			.die = (int)sysfile_number(-1, TOPOLOGY, root, cpus[i], "die_id"),
			.socket = (int)sysfile_number(-1, TOPOLOGY, root, cpus[i],
						      "physical_package_id"),
			.node = -1,
		};
	topology_read_nodes(root, cpus, nr, ret);
}
