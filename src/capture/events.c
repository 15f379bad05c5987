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

int capture_events_group_all(struct capture_events *l)
{
	vec_foreach(e, &l->list) {
		e->leader = 0;
		e->group_name = NULL;
	}
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
	return capture_events_push(l, &e);
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

void capture_events_done(struct capture_events *l)
{
	vec_foreach(g, &l->cgroups)
		close(g->fd);
	vec_done(&l->cgroups);
	vec_done(&l->list);
	arena_done(&l->arena);
}
