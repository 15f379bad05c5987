/* SPDX-License-Identifier: MIT */
/*
 * metric: lines below a sample with ratios of the counters in its group ("2.00 insn per cycle"). A
 * group is sampled in turns. After as many samples as the group has members, the ratios of their
 * counts are printed.
 */
#ifndef SONDE_SINKS_PERF_METRIC_H
#define SONDE_SINKS_PERF_METRIC_H

#include "base/outbuf.h"
#include "base/vec.h"
#include "compat/rules.h"
#include "model/schema.h"

struct recording;

/* The base that counts are related to. */
enum metric_base {
	METRIC_CYCLES,
	METRIC_FRONTEND,
	METRIC_BACKEND,
	METRIC_BRANCHES,
	METRIC_CACHE_REFS,
	METRIC_L1D, /* the caches in the order of PERF_COUNT_HW_CACHE_* */
	METRIC_L1I,
	METRIC_LL,
	METRIC_DTLB,
	METRIC_ITLB,
	METRIC_NSECS,
	NR_METRIC_BASES
};

struct metric_group {
	uint32_t leader, nr_members; /* members have the schema ids from the leader on */
	uint32_t seen;               /* samples seen in this turn */
};

struct metric_member {
	const struct sonde_schema *schema;
	struct metric_group *group; /* NULL if it is in no group */
	double value;               /* value of its last sample */
};

/* Counts of one cpu in the current turn. */
struct metric_counts {
	int32_t cpu;
	struct {
		double sum;
		uint32_t n;
	} of[NR_METRIC_BASES];
};

struct perf_metric {
	const struct rules *rules;
	VEC(struct metric_group) groups;
	VEC(struct metric_member) members; /* indexed by schema id */
	VEC(struct metric_counts) counts;
};

/* A recording without groups, or with a damaged list of them, has no metrics. */
int perf_metric_init(struct perf_metric *m, const struct rules *rules, const struct recording *rec);
void perf_metric_done(struct perf_metric *m);
int perf_metric_meet(struct perf_metric *m, const struct sonde_schema *sc);

/* Adds a sample's count. True if its group is now complete: print the lines of its members. */
bool perf_metric_count(struct perf_metric *m, uint32_t schema, int32_t cpu, uint64_t period);
enum { METRIC_HEAD_TWICE = 2 };
/*
 * Prints the i-th line of the complete group of a schema. Returns 1 and "   2.00  insn per cycle"
 * in out; 0 if there is no line for this i (there may be further ones); -1 after the last.
 * METRIC_HEAD_TWICE is like 1, but perf writes the part in front of the line twice.
 */
int perf_metric_put(struct perf_metric *m, uint32_t schema, int32_t cpu, unsigned i,
		    struct outbuf *out);

#endif
