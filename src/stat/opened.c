/* SPDX-License-Identifier: MIT */
#include "stat/opened.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/explain.h"
#include "capture/filter.h"

/* What is to be opened: an event for a task on a cpu. */
struct opening {
	struct capture_event *event;
	const struct capture_event *leader; /* of its group, or itself */
	int32_t tid;
	int cpu;
	int group_fd; /* -1: it leads its group there */
};

/* If the leader of a group is not supported, the next member switches the group. */
static int opened_perf_event(const struct opening *w)
{
	const struct capture_event *e = w->event;
	struct perf_event_attr a = e->attr;
	const bool in_cgroup = e->cgroup_fd >= 0;
	const unsigned long flags = PERF_FLAG_FD_CLOEXEC | (in_cgroup ? PERF_FLAG_PID_CGROUP : 0);

	a.disabled = w->group_fd < 0 && w->leader->attr.disabled;
	a.enable_on_exec = w->group_fd < 0 && w->leader->attr.enable_on_exec;
	return (int)syscall(SYS_perf_event_open, &a, in_cgroup ? e->cgroup_fd : w->tid, w->cpu,
			    w->group_fd, flags);
}

/* The kernel or the processor does not have the event. */
static bool opened_means_unsupported(int error)
{
	return error == ENOENT || error == EINVAL || error == ENOSYS || error == EOPNOTSUPP ||
	       error == ENXIO || error == ENODEV;
}

/* The counter that switches the group on that cpu and task; -1 if there is none yet. */
static int opened_leader_fd(const struct stat_opened *o, uint32_t leader, size_t cpu, size_t task)
{
	for (size_t i = o->list.n; i--;) {
		const struct stat_counter *n = &o->list.v[i];

		if (n->is_leader && n->cpu == cpu && n->task == task &&
		    o->events->list.v[n->event].leader == leader)
			return n->fd;
	}
	return -1;
}

/* Some tracepoints may be opened by nobody, because counting itself passes through them. */
static bool opened_leaves_out(const struct stat_opened *o, const struct opening *w, int error)
{
	const struct capture_event *e = w->event;

	if ((error != EPERM && error != EACCES) || !o->list.n ||
	    (!e->from_glob && !o->leaves_out_refused))
		return false;
	if (w->cpu == o->subject->cpus.v[0])
		say(&o->say, SAY_WARNING, "leaving out %s: the kernel does not let it be counted",
		    e->name);
	return true;
}

/* *ret is -1 if the kernel has no such counter, or the task has ended. */
static int opened_try(struct stat_opened *o, const struct opening *w, int *ret)
{
	for (;;) {
		const int fd = opened_perf_event(w), error = errno;
		const struct refused_event refused = {
			.events = o->events,
			.event = w->event,
			.tid = w->tid,
			.cpu = w->cpu,
			.error = error,
			.any_open = o->list.n != 0,
		};

		*ret = fd;
		if (fd >= 0 || (error == ESRCH && o->tasks_may_vanish))
			return 0;
		if (step_back_for_counts(&o->steps, &refused, &o->say))
			continue;
		if (opened_means_unsupported(error) || opened_leaves_out(o, w, error))
			return 0;
		return explain_open(w->event, w->cpu, w->tid, stat_cells(o->subject) - o->list.n,
				    error);
	}
}

static int opened_set_filter(const struct stat_opened *o, const struct capture_event *e, int fd)
{
	if (!e->filter || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, e->filter) == 0)
		return 0;
	return filter_explain(&o->events->tracefs, e->system, e->event, e->filter, errno);
}

/* Returns 1 if a counter was opened, 0 if there is none. */
static int opened_add(struct stat_opened *o, size_t event, size_t cpu, size_t task)
{
	struct capture_event *e = &o->events->list.v[event];
	const struct opening w = {
		.event = e,
		.leader = &o->events->list.v[e->leader],
		.tid = o->subject->tasks.v[task].tid,
		.cpu = o->subject->cpus.v[cpu],
		.group_fd = e->leader == event ? -1 : opened_leader_fd(o, e->leader, cpu, task),
	};
	struct stat_counter n = {
		.event = (uint32_t)event,
		.cpu = (uint32_t)cpu,
		.task = (uint32_t)task,
		.is_leader = w.group_fd < 0,
	};
	int r;

	TRY(opened_try(o, &w, &n.fd));
	if (n.fd < 0)
		return 0;
	r = opened_set_filter(o, e, n.fd);
	if (r == 0 && vec_push(&o->list, n) < 0)
		r = err_nomem();
	if (r < 0)
		close(n.fd);
	return r < 0 ? r : 1;
}

