/* SPDX-License-Identifier: MIT */
#include "record/realtime.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/err.h"
#include "capture/setup/values.h"

int realtime_parse(struct realtime *ret, const char *text)
{
	uint64_t priority = 0;

	if (text)
		TRY(capture_value_number("-r", text, 0,
					 (uint64_t)sched_get_priority_max(SCHED_FIFO), &priority));
	*ret = (struct realtime){ .priority = (int)priority };
	return 0;
}

/* struct sched_attr of Linux 5.3 */
struct turn {
	uint32_t size, policy;
	uint64_t flags;
	int32_t nice;
	uint32_t priority;
	uint64_t runtime_ns, deadline_ns, period_ns;
	uint32_t util_min, util_max;
};

static bool realtime_turn_get(struct turn *t)
{
	*t = (struct turn){ .size = sizeof(*t) };
	return syscall(SYS_sched_getattr, 0, t, sizeof(*t), 0) == 0 && t->policy == SCHED_OTHER;
}

static void realtime_turn_set(struct turn *t, uint64_t runtime_ns)
{
	t->flags = 0;
	t->runtime_ns = runtime_ns;
	syscall(SYS_sched_setattr, 0, t, 0);
}

/* Requests short time slices. A kernel without this feature leaves them unchanged. */
static void realtime_shorten_turns(struct realtime *t)
{
	enum { TURN_NS = 100 * 1000 };
	struct turn now;

	if (!realtime_turn_get(&now) || now.runtime_ns <= TURN_NS)
		return;
	t->turn_before_ns = now.runtime_ns;
	realtime_turn_set(&now, TURN_NS);
}

int realtime_begin(struct realtime *t)
{
	const struct sched_param wanted = { .sched_priority = t->priority };
	struct sched_param before = { 0 };
	struct rlimit limit = { 0 };

	if (!t->priority) {
		realtime_shorten_turns(t);
		return 0;
	}
	t->policy_before = sched_getscheduler(0);
	sched_getparam(0, &before);
	t->priority_before = before.sched_priority;
	if (sched_setscheduler(0, SCHED_FIFO, &wanted) == 0) {
		t->is_set = true;
		return 0;
	}
	if (errno != EPERM)
		return err_errno(errno, "-r %d: cannot set this priority", t->priority);
	getrlimit(RLIMIT_RTPRIO, &limit);
	return err_set(
		-EPERM,
		"-r %d: no right to a real-time priority: ulimit -r allows %llu; raise it to "
		"%d for this user, or give the program CAP_SYS_NICE",
		t->priority, (unsigned long long)limit.rlim_cur, t->priority);
}

void realtime_end(struct realtime *t)
{
	const struct sched_param before = { .sched_priority = t->priority_before };
	struct turn now;

	if (t->turn_before_ns && realtime_turn_get(&now))
		realtime_turn_set(&now, t->turn_before_ns);
	t->turn_before_ns = 0;

	if (t->is_set)
		sched_setscheduler(0, t->policy_before, &before);
	t->is_set = false;
}
