/* SPDX-License-Identifier: MIT */
/* Names of events that a recording does not name, built from the attr by perf's rule. */

#include <stdio.h>

#include "formats/perfdata/attr.h"

static const char *const hardware[] = { "cycles",
					"instructions",
					"cache-references",
					"cache-misses",
					"branches",
					"branch-misses",
					"bus-cycles",
					"stalled-cycles-frontend",
					"stalled-cycles-backend",
					"ref-cycles" };
static const char *const software[] = {
	"cpu-clock",    "task-clock",   "page-faults",      "context-switches", "cpu-migrations",
	"minor-faults", "major-faults", "alignment-faults", "emulation-faults", "dummy"
};
static const char *const caches[] = { "L1-dcache", "L1-icache", "LLC", "dTLB",
				      "iTLB",      "branch",    "node" };
static const char *const cache_accesses[] = { "loads", "stores", "prefetches" };
static const char *const cache_misses[] = { "load-misses", "store-misses", "prefetch-misses" };

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

/* ":u", ":HG", ":ppp" ...: the exclude_ bits and precise_ip as modifiers. */
static void attr_name_modifiers(const struct perf_event_attr *a, char *ret)
{
	char *p = ret + 1;
	bool guest_default = false;

	if (a->exclude_kernel || a->exclude_user || a->exclude_hv) {
		guest_default = true;
		if (!a->exclude_kernel)
			*p++ = 'k';
		if (!a->exclude_user)
			*p++ = 'u';
		if (!a->exclude_hv)
			*p++ = 'h';
	}
	if (a->precise_ip) {
		guest_default = true;
		for (unsigned i = 0; i < a->precise_ip; i++)
			*p++ = 'p';
	}
	if (a->exclude_host || !!a->exclude_guest == guest_default) {
		if (!a->exclude_host)
			*p++ = 'H';
		if (!a->exclude_guest)
			*p++ = 'G';
	}
	*p = '\0';
	*ret = p > ret + 1 ? ':' : '\0';
}

/* The accesses that a cache has: one bit per entry of cache_accesses. */
static const uint8_t cache_has[COUNT(caches)] = { 7, 5, 7, 7, 1, 1, 7 };

static void name_of_cache(uint64_t config, char *ret, size_t size)
{
	unsigned cache = config & 0xff, op = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (cache >= COUNT(caches))
		snprintf(ret, size, "unknown-ext-hardware-cache-type");
	else if (op >= COUNT(cache_accesses))
		snprintf(ret, size, "unknown-ext-hardware-cache-op");
	else if (result > 1)
		snprintf(ret, size, "unknown-ext-hardware-cache-result");
	else if (!(cache_has[cache] >> op & 1))
		snprintf(ret, size, "invalid-cache");
	else
		snprintf(ret, size, "%s-%s", caches[cache],
			 (result ? cache_misses : cache_accesses)[op]);
}

void perfdata_attr_name(const struct perf_event_attr *a, char *ret, size_t size)
{
	char base[64] = "", suffix[16] = "";

	switch (a->type) {
	case PERF_TYPE_HARDWARE: {
		uint64_t config = a->config & 0xffffffff;

		snprintf(base, sizeof(base), "%s",
			 config < COUNT(hardware) ? hardware[config] : "unknown-hardware");
		attr_name_modifiers(a, suffix);
		break;
	}
	case PERF_TYPE_SOFTWARE:
		snprintf(base, sizeof(base), "%s",
			 a->config < COUNT(software) ? software[a->config] : "unknown-software");
		attr_name_modifiers(a, suffix);
		break;
	case PERF_TYPE_HW_CACHE:
		name_of_cache(a->config & 0xffffffff, base, sizeof(base));
		attr_name_modifiers(a, suffix);
		break;
	case PERF_TYPE_TRACEPOINT:
		break;
	case PERF_TYPE_RAW:
		snprintf(base, sizeof(base), "raw 0x%llx", (unsigned long long)a->config);
		attr_name_modifiers(a, suffix);
		break;
	case PERF_TYPE_BREAKPOINT:
		snprintf(base, sizeof(base), "mem:0x%llx:%s%s%s", (unsigned long long)a->bp_addr,
			 a->bp_type & 1 ? "r" : "", a->bp_type & 2 ? "w" : "",
			 a->bp_type & 4 ? "x" : "");
		attr_name_modifiers(a, suffix);
		break;
	default:
		snprintf(base, sizeof(base), "unknown attr type: %d", (int)a->type);
	}
	snprintf(ret, size, "%s%s", base, suffix);
}
