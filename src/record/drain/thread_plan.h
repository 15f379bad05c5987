/* SPDX-License-Identifier: MIT */
/* Which threads empty the rings (--threads): each those of some cpus, running on some cpus. */
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
 * spec: "" or cpu, core, package, numa; or RINGS/AFFINITY[:RINGS/AFFINITY...], lists of cpus as
 * 0,2-3. recorded: the cpus that are recorded; those that no mask names are the first thread's.
 * -EBADR: the spec is wrong.
 */
int thread_plan_make(struct thread_plan *ret, const char *spec, const struct capture_cpus *recorded,
		     const struct say *say);
void thread_plan_done(struct thread_plan *p);

/*
 * The cpus that share a core, a package or a node with one, or that cpu alone where the machine
 * does not say.
 */
enum cpu_group { GROUP_CPU, GROUP_CORE, GROUP_PACKAGE, GROUP_NODE };
int cpu_group_find(enum cpu_group group, int cpu, struct capture_cpus *ret);

#endif
