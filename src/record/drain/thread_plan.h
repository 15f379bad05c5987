/* SPDX-License-Identifier: MIT */
/*
 * The threads that empty the rings (--threads): each reads the rings of some cpus and runs on some
 * cpus.
 */
#ifndef SONDE_RECORD_DRAIN_THREAD_PLAN_H
#define SONDE_RECORD_DRAIN_THREAD_PLAN_H

#include "base/vec.h"
#include "capture/cpus.h"
#include "capture/say.h"

struct thread_mask {
	struct capture_cpus rings, affinity; /* owned */
};

struct thread_plan {
	VEC(struct thread_mask) list;
};

/*
 * spec: "", a word (cpu, core, package, numa), or RINGS/AFFINITY[:RINGS/AFFINITY...] with lists of
 * cpus like 0,2-3. recorded: the recorded cpus; the first thread gets those that no mask names.
 * -EBADR if the spec is wrong.
 */
int thread_plan_make(struct thread_plan *ret, const char *spec, const struct capture_cpus *recorded,
		     const struct say *say);
void thread_plan_done(struct thread_plan *p);

/*
 * Finds the cpus that share a core, a package or a node with this cpu. The result is this cpu alone
 * if the machine does not report the group.
 */
enum cpu_group { GROUP_CPU, GROUP_CORE, GROUP_PACKAGE, GROUP_NODE };
int cpu_group_find(enum cpu_group group, int cpu, struct capture_cpus *ret);

#endif
