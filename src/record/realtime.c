/* SPDX-License-Identifier: MIT */
#include "record/realtime.h"

#include <sched.h>
#include <stdint.h>
#include <sys/resource.h>

#include "base/err.h"
#include "record/values.h"

int realtime_parse(struct realtime *ret, const char *text)
{
	uint64_t priority = 0;

	if (text)
		TRY(record_value_number("-r", text, 0, (uint64_t)sched_get_priority_max(SCHED_FIFO),
					&priority));
	*ret = (struct realtime){ .priority = (int)priority };
	return 0;
}

int realtime_begin(struct realtime *t)
{
	const struct sched_param wanted = { .sched_priority = t->priority };
	struct sched_param before = { 0 };
	struct rlimit limit = { 0 };

	if (!t->priority)
		return 0;
	t->policy_before = sched_getscheduler(0);
	sched_getparam(0, &before);
	t->priority_before = before.sched_priority;
	if (sched_setscheduler(0, SCHED_FIFO, &wanted) == 0) {
		t->is_set = true;
		return 0;
	}
	if (errno != EPERM)
		return err_errno(errno, "-r %d: cannot take this priority", t->priority);
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

	if (t->is_set)
		sched_setscheduler(0, t->policy_before, &before);
	t->is_set = false;
}
