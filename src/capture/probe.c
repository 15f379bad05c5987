/* SPDX-License-Identifier: MIT */
#include "capture/probe.h"

#include <errno.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

int capture_open_errno(const struct perf_event_attr *attr, int32_t tid, int cpu)
{
	const int fd = (int)syscall(SYS_perf_event_open, attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

int capture_probe(const struct perf_event_attr *attr)
{
	struct perf_event_attr a = *attr;

	a.size = sizeof(a);
	a.disabled = a.exclude_kernel = a.exclude_hv = 1;
	return capture_open_errno(&a, 0, -1);
}

/* ---- the refused attribute ------------------------------------------------------------------- */

/* Attributes that options set, in the order in which they are blamed. */
static const struct {
	uint64_t sample_type;
	const char *words;
} samples[] = {
	{ PERF_SAMPLE_BRANCH_STACK,
	  "branches, which only a processor with branch records keeps, for its own events "
	  "(-b, -j, --call-graph lbr)" },
	{ PERF_SAMPLE_REGS_INTR, "these registers at the interrupt (-I)" },
	{ PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
	  "registers or stacks of user space (--user-regs, --call-graph dwarf)" },
	{ PERF_SAMPLE_PHYS_ADDR, "physical addresses (--phys-data)" },
	{ PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, "weights (-W)" },
	{ PERF_SAMPLE_TRANSACTION, "flags of transactions (--transaction)" },
	{ PERF_SAMPLE_DATA_PAGE_SIZE, "sizes of pages of data (--data-page-size)" },
	{ PERF_SAMPLE_CODE_PAGE_SIZE, "sizes of pages of code (--code-page-size)" },
	{ PERF_SAMPLE_CALLCHAIN, "call chains (-g)" },
};

const char *capture_culprit(const struct perf_event_attr *refused, int32_t tid, int cpu)
{
	struct perf_event_attr a;

	for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
		if (!(refused->sample_type & samples[i].sample_type))
			continue;
		a = *refused;
		a.sample_type &= ~samples[i].sample_type;
		if (samples[i].sample_type & PERF_SAMPLE_BRANCH_STACK)
			a.branch_sample_type = 0;
		if (samples[i].sample_type & PERF_SAMPLE_REGS_INTR)
			a.sample_regs_intr = 0;
		if (samples[i].sample_type & PERF_SAMPLE_REGS_USER)
			a.sample_regs_user = a.sample_stack_user = 0;
		if (samples[i].sample_type & PERF_SAMPLE_CALLCHAIN)
			a.sample_max_stack = 0;
		if (capture_open_errno(&a, tid, cpu) == 0)
			return samples[i].words;
	}
	a = *refused;
	a.use_clockid = 0;
	a.clockid = 0;
	if (refused->use_clockid && capture_open_errno(&a, tid, cpu) == 0)
		return "times of this clock (-k), only with monotonic or monotonic_raw";
	a = *refused;
	a.namespaces = 0;
	if (refused->namespaces && capture_open_errno(&a, tid, cpu) == 0)
		return "namespaces (--namespaces)";
	a = *refused;
	a.cgroup = 0;
	a.sample_type &= ~(uint64_t)PERF_SAMPLE_CGROUP;
	if (refused->sample_type != a.sample_type && capture_open_errno(&a, tid, cpu) == 0)
		return "control groups (--all-cgroups)";
	a = *refused;
	a.context_switch = 0;
	if (refused->context_switch && capture_open_errno(&a, tid, cpu) == 0)
		return "context switches (--switch-events)";
	return NULL;
}
