/* SPDX-License-Identifier: MIT */
/*
 * Names that some kernels leave unresolved in their texts. perf knows the names of softirq and
 * hrtimer; the other names stand for numbers of the kernel's ABI, which never change.
 */
#include "model/printfmt/printfmt_internal.h"

#include <string.h>

static const struct {
	const char *name;
	uint64_t value;
	bool perf_too;
} names[] = {
	{ "HI_SOFTIRQ", 0, true },
	{ "TIMER_SOFTIRQ", 1, true },
	{ "NET_TX_SOFTIRQ", 2, true },
	{ "NET_RX_SOFTIRQ", 3, true },
	{ "BLOCK_SOFTIRQ", 4, true },
	{ "IRQ_POLL_SOFTIRQ", 5, true },
	{ "TASKLET_SOFTIRQ", 6, true },
	{ "SCHED_SOFTIRQ", 7, true },
	{ "HRTIMER_SOFTIRQ", 8, true },
	{ "RCU_SOFTIRQ", 9, true },
	{ "HRTIMER_NORESTART", 0, true },
	{ "HRTIMER_RESTART", 1, true },
	{ "true", 1, false },
	{ "false", 0, false },
	{ "NULL", 0, false },
	{ "IOPRIO_CLASS_NONE", 0, false },
	{ "IOPRIO_CLASS_RT", 1, false },
	{ "IOPRIO_CLASS_BE", 2, false },
	{ "IOPRIO_CLASS_IDLE", 3, false },
	{ "IOPRIO_CLASS_INVALID", 7, false },
	{ "DUMP_PREFIX_NONE", 0, false },
	{ "DUMP_PREFIX_ADDRESS", 1, false },
	{ "DUMP_PREFIX_OFFSET", 2, false },
};

bool pf_known_name(const char *name, bool perf_only, uint64_t *ret)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if ((names[i].perf_too || !perf_only) && !strcmp(names[i].name, name)) {
			*ret = names[i].value;
			return true;
		}
	}
	return false;
}
