/* SPDX-License-Identifier: MIT */
/*
 * The mode in which code ran (cpumode), and its encoding in a call chain. An entry from
 * CALLCHAIN_MARKERS up is a marker, not an address: it gives the mode of the frames after it.
 * Frames before the first marker are in user space.
 *
 *	| -128 kernel | ip | ip | ... | -512 user | ip | ... | -640 user, unwound later | cookie |
 */
#ifndef SONDE_MODEL_CALLCHAIN_H
#define SONDE_MODEL_CALLCHAIN_H

#include <linux/perf_event.h>
#include <stdint.h>

/* The numbers are those of PERF_RECORD_MISC_* and of sonde_event.cpumode. */
enum cpumode {
	CPUMODE_UNKNOWN,
	CPUMODE_KERNEL,
	CPUMODE_USER,
	CPUMODE_HYPERVISOR,
	CPUMODE_GUEST_KERNEL,
	CPUMODE_GUEST_USER
};

#define CPUMODE_MASK 7u /* the bits of cpumode in a record's misc */

#define CALLCHAIN_MARKERS ((uint64_t)PERF_CONTEXT_MAX)
/* Written by kernels after 6.17. The next entry is a cookie. */
#define CALLCHAIN_USER_DEFERRED ((uint64_t)-640)

static inline enum cpumode callchain_cpumode(uint64_t marker)
{
	switch (marker) {
	case (uint64_t)PERF_CONTEXT_HV:
		return CPUMODE_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return CPUMODE_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
	case CALLCHAIN_USER_DEFERRED:
		return CPUMODE_USER;
	case (uint64_t)PERF_CONTEXT_GUEST_KERNEL:
		return CPUMODE_GUEST_KERNEL;
	case (uint64_t)PERF_CONTEXT_GUEST:
	case (uint64_t)PERF_CONTEXT_GUEST_USER:
		return CPUMODE_GUEST_USER;
	}
	return CPUMODE_UNKNOWN;
}

/* True if perf knows the marker. It treats a chain with any other one as damaged. */
static inline int callchain_perf_knows(uint64_t marker)
{
	return marker == (uint64_t)PERF_CONTEXT_HV || marker == (uint64_t)PERF_CONTEXT_KERNEL ||
	       marker == (uint64_t)PERF_CONTEXT_USER;
}

#endif
