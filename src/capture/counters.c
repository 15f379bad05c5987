/* SPDX-License-Identifier: MIT */
#include "capture/counters.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/explain.h"
#include "capture/filter.h"

/*
 * When the last counter of a tracepoint is closed, the kernel waits for all cpus. That takes some
 * 10 to 40 ms each, one after the other: thousands of tracepoints take more than a minute. From
 * this many counters on the user sees progress.
 */
enum { MANY_COUNTERS = 512 };

static time_t counters_now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	return t.tv_sec;
}

/* At most one line a second. */
static void counters_report_progress(const struct counters *c, time_t *last, const char *what,
				     size_t done, size_t all)
{
	const time_t now = counters_now_s();

	if (now == *last)
		return;
	*last = now;
	say(&c->say, SAY_VERBOSE, "%s: %zu of %zu", what, done, all);
}

static int counters_open_event(const struct perf_event_attr *attr, int32_t tid, int cpu,
			       int group_fd, unsigned long flags)
{
	return (int)syscall(SYS_perf_event_open, attr, tid, cpu, group_fd,
			    flags | PERF_FLAG_FD_CLOEXEC);
}

bool counters_know_build_ids(void)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(a),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
		.mmap = 1,
		.exclude_kernel = 1,
		.mmap2 = 1,
		.build_id = 1,
	};
	const int fd = counters_open_event(&a, 0, -1, -1, 0);

	if (fd < 0)
		return errno != EINVAL && errno != E2BIG;
	close(fd);
	return true;
}

/*
 * A cpu may go offline after it was listed. Then not even an event that always works can be opened
 * there.
 */
static bool counters_cpu_is_gone(int cpu, int32_t tid, int error)
{
	struct perf_event_attr dummy = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(dummy),
		.config = PERF_COUNT_SW_DUMMY,
		.exclude_kernel = 1,
	};
	int fd;

	if (tid >= 0 || (error != ENODEV && error != EINVAL))
		return false;
	fd = counters_open_event(&dummy, -1, cpu, -1, 0);
	if (fd >= 0) {
		close(fd);
		return false;
	}
	return errno == ENODEV || errno == EINVAL;
}

/*
 * The wakeup threshold is set only on the attr that is opened, not on the one that is written to
 * the file.
 */
static int counter_open(const struct capture_event *e, int32_t tid, int cpu, int group_fd,
			uint32_t wakeup_bytes)
{
	struct perf_event_attr a = e->attr;

	if (wakeup_bytes && !a.watermark && !a.wakeup_events) {
		a.watermark = 1;
		a.wakeup_watermark = wakeup_bytes;
	}
	if (e->cgroup_fd >= 0)
		return counters_open_event(&a, e->cgroup_fd, cpu, group_fd, PERF_FLAG_PID_CGROUP);
	return counters_open_event(&a, tid, cpu, group_fd, 0);
}

/* The descriptor of the group leader's counter on that cpu and task; -1 if there is none. */
static int counters_leader_fd(struct counters *c, uint32_t leader, int cpu, int32_t tid)
{
	/* counters are stored in the order of the events */
	for (size_t i = c->list.n; i-- && c->list.v[i].event >= leader;)
		if (c->list.v[i].event == leader && c->list.v[i].cpu == cpu &&
		    c->list.v[i].tid == tid)
			return c->list.v[i].fd;
	return -1;
}

static int counters_open_one(struct counters *c, struct capture_events *events, size_t event,
			     const struct counters_target *t, size_t cpu_index, size_t tid_index)
{
	struct capture_event *e = &events->list.v[event];
	const int32_t tid = t->tids[tid_index];
	struct counter n = {
		.event = (uint32_t)event,
		.cpu = t->cpus[cpu_index],
		.buffer = (uint32_t)(t->per_thread ? tid_index : cpu_index),
		.backward = e->attr.write_backward,
		.tid = tid,
	};
	int group_fd = -1, error;

	/* a group exists only on the cpus and in the tasks in which its leader could be opened */
	if (e->leader != event) {
		group_fd = counters_leader_fd(c, e->leader, n.cpu, tid);
		if (group_fd < 0)
			return 0;
	}
	while ((n.fd = counter_open(e, tid, n.cpu, group_fd, t->wakeup_bytes)) < 0) {
		error = errno;
		if (error == ESRCH && t->tids_may_vanish) {
			if (event == 0)
				say(&c->say, SAY_VERBOSE, "thread %d has ended: leaving it out",
				    tid);
			return 0;
		}
		if (counters_cpu_is_gone(n.cpu, tid, error)) {
			if (event == 0)
				say(&c->say, SAY_WARNING,
				    "cpu %d has gone offline: it is not recorded", n.cpu);
			return 0;
		}
		const struct refused_event refused = {
			.events = events,
			.event = e,
			.tid = tid,
			.cpu = n.cpu,
			.error = error,
			.any_open = c->list.n != 0,
		};

		if (!step_back(&c->steps, &refused, &c->say))
			return group_fd >= 0 && error == EINVAL
				       ? explain_member(&events->list.v[e->leader], e)
				       : explain_open(e, n.cpu, tid,
						      events->list.n * t->nr_cpus * t->nr_tids -
							      c->list.n,
						      error);
	}
	n.read_format = e->attr.read_format;
	if (ioctl(n.fd, PERF_EVENT_IOC_ID, &n.id) < 0) {
		error = errno;
		close(n.fd);
		return err_errno(error, "%s: the kernel returned no id", e->name);
	}
	if (vec_push(&c->list, n) < 0) {
		close(n.fd);
		return err_nomem();
	}
	return 1;
}

