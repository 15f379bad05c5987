/* SPDX-License-Identifier: MIT */
#include "stat/reading.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "base/sysfile.h"

enum { NS_PER_MS = 1000000 };

bool stat_event_is_clock(const struct stat_event *e)
{
	return e->tool == TOOL_NONE && e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_CPU_CLOCK || e->config == PERF_COUNT_SW_TASK_CLOCK);
}

uint32_t stat_levels(const struct perf_event_attr *a)
{
	return a->exclude_user | a->exclude_kernel << 1 | a->exclude_hv << 2 | a->exclude_host << 3;
}

uint64_t stat_tool_ns(enum capture_tool tool, const struct stat_reading *reading)
{
	return tool == TOOL_DURATION_TIME ? reading->run_ns
	       : tool == TOOL_USER_TIME   ? reading->user_ns
					  : reading->system_ns;
}

void stat_event_describe(struct stat_event *e)
{
	e->unit = e->unit ? e->unit : "";
	e->scale = e->scale != 0 ? e->scale : 1;
	if (e->tool != TOOL_NONE) {
		e->unit = "ns";
	} else if (stat_event_is_clock(e)) {
		e->unit = "msec";
		e->scale = 1.0 / NS_PER_MS;
	}
}

int stat_subject_add_task(struct stat_subject *s, int32_t pid, int32_t tid)
{
	struct stat_task t = { .pid = pid, .tid = tid };

	if (tid >= 0 && !sysfile_line(t.comm, sizeof(t.comm), "/proc/%d/comm", tid))
		snprintf(t.comm, sizeof(t.comm), "<unknown>");
	return vec_push(&s->tasks, t) < 0 ? err_nomem() : 0;
}

void stat_subject_done(struct stat_subject *s)
{
	vec_done(&s->events);
	vec_done(&s->cpus);
	vec_done(&s->tasks);
	vec_done(&s->places);
	arena_done(&s->arena);
}
