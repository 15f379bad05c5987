/* SPDX-License-Identifier: MIT */
#include "record/drain/thread_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/sysfile.h"

/* ---- groups of cpus -------------------------------------------------------------------------- */

static bool plan_read_group(enum cpu_group group, int cpu, char *text, size_t size)
{
	static const char dir[] = "/sys/devices/system/cpu";

	switch (group) {
	case GROUP_CPU:
		return false;
	case GROUP_CORE:
		return sysfile_line(text, size, "%s/cpu%d/topology/core_cpus_list", dir, cpu) ||
		       sysfile_line(text, size, "%s/cpu%d/topology/thread_siblings_list", dir, cpu);
	case GROUP_PACKAGE:
		return sysfile_line(text, size, "%s/cpu%d/topology/package_cpus_list", dir, cpu) ||
		       sysfile_line(text, size, "%s/cpu%d/topology/core_siblings_list", dir, cpu);
	case GROUP_NODE:
		break;
	}
	return false;
}

static int plan_find_node(int cpu, struct capture_cpus *ret)
{
	struct capture_cpus nodes;
	int r = capture_cpus_read("/sys/devices/system/node/online", &nodes);
	bool found = false;

	if (r < 0)
		return 0; /* a machine without nodes */
	for (size_t i = 0; i < nodes.list.n && !found; i++) {
		char path[96];

		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist",
			 nodes.list.v[i]);
		if (capture_cpus_read(path, ret) < 0)
			continue;
		found = capture_cpus_has(ret, cpu);
		if (!found)
			vec_done(&ret->list);
	}
	vec_done(&nodes.list);
	return found;
}

int cpu_group_find(enum cpu_group group, int cpu, struct capture_cpus *ret)
{
	struct capture_cpus cpus = { 0 };
	char text[4096];

	if (group == GROUP_NODE ? plan_find_node(cpu, &cpus) > 0
				: plan_read_group(group, cpu, text, sizeof(text)) &&
					  capture_cpus_parse(text, &cpus) == 0) {
		if (capture_cpus_has(&cpus, cpu)) {
			*ret = cpus;
			return 0;
		}
		vec_done(&cpus.list);
	}
	TRY(vec_push(&cpus.list, cpu));
	*ret = cpus;
	return 0;
}

/* ---- plans ----------------------------------------------------------------------------------- */

static const char *const group_words[] = { "cpu", "core", "package", "numa" };

static int plan_copy_cpus(const struct capture_cpus *from, struct capture_cpus *ret)
{
	TRY(vec_reserve(&ret->list, from->list.n));
	for (size_t i = 0; i < from->list.n; i++)
		ret->list.v[ret->list.n++] = from->list.v[i];
	return 0;
}

static const struct thread_mask *plan_mask_of(const struct thread_plan *p, int cpu)
{
	for (size_t i = 0; i < p->list.n; i++)
		if (capture_cpus_has(&p->list.v[i].rings, cpu))
			return &p->list.v[i];
	return NULL;
}

static int plan_make_groups(struct thread_plan *p, enum cpu_group group,
			    const struct capture_cpus *recorded)
{
	for (size_t i = 0; i < recorded->list.n; i++) {
		struct thread_mask m = { 0 };
		int r;

		if (plan_mask_of(p, recorded->list.v[i]))
			continue;
		TRY(cpu_group_find(group, recorded->list.v[i], &m.affinity));
		r = plan_copy_cpus(&m.affinity, &m.rings);
		if (r == 0)
			r = vec_push(&p->list, m);
		if (r < 0) {
			vec_done(&m.affinity.list);
			vec_done(&m.rings.list);
			return r;
		}
	}
	return 0;
}

static int plan_read_list(const char *spec, const char *text, size_t len,
			  const struct capture_cpus *online, struct capture_cpus *ret)
{
	char list[4096];

	if (!len || len >= sizeof(list))
		return err_set(-EBADR,
			       "--threads=%s: cpu, core, package, numa or lists of cpus as "
			       "0-1/0:2-3/2 are known",
			       spec);
	memcpy(list, text, len);
	list[len] = '\0';
	if (capture_cpus_parse(list, ret) < 0)
		return err_set(-EBADR, "--threads=%s: '%s' is not a list of cpus (0,2-3)", spec,
			       list);
	for (size_t i = 0; i < ret->list.n; i++)
		if (!capture_cpus_has(online, ret->list.v[i]))
			return err_set(-EBADR, "--threads=%s: there is no cpu %d", spec,
				       ret->list.v[i]);
	return 0;
}

