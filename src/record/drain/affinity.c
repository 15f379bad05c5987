/* SPDX-License-Identifier: MIT */
#include "record/drain/affinity.h"

#include <stdlib.h>

#include "base/err.h"
#include "record/drain/thread_plan.h"

static cpu_set_t *affinity_set_of(const struct affinity *a, size_t buffer)
{
	return (cpu_set_t *)((char *)a->sets + buffer * a->set_bytes);
}

static int affinity_fill(struct affinity *a, const struct capture_cpus *recorded, bool by_node)
{
	for (size_t i = 0; i < a->nr_sets; i++) {
		struct capture_cpus cpus;

		TRY(cpu_group_find(by_node ? GROUP_NODE : GROUP_CPU, recorded->list.v[i], &cpus));
		for (size_t k = 0; k < cpus.list.n; k++)
			CPU_SET_S((size_t)cpus.list.v[k], a->set_bytes, affinity_set_of(a, i));
		vec_done(&cpus.list);
	}
	return 0;
}

int affinity_init(struct affinity *a, const struct capture_cpus *recorded, bool by_node)
{
	/* a node may contain cpus that are not recorded */
	const size_t nr_cpus = CPU_SETSIZE;
	size_t max = nr_cpus;

	for (size_t i = 0; i < recorded->list.n; i++)
		if ((size_t)recorded->list.v[i] >= max)
			max = (size_t)recorded->list.v[i] + nr_cpus;
	*a = (struct affinity){
		.set_bytes = CPU_ALLOC_SIZE(max),
		.nr_sets = recorded->list.n,
		.current = recorded->list.n,
	};
	a->sets = calloc(a->nr_sets ? a->nr_sets : 1, a->set_bytes);
	return a->sets ? affinity_fill(a, recorded, by_node) : err_nomem();
}

bool affinity_differs(const struct affinity *a, size_t buffer)
{
	return a->current == a->nr_sets ||
	       !CPU_EQUAL_S(a->set_bytes, affinity_set_of(a, a->current),
			    affinity_set_of(a, buffer));
}

void affinity_move(struct affinity *a, size_t buffer)
{
	if (affinity_differs(a, buffer) &&
	    sched_setaffinity(0, a->set_bytes, affinity_set_of(a, buffer)) < 0)
		return;
	a->current = buffer;
}

void affinity_done(struct affinity *a)
{
	free(a->sets);
	a->sets = NULL;
}