/* Removes an event that a glob added and the kernel refuses. */
static bool counters_leave_out(struct counters *c, struct capture_events *events, size_t event)
{
	struct capture_event *e = &events->list.v[event];

	if (!e->from_glob)
		return false;
	say(&c->say, SAY_WARNING, "leaving out %s: the kernel does not let it be recorded",
	    e->name);
	/* the new leader of the group starts and samples as the old leader would have */
	for (size_t i = event + 1; e->leader == event && i < events->list.n; i++) {
		struct perf_event_attr *a = &events->list.v[i].attr;

		if (events->list.v[i].leader != event)
			continue;
		a->disabled = e->attr.disabled;
		a->enable_on_exec = e->attr.enable_on_exec;
		a->freq = e->attr.freq;
		a->sample_period = e->attr.sample_period;
		break;
	}
	capture_events_remove(events, event);
	return true;
}

/*
 * Splits a weak group that the kernel refuses into single events, which are reopened from the
 * leader on.
 */
static bool counters_give_up_group(struct counters *c, struct capture_events *events, size_t *event)
{
	const uint32_t leader = events->list.v[*event].leader;
	const struct capture_event *first = &events->list.v[leader];

	if (leader == *event || !first->is_weak)
		return false;
	say(&c->say, SAY_WARNING,
	    "the kernel refuses the group of %s with %s in it: recording its events without a "
	    "group",
	    first->name, events->list.v[*event].name);
	for (size_t i = leader; i < events->list.n; i++) {
		struct perf_event_attr *a = &events->list.v[i].attr;

		if (events->list.v[i].leader != leader)
			continue;
		a->disabled = first->attr.disabled;
		a->enable_on_exec = first->attr.enable_on_exec;
	}
	capture_events_ungroup(events, leader);
	while (c->list.n && c->list.v[c->list.n - 1].event >= leader)
		close(c->list.v[--c->list.n].fd);
	*event = leader;
	return true;
}

static int counters_open_everywhere(struct counters *c, struct capture_events *events, size_t event,
				    const struct counters_target *target)
{
	const struct capture_event *e = &events->list.v[event];
	size_t opened = 0, wanted = 0;

	for (size_t cpu = 0; cpu < target->nr_cpus; cpu++)
		for (size_t i = 0; i < target->nr_tids; i++) {
			if (!capture_event_counts_on(e, target->cpus[cpu]))
				continue;
			wanted++;
			int r = counters_open_one(c, events, event, target, cpu, i);

			TRY(r);
			opened += (size_t)r;
		}
	if (opened)
		return 0;
	if (!wanted)
		return err_set(-ENODEV,
			       "%s: %s counts for all cpus on cpu %d, which is not recorded",
			       e->name, e->source, e->cpus[0]);
	return target->tids[0] < 0
		       ? err_set(-ENODEV, "none of the cpus to record is online any more")
		       : err_set(-ESRCH, "all processes and threads to record have ended");
}

static void counters_report_opened(const struct counters *c, const struct capture_event *e,
				   size_t nr)
{
	const struct perf_event_attr *a = &e->attr;

	say(&c->say, SAY_VERBOSE, "%s: type %u, config %#llx, %s %llu: %zu counters", e->name,
	    a->type, (unsigned long long)a->config, a->freq ? "frequency" : "period",
	    (unsigned long long)a->sample_period, nr);
}

static int counters_set_filter(int fd, const struct capture_events *events,
			       const struct capture_event *e)
{
	if (ioctl(fd, PERF_EVENT_IOC_SET_FILTER, e->filter) < 0)
		return filter_explain(&events->tracefs, e->system, e->event, e->filter, errno);
	return 0;
}

/*
 * Checks a filter on an extra counter that is like an open one, before the next event is opened. So
 * a wrong filter fails at once, not after thousands of counters were opened that must be closed
 * again.
 */
static int counters_check_filter(const struct counter *n, const struct capture_events *events)
{
	const struct capture_event *e = &events->list.v[n->event];
	int fd, r;

	if (!e->filter)
		return 0;
	fd = counters_open_event(&e->attr, n->tid, n->cpu, -1, 0);
	if (fd < 0)
		return 0; /* the task has ended; its open counters get the filter later */
	r = counters_set_filter(fd, events, e);
	close(fd);
	return r;
}