static int plan_check_overlap(const char *spec, const struct thread_plan *p,
			      const struct thread_mask *m)
{
	for (size_t i = 0; i < p->list.n; i++) {
		const struct thread_mask *other = &p->list.v[i];

		for (size_t k = 0; k < m->rings.list.n; k++)
			if (capture_cpus_has(&other->rings, m->rings.list.v[k]))
				return err_set(
					-EBADR,
					"--threads=%s: two threads read the buffer of cpu %d", spec,
					m->rings.list.v[k]);
		for (size_t k = 0; k < m->affinity.list.n; k++)
			if (capture_cpus_has(&other->affinity, m->affinity.list.v[k]))
				return err_set(-EBADR, "--threads=%s: two threads run on cpu %d",
					       spec, m->affinity.list.v[k]);
	}
	return 0;
}

static int plan_add_mask(struct thread_plan *p, const char *spec, const char *at, size_t len,
			 const struct capture_cpus *online)
{
	const char *slash = memchr(at, '/', len);
	const size_t rings = slash ? (size_t)(slash - at) : 0;
	struct thread_mask m = { 0 };
	int r = plan_read_list(spec, at, rings, online, &m.rings);

	if (r == 0)
		r = plan_read_list(spec, slash + 1, len - rings - 1, online, &m.affinity);
	if (r == 0)
		r = plan_check_overlap(spec, p, &m);
	if (r == 0)
		r = vec_push(&p->list, m);
	if (r < 0) {
		vec_done(&m.rings.list);
		vec_done(&m.affinity.list);
	}
	return r;
}

static int plan_make_masks(struct thread_plan *p, const char *spec,
			   const struct capture_cpus *online)
{
	for (const char *at = spec; *at;) {
		const size_t len = strcspn(at, ":");

		TRY(plan_add_mask(p, spec, at, len, online));
		at += len + (at[len] == ':');
	}
	return 0;
}

/* Gives the first thread the cpus that no mask names; their rings would otherwise never be read. */
static int plan_give_rest_to_first(struct thread_plan *p, const struct capture_cpus *recorded,
				   const struct say *to)
{
	for (size_t i = 0; i < recorded->list.n; i++) {
		const int cpu = recorded->list.v[i];

		if (plan_mask_of(p, cpu))
			continue;
		say(to, SAY_WARNING, "--threads names no thread for cpu %d: the first one reads it",
		    cpu);
		TRY(vec_push(&p->list.v[0].rings.list, cpu));
	}
	return 0;
}

static int plan_make(struct thread_plan *p, const char *spec, const struct capture_cpus *recorded,
		     const struct say *to)
{
	struct capture_cpus online;
	int r;

	if (!*spec)
		return plan_make_groups(p, GROUP_CPU, recorded);
	for (size_t i = 0; i < sizeof(group_words) / sizeof(*group_words); i++)
		if (!strcmp(spec, group_words[i]))
			return plan_make_groups(p, (enum cpu_group)i, recorded);
	TRY(capture_cpus_read("/sys/devices/system/cpu/online", &online));
	r = plan_make_masks(p, spec, &online);
	vec_done(&online.list);
	TRY(r);
	return p->list.n ? plan_give_rest_to_first(p, recorded, to)
			 : plan_make_groups(p, GROUP_CPU, recorded);
}

int thread_plan_make(struct thread_plan *ret, const char *spec, const struct capture_cpus *recorded,
		     const struct say *say)
{
	struct thread_plan p = { 0 };
	int r = plan_make(&p, spec, recorded, say);

	if (r < 0) {
		thread_plan_done(&p);
		return r;
	}
	*ret = p;
	return 0;
}

void thread_plan_done(struct thread_plan *p)
{
	vec_foreach(m, &p->list) {
		vec_done(&m->rings.list);
		vec_done(&m->affinity.list);
	}
	vec_done(&p->list);
}