/*
 * A group with the modifier W becomes single events if the kernel refuses a member on a cpu. Groups
 * that are open on other cpus stay: their counters know what switches them.
 */
static bool opened_split_group(struct stat_opened *o, size_t event, size_t cpu, size_t *ret_leader)
{
	const uint32_t leader = o->events->list.v[event].leader;
	size_t kept = 0;

	if (leader == event || !o->events->list.v[leader].is_weak)
		return false;
	for (size_t i = leader; i < o->events->list.n; i++) {
		struct capture_event *e = &o->events->list.v[i];

		if (e->leader != leader)
			continue;
		e->attr.disabled = o->events->list.v[leader].attr.disabled;
		e->attr.enable_on_exec = o->events->list.v[leader].attr.enable_on_exec;
	}
	capture_events_ungroup(o->events, leader);
	for (size_t i = 0; i < o->list.n; i++)
		if (o->list.v[i].cpu != cpu || o->list.v[i].event < leader ||
		    o->list.v[i].event > event)
			o->list.v[kept++] = o->list.v[i];
		else
			close(o->list.v[i].fd);
	o->list.n = kept;
	*ret_leader = leader;
	return true;
}

static int opened_add_event(struct stat_opened *o, size_t event, size_t cpu)
{
	const struct capture_event *e = &o->events->list.v[event];
	int nr = 0;

	if (e->tool != TOOL_NONE || !capture_event_counts_on(e, o->subject->cpus.v[cpu]))
		return 1;
	for (size_t task = 0; task < o->subject->tasks.n; task++) {
		const int r = opened_add(o, event, cpu, task);

		if (r < 0)
			return r;
		nr += r;
	}
	if (nr)
		o->subject->events.v[event].is_supported = true;
	return nr;
}

int stat_open_cpu(struct stat_opened *o, size_t cpu)
{
	for (size_t event = 0; event < o->events->list.n; event++) {
		const int nr = opened_add_event(o, event, cpu);
		size_t leader;

		if (nr < 0)
			return nr;
		if (nr == 0 && opened_split_group(o, event, cpu, &leader))
			event = leader - 1;
	}
	return 0;
}

bool stat_opened_is_empty(const struct stat_opened *o)
{
	return o->list.n == 0;
}

/* A member of a group counts while its leader does. */
static int opened_switch_counter(const struct stat_opened *o, const struct stat_counter *n, bool on)
{
	const unsigned long request = on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE;

	if (ioctl(n->fd, request, 0) < 0)
		return err_errno(errno, "%s: the kernel does not %s it",
				 o->subject->events.v[n->event].name, on ? "enable" : "disable");
	return 0;
}

static int opened_switch_leader(const struct stat_opened *o, const struct stat_counter *n, bool on)
{
	return n->is_leader ? opened_switch_counter(o, n, on) : 0;
}

int stat_opened_switch(struct stat_opened *o, bool on)
{
	vec_foreach(n, &o->list)
		TRY(opened_switch_leader(o, n, on));
	return 0;
}

int stat_opened_switch_cpu(struct stat_opened *o, size_t cpu, bool on)
{
	vec_foreach(n, &o->list)
		if (n->cpu == cpu)
			TRY(opened_switch_leader(o, n, on));
	return 0;
}

int stat_opened_switch_event(struct stat_opened *o, const char *name, bool on)
{
	bool found = false;

	vec_foreach(e, &o->subject->events)
		found |= !strcmp(e->name, name);
	if (!found)
		return err_set(-ENOENT, "there is no event '%s'", name);
	vec_foreach(n, &o->list)
		if (!strcmp(o->subject->events.v[n->event].name, name))
			TRY(opened_switch_counter(o, n, on));
	return 0;
}

int stat_opened_read(const struct stat_opened *o, struct stat_count *ret)
{
	for (size_t i = 0; i < o->list.n; i++) {
		const struct stat_counter *n = &o->list.v[i];
		struct stat_count *c = &ret[stat_cell(o->subject, n->event, n->cpu, n->task)];
		uint64_t words[3]; /* value, enabled, running: read_format */

		if (read(n->fd, words, sizeof(words)) != sizeof(words))
			continue; /* a pinned event that had no place in the processor */
		c->value += words[0];
		c->enabled_ns += words[1];
		c->running_ns += words[2];
		c->is_there = true;
	}
	return 0;
}

void stat_opened_close(struct stat_opened *o)
{
	vec_foreach(n, &o->list)
		close(n->fd);
	vec_done(&o->list);
}