/* Its id is one that the kernel, which counts from 1, does not give. */
static int counters_add_unopened(struct counters *c, const struct counters_target *t, size_t event)
{
	const struct counter n = {
		.fd = -1,
		.event = (uint32_t)event,
		.cpu = -1,
		.tid = t->tids[0],
		.id = (UINT64_C(1) << 62) + event,
	};

	return vec_push(&c->list, n) < 0 ? err_nomem() : 0;
}

int counters_open(struct counters *c, struct capture_events *events,
		  const struct counters_target *target)
{
	time_t reported_s = counters_now_s();

	for (size_t event = 0; event < events->list.n;) {
		const size_t before = c->list.n;
		int r;

		if (events->list.v[event].in_ftrace) {
			TRY(counters_add_unopened(c, target, event++));
			continue;
		}
		r = counters_open_everywhere(c, events, event, target);

		/*
		 * Some tracepoints cannot be recorded by anyone, because recording itself passes
		 * through them. The first event is never left out: it may carry comm, fork and
		 * mmap, and a user who may not record at all must get an error.
		 */
		if ((r == -EPERM || r == -EINVAL || r == -EOPNOTSUPP) && event &&
		    c->list.n == before && counters_leave_out(c, events, event))
			continue;
		if (r < 0 && counters_give_up_group(c, events, &event))
			continue;
		TRY(r);
		TRY(counters_check_filter(&c->list.v[before], events));
		counters_report_opened(c, &events->list.v[event], c->list.n - before);
		event++;
		counters_report_progress(c, &reported_s, "events opened", event, events->list.n);
	}
	return 0;
}

int counters_map(struct counters *c, size_t data_pages, bool may_shrink)
{
	return rings_map(&c->rings, c->list.v, c->list.n, data_pages, may_shrink, &c->say);
}

int counters_filter(struct counters *c, const struct capture_events *events)
{
	vec_foreach(n, &c->list) {
		const struct capture_event *e = &events->list.v[n->event];

		if (e->filter && n->fd >= 0)
			TRY(counters_set_filter(n->fd, events, e));
	}
	return 0;
}

static int counters_enable_one(const struct counter *n)
{
	return ioctl(n->fd, PERF_EVENT_IOC_ENABLE, 0) < 0
		       ? err_errno(errno, "cannot enable an event on cpu %d", n->cpu)
		       : 0;
}

int counters_enable(struct counters *c)
{
	vec_foreach(n, &c->list)
		if (n->fd >= 0)
			TRY(counters_enable_one(n));
	return 0;
}

void counters_disable(struct counters *c)
{
	vec_foreach(n, &c->list)
		if (n->fd >= 0)
			ioctl(n->fd, PERF_EVENT_IOC_DISABLE, 0);
}

int counters_enable_event(struct counters *c, uint32_t event)
{
	vec_foreach(n, &c->list)
		if (n->event == event)
			TRY(counters_enable_one(n));
	return 0;
}

void counters_disable_event(struct counters *c, uint32_t event)
{
	vec_foreach(n, &c->list)
		if (n->event == event)
			ioctl(n->fd, PERF_EVENT_IOC_DISABLE, 0);
}

/*
 * value, [enabled], [running], [id], [lost]; for a group: nr, [enabled], [running], nr x { value,
 * [id], [lost] }
 */
bool counter_read(const struct counter *n, uint64_t *ret_value, uint64_t *ret_dropped)
{
	enum { ENABLED_RUNNING = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING };
	const uint64_t format = n->read_format;
	const size_t times = (size_t)__builtin_popcountll(format & ENABLED_RUNNING);
	const bool has_id = format & PERF_FORMAT_ID;
	uint64_t values[2048]; /* 16 KiB: the most that the kernel returns for a group */
	const ssize_t bytes = format & PERF_FORMAT_LOST ? read(n->fd, values, sizeof(values)) : 0;
	const size_t have = bytes > 0 ? (size_t)bytes / sizeof(*values) : 0;
	const size_t each = 2 + has_id;

	*ret_value = *ret_dropped = 0;
	if (!(format & PERF_FORMAT_GROUP)) {
		if (have < times + each)
			return false;
		*ret_value = values[0];
		*ret_dropped = values[times + each - 1];
		return true;
	}
	for (size_t at = 1 + times; has_id && at + each <= have; at += each)
		if (values[at + 1] == n->id) {
			*ret_value = values[at];
			*ret_dropped = values[at + 2];
			return true;
		}
	return false;
}

void counters_close(struct counters *c)
{
	time_t reported_s = counters_now_s();

	rings_done(&c->rings);
	if (c->list.n >= MANY_COUNTERS)
		say(&c->say, SAY_NORMAL,
		    "closing %zu counters: the kernel needs some time for each tracepoint",
		    c->list.n);
	for (size_t i = 0; i < c->list.n; i++) {
		if (c->list.v[i].fd >= 0)
			close(c->list.v[i].fd);
		counters_report_progress(c, &reported_s, "counters closed", i + 1, c->list.n);
	}
	vec_done(&c->list);
}
