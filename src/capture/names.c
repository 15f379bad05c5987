/* SPDX-License-Identifier: MIT */
#include "capture/names.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An alias follows the name it belongs to, and has no description of its own. */
/* clang-format off */
static const struct {
	const char *name;
	uint32_t type;
	uint64_t config;
	const char *description;
} numbered[] = {
	{ "cpu-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES,
	  "Cycles of a cpu that is not halted; they are shorter at a higher frequency." },
	{ "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES },
	{ "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS,
	  "Instructions that the processor completed (retired)." },
	{ "cache-references", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES,
	  "Accesses to the last-level cache." },
	{ "cache-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES,
	  "Accesses that missed in the last-level cache." },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	  "Branch instructions that the processor completed." },
	{ "branches", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS },
	{ "branch-misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES,
	  "Branches that the processor predicted wrongly." },
	{ "bus-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES,
	  "Cycles of the bus, at a constant frequency." },
	{ "stalled-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND,
	  "Cycles in which the processor could not fetch or decode instructions." },
	{ "idle-cycles-frontend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND },
	{ "stalled-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND,
	  "Cycles in which instructions waited for data or for an execution unit." },
	{ "idle-cycles-backend", PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND },
	{ "ref-cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES,
	  "Cycles of a constant frequency while the cpu is not halted." },
	{ "cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK,
	  "Nanoseconds of the cpu's clock; a timer that takes samples without a counter." },
	{ "task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK,
	  "Nanoseconds during which the task ran." },
	{ "page-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS,
	  "Page faults, with and without a read from a device." },
	{ "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS },
	{ "context-switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES,
	  "Switches of a cpu from one task to another." },
	{ "cs", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES },
	{ "cpu-migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS,
	  "Moves of a task from one cpu to another." },
	{ "migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS },
	{ "minor-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN,
	  "Page faults that needed no read from a device." },
	{ "major-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ,
	  "Page faults that needed a read from a device." },
	{ "alignment-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS,
	  "Unaligned accesses that the kernel carried out; x86 processors have none." },
	{ "emulation-faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS,
	  "Instructions that the kernel emulated." },
	{ "dummy", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY,
	  "Counts nothing; carries the records of names, forks and mappings." },
	{ "bpf-output", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_BPF_OUTPUT,
	  "Data that BPF programs write with bpf_perf_event_output()." },
	{ "cgroup-switches", PERF_TYPE_SOFTWARE, 11 /* PERF_COUNT_SW_CGROUP_SWITCHES, Linux 5.13 */,
	  "Switches of a cpu to a task of another control group." },
};
/* clang-format on */

/* Caches, operations and results, each with its aliases. The row is the kernel's number. */
static const char *const caches[][5] = {
	{ "L1-dcache", "l1-d", "l1d", "L1-data" },
	{ "L1-icache", "l1-i", "l1i", "L1-instruction" },
	{ "LLC", "L2" },
	{ "dTLB", "d-tlb", "Data-TLB" },
	{ "iTLB", "i-tlb", "Instruction-TLB" },
	{ "branch", "branches", "bpu", "btb", "bpc" },
	{ "node" },
};
static const char *const ops[][4] = {
	{ "load", "loads", "read" },
	{ "store", "stores", "write" },
	{ "prefetch", "prefetches", "speculative-read", "speculative-load" },
};
static const char *const results[][4] = {
	{ "refs", "Reference", "ops", "access" },
	{ "misses", "miss" },
};
/* The same rows in words, for descriptions. */
static const char *const cache_words[] = {
	"the first-level data cache",
	"the first-level instruction cache",
	"the last-level cache",
	"the TLB for data",
	"the TLB for instructions",
	"the branch predictor",
	"the memory of the cpu's own node",
};
static const char *const op_words[][2] = {
	{ "Loads", "from" },
	{ "Stores", "to" },
	{ "Prefetches", "into" },
};
/* Bit n: that cache has operation n. */
static const uint8_t cache_ops[] = { 7, 5, 7, 7, 1, 1, 7 };

/*
 * The row of `table` with the longest name that begins at `s` and ends there or before '-'; -1 if
 * none.
 */
static int names_match_row(const char *const *table, size_t rows, size_t columns, const char *s,
			   size_t *ret_len)
{
	int found = -1;

	*ret_len = 0;
	for (size_t i = 0; i < rows * columns; i++) {
		size_t len = table[i] ? strlen(table[i]) : 0;

		if (len > *ret_len && !strncmp(s, table[i], len) && (s[len] == '-' || !s[len])) {
			found = (int)(i / columns);
			*ret_len = len;
		}
	}
	return found;
}

#define MATCH_ROW(table, s, ret_len)                                      \
	names_match_row(&(table)[0][0], sizeof(table) / sizeof(*(table)), \
			sizeof(*(table)) / sizeof(**(table)), s, ret_len)

/* CACHE[-OP-or-RESULT[-OP-or-RESULT]] */
static int names_cache_lookup(const char *name, uint64_t *ret_config)
{
	int cache, op = -1, result = -1;
	size_t len;

	cache = MATCH_ROW(caches, name, &len);
	if (cache < 0)
		return -ENOENT;
	name += len;
	while (*name == '-') {
		int row = MATCH_ROW(ops, name + 1, &len);

		if (row >= 0 && op < 0) {
			op = row;
		} else {
			row = MATCH_ROW(results, name + 1, &len);
			if (row < 0 || result >= 0)
				return -ENOENT;
			result = row;
		}
		name += 1 + len;
	}
	op = op < 0 ? 0 : op;
	if (!(cache_ops[cache] >> op & 1))
		return -ENOENT;
	*ret_config =
		(uint64_t)cache | (uint64_t)op << 8 | (uint64_t)(result < 0 ? 0 : result) << 16;
	return 0;
}

static bool names_is_raw(const char *name)
{
	size_t digits = strspn(name + (*name != '\0'), "0123456789abcdefABCDEF");

	return *name == 'r' && digits > 0 && digits <= 16 && !name[1 + digits];
}

int capture_name_lookup(const char *name, uint32_t *ret_type, uint64_t *ret_config)
{
	for (size_t i = 0; i < sizeof(numbered) / sizeof(*numbered); i++)
		if (!strcmp(numbered[i].name, name)) {
			*ret_type = numbered[i].type;
			*ret_config = numbered[i].config;
			return 0;
		}
	if (names_is_raw(name)) {
		*ret_type = PERF_TYPE_RAW;
		*ret_config = strtoull(name + 1, NULL, 16);
		return 0;
	}
	if (names_cache_lookup(name, ret_config) == 0) {
		*ret_type = PERF_TYPE_HW_CACHE;
		return 0;
	}
	return -ENOENT;
}

void capture_names_near(struct near *near)
{
	for (size_t i = 0; i < sizeof(numbered) / sizeof(*numbered); i++)
		near_offer(near, numbered[i].name);
}

/* L1-dcache-loads, L1-dcache-load-misses */
static int names_each_of_cache(size_t cache,
			       int (*visit)(void *ctx, const struct capture_name *name), void *ctx)
{
	char name[64], text[128];
	struct capture_name n = { .type = PERF_TYPE_HW_CACHE, .name = name, .description = text };
	int r = 0;

	for (size_t op = 0; op < sizeof(ops) / sizeof(*ops) && r >= 0; op++) {
		if (!(cache_ops[cache] >> op & 1))
			continue;
		n.config = cache | op << 8;
		snprintf(name, sizeof(name), "%s-%s", caches[cache][0], ops[op][1]);
		snprintf(text, sizeof(text), "%s %s %s.", op_words[op][0], op_words[op][1],
			 cache_words[cache]);
		r = visit(ctx, &n);
		n.config |= 1 << 16;
		snprintf(name, sizeof(name), "%s-%s-%s", caches[cache][0], ops[op][0],
			 results[1][0]);
		snprintf(text, sizeof(text), "%s that missed in %s.", op_words[op][0],
			 cache_words[cache]);
		if (r >= 0)
			r = visit(ctx, &n);
	}
	return r;
}

int capture_names_each(int (*visit)(void *ctx, const struct capture_name *name), void *ctx)
{
	const size_t n = sizeof(numbered) / sizeof(*numbered);
	int r = 0;

	for (size_t i = 0; i < n && r >= 0; i++) {
		const bool has_alias = i + 1 < n && numbered[i + 1].type == numbered[i].type &&
				       numbered[i + 1].config == numbered[i].config;
		const struct capture_name name = {
			.type = numbered[i].type,
			.config = numbered[i].config,
			.name = numbered[i].name,
			.alias = has_alias ? numbered[i + 1].name : NULL,
			.description = numbered[i].description,
		};

		r = visit(ctx, &name);
		i += has_alias;
	}
	for (size_t i = 0; i < sizeof(caches) / sizeof(*caches) && r >= 0; i++)
		r = names_each_of_cache(i, visit, ctx);
	return r < 0 ? r : 0;
}
