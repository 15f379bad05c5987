/* SPDX-License-Identifier: MIT */
/* The list of events. events_parse.c turns texts into events. */

#include "capture/events.h"

#include <string.h>
#include <unistd.h>

#include "base/err.h"
#include "base/sysfile.h"

/* Limits the number of events that a user may name: `*:*` names some 2,300 tracepoints. */
enum { EVENTS_MAX = 16384 };

struct capture_event capture_event_new(uint32_t type, uint64_t config)
{
	struct capture_event e = { .cgroup_fd = -1 };

	e.attr.type = type;
	e.attr.config = config;
	e.attr.size = PERF_ATTR_SIZE_VER7;
	e.attr.exclude_guest = 1;
	return e;
}

int capture_events_push(struct capture_events *l, const struct capture_event *e)
{
	if (l->list.n >= EVENTS_MAX)
		return err_set(-E2BIG, "more than %d events are named", EVENTS_MAX);
	TRY(vec_push(&l->list, *e));
	l->list.v[l->list.n - 1].leader = (uint32_t)l->list.n - 1;
	return 0;
}

const char *capture_events_join(struct capture_events *l, const char *a, const char *b,
				const char *c)
{
	size_t la = strlen(a), lb = strlen(b), lc = strlen(c);
	char *s = arena_alloc(&l->arena, la + lb + lc + 1);

	if (s) {
		memcpy(s, a, la);
		memcpy(s + la, b, lb);
		memcpy(s + la + lb, c, lc + 1);
	}
	return s;
}

/* ---- groups ---------------------------------------------------------------------------------- */

size_t capture_events_members(const struct capture_events *l, size_t leader)
{
	size_t n = 0;

	for (size_t i = 0; i < l->list.n; i++)
		n += l->list.v[i].leader == leader;
	return n;
}

/* NULL (no error is set) if out of memory. */
static const struct hybrid_sources *events_find_hybrid(struct capture_events *l)
{
	if (!l->hybrid) {
		l->hybrid = arena_alloc(&l->arena, sizeof(*l->hybrid));
		if (l->hybrid)
			hybrid_sources_find(l->sources, l->hybrid);
	}
	return l->hybrid;
}

/* The index of the type of cores that counts an event; 0 for those of other sources. */
static size_t events_core_type(const struct hybrid_sources *s, const struct capture_event *e)
{
	for (size_t i = 0; e->source && i < s->nr; i++)
		if (!strcmp(e->source, s->list[i].name))
			return i;
	return 0;
}

int capture_events_group(struct capture_events *l, size_t first, const char *name)
{
	const struct hybrid_sources *s = events_find_hybrid(l);
	struct capture_event *v = l->list.v;
	size_t leader = first;

	if (!s)
		return err_nomem();
	for (size_t i = first + 1; i < l->list.n; i++) {
		const struct capture_event e = v[i];
		size_t at = i;

		for (; at > first && events_core_type(s, &v[at - 1]) > events_core_type(s, &e);
		     at--)
			v[at] = v[at - 1];
		v[at] = e;
	}
	for (size_t i = first; i < l->list.n; i++) {
		if (events_core_type(s, &v[i]) != events_core_type(s, &v[leader]))
			leader = i;
		v[i].leader = (uint32_t)leader;
		v[i].group_name = i == leader ? name : NULL;
	}
	return 0;
}

int capture_events_group_all(struct capture_events *l)
{
	TRY(capture_events_group(l, 0, NULL));
	return capture_events_check_cgroups(l);
}

int capture_events_check_cgroups(const struct capture_events *l)
{
	for (size_t i = 0; i < l->list.n; i++) {
		const struct capture_event *e = &l->list.v[i];
		const struct capture_event *leader = &l->list.v[e->leader];

		if (e->cgroup_fd != leader->cgroup_fd)
			return err_set(-EBADR,
				       "%s and %s are in one group, so both must be of the same "
				       "control group (-G)",
				       leader->name, e->name);
	}
	return 0;
}

bool capture_event_counts_on(const struct capture_event *e, int cpu)
{
	if (!e->nr_cpus || cpu < 0)
		return true;
	for (size_t i = 0; i < e->nr_cpus; i++)
		if (e->cpus[i] == cpu)
			return true;
	return false;
}

void capture_events_ungroup(struct capture_events *l, size_t leader)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (l->list.v[i].leader == leader)
			l->list.v[i].leader = (uint32_t)i;
}

void capture_events_remove(struct capture_events *l, size_t event)
{
	const struct capture_event gone = l->list.v[event];
	size_t heir = event; /* the index of the next event of its group */

	if (gone.leader == event) {
		while (heir + 1 < l->list.n && l->list.v[heir + 1].leader != event)
			heir++;
		if (heir + 1 < l->list.n)
			l->list.v[heir + 1].group_name = gone.group_name;
	}
	memmove(&l->list.v[event], &l->list.v[event + 1],
		(l->list.n - event - 1) * sizeof(*l->list.v));
	l->list.n--;
	vec_foreach(e, &l->list)
		if (e->leader == event && gone.leader == event)
			e->leader = (uint32_t)heir;
		else if (e->leader > event)
			e->leader--;
}

/* ---- hybrid processors ----------------------------------------------------------------------- */

static int events_add_core_type(struct capture_events *l, const struct capture_event *any,
				const struct pmu *pmu, const char *terms)
{
	struct capture_event e = *any;

	hybrid_set_source(&e.attr, pmu);
	TRY(capture_event_set_source(l, &e, pmu));
	e.name = capture_events_join(l, pmu->name, "/", terms);
	e.name_of_all = any->name;
	e.from_glob = true;
	return e.name ? capture_events_push(l, &e) : err_nomem();
}

