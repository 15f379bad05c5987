/* SPDX-License-Identifier: MIT */
#include "record/affinity.h"

#include <stdlib.h>

#include "base/err.h"
#include "record/thread_plan.h"

static cpu_set_t *set_of(const struct affinity *a, size_t ring)
{
	return (cpu_set_t *)((char *)a->sets + ring * a->set_bytes);
}

static int fill(struct affinity *a, const struct capture_cpus *ring_cpus, bool by_node)
{
	for (size_t i = 0; i < a->nr_sets; i++) {
		struct capture_cpus cpus;

		TRY(cpu_group_find(by_node ? GROUP_NODE : GROUP_CPU, ring_cpus->list.v[i], &cpus));
		for (size_t k = 0; k < cpus.list.n; k++)
			CPU_SET_S((size_t)cpus.list.v[k], a->set_bytes, set_of(a, i));
		vec_done(&cpus.list);
	}
	return 0;
}

int affinity_init(struct affinity *a, const struct capture_cpus *ring_cpus, bool by_node)
{
	/* a node may hold cpus beyond those recorded */
	const size_t nr_cpus = CPU_SETSIZE;
	size_t max = nr_cpus;

	for (size_t i = 0; i < ring_cpus->list.n; i++)
		if ((size_t)ring_cpus->list.v[i] >= max)
			max = (size_t)ring_cpus->list.v[i] + nr_cpus;
	*a = (struct affinity){ .set_bytes = CPU_ALLOC_SIZE(max),
				.nr_sets = ring_cpus->list.n,
				.current = ring_cpus->list.n };
	a->sets = calloc(a->nr_sets ? a->nr_sets : 1, a->set_bytes);
	return a->sets ? fill(a, ring_cpus, by_node) : err_nomem();
}

bool affinity_differs(const struct affinity *a, size_t ring)
{
	return a->current == a->nr_sets ||
	       !CPU_EQUAL_S(a->set_bytes, set_of(a, a->current), set_of(a, ring));
}

void affinity_move(struct affinity *a, size_t ring)
{
	if (affinity_differs(a, ring) && sched_setaffinity(0, a->set_bytes, set_of(a, ring)) < 0)
		return;
	a->current = ring;
}

void affinity_done(struct affinity *a)
{
	free(a->sets);
	a->sets = NULL;
}