int capture_events_add_hybrid(struct capture_events *l, const struct capture_event *e,
			      const char *terms)
{
	const struct hybrid_sources *s;

	if (!hybrid_is_counter(e->attr.type))
		return 0;
	s = events_find_hybrid(l);
	if (!s)
		return err_nomem();
	for (size_t i = 0; i < s->nr; i++)
		TRY(events_add_core_type(l, e, &s->list[i], terms));
	return 0;
}

int capture_events_choose_cores(struct capture_events *l, const char *type)
{
	struct hybrid_sources all, *s;

	hybrid_sources_find(l->sources, &all);
	for (size_t i = 0; i < all.nr; i++) {
		if (strcmp(hybrid_core_type(&all.list[i]), type) != 0)
			continue;
		s = arena_alloc(&l->arena, sizeof(*s));
		if (!s)
			return err_nomem();
		*s = (struct hybrid_sources){ .nr = 1 };
		s->list[0] = all.list[i];
		l->hybrid = s;
		return 0;
	}
	if (!all.nr)
		return err_set(-EBADR,
			       "--cputype %s: the processor is not hybrid, its cores are "
			       "of one type; leave the option out",
			       type);
	return err_set(-EBADR, "--cputype %s: the processor has no such cores; it has %s and %s",
		       type, hybrid_core_type(&all.list[0]),
		       hybrid_core_type(&all.list[all.nr - 1]));
}

void capture_events_leave_out(struct capture_events *l, const int *cpus, size_t nr)
{
	for (size_t i = l->list.n; i-- > 0 && l->list.n > 1;) {
		const struct capture_event *e = &l->list.v[i];
		bool counts = !e->name_of_all;

		for (size_t k = 0; k < nr && !counts; k++)
			counts = capture_event_counts_on(e, cpus[k]);
		if (!counts)
			capture_events_remove(l, i);
	}
}

int capture_event_set_source(struct capture_events *l, struct capture_event *e,
			     const struct pmu *pmu)
{
	struct capture_cpus cpus;
	int *copy = NULL;

	e->source = arena_strdup(&l->arena, pmu->name);
	if (!e->source)
		return err_nomem();
	TRY(pmu_cpus(pmu, &cpus));
	if (cpus.list.n) {
		copy = arena_array(&l->arena, cpus.list.n, sizeof(*copy));
		if (copy)
			memcpy(copy, cpus.list.v, cpus.list.n * sizeof(*copy));
	}
	e->cpus = copy;
	e->nr_cpus = cpus.list.n;
	vec_done(&cpus.list);
	return e->nr_cpus && !copy ? err_nomem() : 0;
}

/* ---- without a text -------------------------------------------------------------------------- */

/*
 * AMD's kernels pass precise cycles on to IBS, which cannot exclude guests and would refuse them.
 */
static bool events_is_amd(void)
{
	char vendor[64];

	return sysfile_value(vendor, sizeof(vendor), "/proc/cpuinfo", "vendor_id") &&
	       !strcmp(vendor, "AuthenticAMD");
}

int capture_events_add_default(struct capture_events *l)
{
	struct capture_event e = capture_event_new(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);

	e.name = "cycles:P";
	e.is_default = true;
	e.attr.precise_ip = 3;
	e.attr.exclude_guest = !events_is_amd();
	l->last_add = l->list.n;
	TRY(capture_events_add_hybrid(l, &e, "cycles/P"));
	return l->list.n > l->last_add ? 0 : capture_events_push(l, &e);
}

int capture_events_add_dummy(struct capture_events *l)
{
	struct capture_event e = capture_event_new(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY);

	e.name = "dummy:HG";
	e.attr.exclude_guest = 0;
	e.attr.sample_period = 1;
	return capture_events_push(l, &e);
}

int capture_event_filter(struct capture_events *l, struct capture_event *e, const char *filter)
{
	if (e->filter) {
		const char *both = capture_events_join(l, e->filter, ") && (", filter);

		e->filter = both ? capture_events_join(l, "(", both, ")") : NULL;
	} else {
		e->filter = arena_strdup(&l->arena, filter);
	}
	return e->filter ? 0 : err_nomem();
}

int capture_events_filter(struct capture_events *l, const char *filter)
{
	if (!l->list.n)
		return err_set(-EBADR,
			       "--filter '%s' precedes all events: put it after the -e that it "
			       "belongs to",
			       filter);
	for (size_t i = l->last_add; i < l->list.n; i++)
		if (!l->list.v[i].system)
			return err_set(-EBADR,
				       "--filter '%s': %s is not a tracepoint; give the "
				       "tracepoints an -e of their own before the --filter",
				       filter, l->list.v[i].name);
	for (size_t i = l->last_add; i < l->list.n; i++)
		TRY(capture_event_filter(l, &l->list.v[i], filter));
	return 0;
}

int capture_events_trigger(struct capture_events *l, const char *trigger)
{
	if (!l->list.n)
		return err_set(-EBADR,
			       "--trigger '%s' precedes all events: put it after the -e "
			       "that it belongs to",
			       trigger);
	for (size_t i = l->last_add; i < l->list.n; i++) {
		struct capture_event *e = &l->list.v[i];

		e->triggers = e->triggers ? capture_events_join(l, e->triggers, "\n", trigger)
					  : arena_strdup(&l->arena, trigger);
		if (!e->triggers)
			return err_nomem();
	}
	return 0;
}

void capture_events_done(struct capture_events *l)
{
	vec_foreach(g, &l->cgroups)
		close(g->fd);
	vec_done(&l->cgroups);
	vec_done(&l->list);
	arena_done(&l->arena);
}
