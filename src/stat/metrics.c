/* SPDX-License-Identifier: MIT */
#include "stat/metrics.h"

#include <stddef.h>
#include <string.h>

#include "base/err.h"

enum { NS_PER_S = 1000000000 };

/* The counts that figures are derived from. */
enum basis {
	BASIS_NONE,
	BASIS_CYCLES,
	BASIS_INSTRUCTIONS,
	BASIS_STALLED_FRONTEND,
	BASIS_STALLED_BACKEND,
	BASIS_BRANCHES,
	BASIS_CACHE_REFERENCES,
	BASIS_L1D,
	BASIS_L1I,
	BASIS_LLC,
	BASIS_DTLB,
	BASIS_ITLB,
	BASIS_TX_CYCLES,
	BASIS_APERF,
	BASIS_SMI,
	BASIS_TOTAL_SLOTS,
	BASIS_RETIRED,
	BASIS_RECOVERY,
	BASIS_BUBBLES,
	BASIS_ISSUED,
	BASIS_RETIRING,
	BASIS_BAD_SPECULATION,
	BASIS_FRONTEND,
	BASIS_BACKEND,
	NR_BASES
};

/*
 * Events that the kernel publishes in sysfs for some processors. Their numbers differ by processor,
 * so they are known by their names: "topdown-retiring", "cpu/topdown-retiring/".
 */
static const struct {
	const char *name;
	enum basis basis;
} named_sources[] = {
	{ "cycles-t", BASIS_TX_CYCLES },
	{ "aperf", BASIS_APERF },
	{ "smi", BASIS_SMI },
	{ "topdown-total-slots", BASIS_TOTAL_SLOTS },
	{ "topdown-slots-retired", BASIS_RETIRED },
	{ "topdown-recovery-bubbles", BASIS_RECOVERY },
	{ "topdown-fetch-bubbles", BASIS_BUBBLES },
	{ "topdown-slots-issued", BASIS_ISSUED },
	{ "topdown-retiring", BASIS_RETIRING },
	{ "topdown-bad-spec", BASIS_BAD_SPECULATION },
	{ "topdown-fe-bound", BASIS_FRONTEND },
	{ "topdown-be-bound", BASIS_BACKEND },
};

/* The number of a cache event: its cache, a read, all accesses or misses. */
#define ACCESSES(cache) ((uint64_t)PERF_COUNT_HW_CACHE_##cache)
#define MISSES(cache)   (ACCESSES(cache) | (uint64_t)PERF_COUNT_HW_CACHE_RESULT_MISS << 16)

/* An event that figures of other events need. */
static const struct {
	uint32_t type;
	uint64_t config;
	enum basis basis;
} sources[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, BASIS_CYCLES },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, BASIS_INSTRUCTIONS },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, BASIS_STALLED_FRONTEND },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, BASIS_STALLED_BACKEND },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, BASIS_BRANCHES },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, BASIS_CACHE_REFERENCES },
	{ PERF_TYPE_HW_CACHE, ACCESSES(L1D), BASIS_L1D },
	{ PERF_TYPE_HW_CACHE, ACCESSES(L1I), BASIS_L1I },
	{ PERF_TYPE_HW_CACHE, ACCESSES(LL), BASIS_LLC },
	{ PERF_TYPE_HW_CACHE, ACCESSES(DTLB), BASIS_DTLB },
	{ PERF_TYPE_HW_CACHE, ACCESSES(ITLB), BASIS_ITLB },
};

/* An event shown as a share of another one. */
static const struct share {
	uint32_t type;
	uint64_t config;
	enum basis of;
	enum sonde_stat_metric_kind kind;
	const char *unit;
} shares[] = {
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, BASIS_BRANCHES, SONDE_STAT_PERCENT,
	  "of all branches" },
	{ PERF_TYPE_HW_CACHE, MISSES(L1D), BASIS_L1D, SONDE_STAT_PERCENT,
	  "of all L1-dcache accesses" },
	{ PERF_TYPE_HW_CACHE, MISSES(L1I), BASIS_L1I, SONDE_STAT_PERCENT,
	  "of all L1-icache accesses" },
	{ PERF_TYPE_HW_CACHE, MISSES(LL), BASIS_LLC, SONDE_STAT_PERCENT,
	  "of all LL-cache accesses" },
	{ PERF_TYPE_HW_CACHE, MISSES(DTLB), BASIS_DTLB, SONDE_STAT_PERCENT,
	  "of all dTLB cache accesses" },
	{ PERF_TYPE_HW_CACHE, MISSES(ITLB), BASIS_ITLB, SONDE_STAT_PERCENT,
	  "of all iTLB cache accesses" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, BASIS_CACHE_REFERENCES,
	  SONDE_STAT_PERCENT_FINE, "of all cache refs" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, BASIS_CYCLES,
	  SONDE_STAT_PERCENT, "frontend cycles idle" },
	{ PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, BASIS_CYCLES,
	  SONDE_STAT_PERCENT, "backend cycles idle" },
};

static bool metrics_is_clock(const struct stat_event *e)
{
	return e->tool == TOOL_NONE && e->type == PERF_TYPE_SOFTWARE &&
	       (e->config == PERF_COUNT_SW_CPU_CLOCK || e->config == PERF_COUNT_SW_TASK_CLOCK);
}

static bool metrics_is_hardware(const struct stat_event *e, uint64_t config)
{
	return e->tool == TOOL_NONE && e->type == PERF_TYPE_HARDWARE && e->config == config;
}

/* True for an event of a source of sysfs with this name. */
static bool metrics_is_named(const struct stat_event *e, const char *name)
{
	const size_t len = strlen(name);
	const char *slash = strchr(e->name, '/'), *at = slash ? slash + 1 : e->name;

	if (e->tool != TOOL_NONE || e->type == PERF_TYPE_TRACEPOINT ||
	    e->type == PERF_TYPE_HARDWARE || e->type == PERF_TYPE_SOFTWARE)
		return false;
	return !strncmp(at, name, len) &&
	       (slash ? at[len] == '/' || at[len] == ',' : !at[len] || at[len] == ':');
}

static bool metrics_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Counts of the same place, in the same control group. */
static bool metrics_same_place(const struct stat_subject *s, const struct sonde_stat_row *a,
			       const struct sonde_stat_row *b)
{
	return a->cpu == b->cpu && a->core == b->core && a->die == b->die &&
	       a->socket == b->socket && a->node == b->node && a->tid == b->tid &&
	       metrics_same_text(s->events.v[a->event].cgroup, s->events.v[b->event].cgroup);
}

static double metrics_mean(double sum, int n)
{
	return n ? sum / n : 0;
}

/* Rows that figures of other rows need: few, however many tracepoints are counted. */
struct bases {
	const struct stat_subject *subject;
	VEC(const struct sonde_stat_row *) list; /* borrowed */
};

static enum basis metrics_basis_of(const struct stat_event *e)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++)
		if (e->tool == TOOL_NONE && e->type == sources[i].type &&
		    e->config == sources[i].config)
			return sources[i].basis;
	for (size_t i = 0; i < sizeof(named_sources) / sizeof(*named_sources); i++)
		if (metrics_is_named(e, named_sources[i].name))
			return named_sources[i].basis;
	return BASIS_NONE;
}

static int metrics_find_bases(struct bases *b, const struct stat_rows *r)
{
	for (size_t i = 0; i < r->list.n; i++) {
		const struct sonde_stat_row *row = &r->list.v[i];
		const struct stat_event *e = &b->subject->events.v[row->event];

		if (row->state == SONDE_STAT_COUNTED &&
		    (metrics_is_clock(e) || metrics_basis_of(e) != BASIS_NONE) &&
		    vec_push(&b->list, row) < 0)
			return err_nomem();
	}
	return 0;
}

/* The nanoseconds that the clock events counted there: their mean if there are several. */
static double metrics_clock_ns(const struct bases *b, const struct sonde_stat_row *at)
{
	double sum = 0;
	int n = 0;

	for (size_t i = 0; i < b->list.n; i++) {
		const struct sonde_stat_row *row = b->list.v[i];

		if (!metrics_is_clock(&b->subject->events.v[row->event]) ||
		    !metrics_same_place(b->subject, row, at))
			continue;
		sum += row->value;
		n++;
	}
	return metrics_mean(sum, n);
}

/* 0 if it was not counted there, in the same levels of the processor. */
static double metrics_basis(const struct bases *b, const struct sonde_stat_row *at,
			    enum basis basis)
{
	const struct stat_event *events = b->subject->events.v;
	double sum = 0;
	int n = 0;

	for (size_t i = 0; i < b->list.n; i++) {
		const struct sonde_stat_row *row = b->list.v[i];
		const struct stat_event *e = &events[row->event];

		if (metrics_basis_of(e) != basis || e->levels != events[at->event].levels ||
		    !metrics_same_place(b->subject, row, at))
			continue;
		sum += row->value;
		n++;
	}
	return metrics_mean(sum, n);
}

/* ---- figures --------------------------------------------------------------------------------- */

static void metrics_add(struct sonde_stat_row *row, enum sonde_stat_metric_kind kind,
			const char *unit, bool has_value, double value)
{
	row->metrics[row->nr_metrics++] = (struct sonde_stat_metric){
		.value = has_value ? value : 0,
		.unit = unit,
		.kind = kind,
		.has_value = has_value,
	};
}

static void metrics_add_rate(struct sonde_stat_row *row, double clock_ns)
{
	static const char *const units[] = { "/sec", "K/sec", "M/sec", "G/sec" };
	double rate = NS_PER_S * row->value / clock_ns;
	size_t unit = 0;

	while (rate > 1000 && unit + 1 < sizeof(units) / sizeof(*units)) {
		rate /= 1000;
		unit++;
	}
	metrics_add(row, SONDE_STAT_NUMBER, units[unit], true, rate);
}

static void metrics_add_instructions(const struct bases *b, struct sonde_stat_row *row)
{
	const double cycles = metrics_basis(b, row, BASIS_CYCLES);
	const double front = metrics_basis(b, row, BASIS_STALLED_FRONTEND);
	const double back = metrics_basis(b, row, BASIS_STALLED_BACKEND);
	const double stalled = front > back ? front : back;

	metrics_add(row, SONDE_STAT_RATIO, "insn per cycle", cycles > 0, row->value / cycles);
	if (stalled > 0 && row->value > 0)
		metrics_add(row, SONDE_STAT_RATIO, "stalled cycles per insn", true,
			    stalled / row->value);
}

static const struct share *metrics_share_of(const struct stat_event *e)
{
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++)
		if (e->type == shares[i].type && e->config == shares[i].config)
			return &shares[i];
	return NULL;
}

/* ---- where the processor's slots went ------------------------------------------------------- */

/* A share that is slightly below 0 because its counts were read one after the other is 0. */
static double metrics_not_below_zero(double share)
{
	return share < 0 && share >= -0.02 ? 0 : share;
}

/* The figures of processors that count total slots. */
static void metrics_add_slots(const struct bases *b, struct sonde_stat_row *row, enum basis basis)
{
	const double total = metrics_basis(b, row, BASIS_TOTAL_SLOTS);
	const double retired = metrics_basis(b, row, BASIS_RETIRED);
	const double recovery = metrics_basis(b, row, BASIS_RECOVERY);
	const double front = metrics_basis(b, row, BASIS_BUBBLES) / total;
	const double wasted = metrics_basis(b, row, BASIS_ISSUED) - retired + recovery;
	const double bad = metrics_not_below_zero(wasted / total);
	const double sum = retired / total + front + bad;
	const double back = sum == 0 ? 0 : metrics_not_below_zero(1 - sum);
	const bool known = total > 0;

	if (basis == BASIS_BUBBLES)
		metrics_add(row, SONDE_STAT_PERCENT_COARSE, "frontend bound", known, 100 * front);
	else if (basis == BASIS_RETIRED)
		metrics_add(row, SONDE_STAT_PERCENT_COARSE, "retiring", known,
			    100 * retired / total);
	else if (basis == BASIS_RECOVERY)
		metrics_add(row, SONDE_STAT_PERCENT_COARSE, "bad speculation", known, 100 * bad);
	else
		metrics_add(row, SONDE_STAT_PERCENT_COARSE, "backend bound", known, 100 * back);
}

/* A share of the slots, and what is left of a larger share. */
static const struct slots {
	const char *name, *unit;
	enum basis of;    /* of the second level: the share that it divides; else BASIS_NONE */
	const char *rest; /* NULL for the first level */
} slots[] = {
	{ "topdown-retiring", "Retiring", BASIS_NONE, NULL },
	{ "topdown-bad-spec", "Bad Speculation", BASIS_NONE, NULL },
	{ "topdown-fe-bound", "Frontend Bound", BASIS_NONE, NULL },
	{ "topdown-be-bound", "Backend Bound", BASIS_NONE, NULL },
	{ "topdown-heavy-ops", "Heavy Operations", BASIS_RETIRING, "Light Operations" },
	{ "topdown-br-mispredict", "Branch Mispredict", BASIS_BAD_SPECULATION, "Machine Clears" },
	{ "topdown-fetch-lat", "Fetch Latency", BASIS_FRONTEND, "Fetch Bandwidth" },
	{ "topdown-mem-bound", "Memory Bound", BASIS_BACKEND, "Core Bound" },
};

/* Returns false if the event is no share, or fewer than two shares of the first level counted. */
static bool metrics_add_share(const struct bases *b, struct sonde_stat_row *row,
			      const struct stat_event *e)
{
	double all = 0, share;
	const struct slots *p = NULL;
	int nr = 0;

	for (size_t i = 0; i < sizeof(slots) / sizeof(*slots) && !p; i++)
		if (metrics_is_named(e, slots[i].name))
			p = &slots[i];
	if (!p)
		return false;
	for (enum basis basis = BASIS_RETIRING; basis <= BASIS_BACKEND; basis++) {
		const double count = metrics_basis(b, row, basis);

		all += count;
		nr += count > 0;
	}
	if (nr < 2)
		return false;
	share = 100 * row->value / all;
	metrics_add(row, SONDE_STAT_PERCENT_COARSE, p->unit, true, share);
	if (p->rest)
		metrics_add(row, SONDE_STAT_PERCENT_COARSE, p->rest, true,
			    100 * metrics_basis(b, row, p->of) / all - share);
	return true;
}

/* ---- transactions, and interrupts of the system's management -------------------------------- */

static bool metrics_add_transactions(const struct bases *b, struct sonde_stat_row *row,
				     const struct stat_event *e)
{
	const double cycles = metrics_basis(b, row, BASIS_CYCLES);
	const double inside = metrics_basis(b, row, BASIS_TX_CYCLES);

	if (metrics_is_named(e, "cycles-t")) {
		metrics_add(row, SONDE_STAT_PERCENT, "transactional cycles", cycles > 0,
			    100 * row->value / cycles);
	} else if (metrics_is_named(e, "cycles-ct")) {
		const double aborted = inside > row->value ? inside - row->value : 0;

		metrics_add(row, SONDE_STAT_PERCENT, "aborted cycles", cycles > 0,
			    100 * aborted / cycles);
	} else if (metrics_is_named(e, "tx-start")) {
		metrics_add(row, SONDE_STAT_WHOLE, "cycles / transaction",
			    inside > 0 && row->value > 0, inside / row->value);
	} else if (metrics_is_named(e, "el-start")) {
		metrics_add(row, SONDE_STAT_WHOLE, "cycles / elision", inside > 0 && row->value > 0,
			    inside / row->value);
	} else {
		return false;
	}
	return true;
}

/* Unhalted cycles stop in an interrupt of the system's management, aperf does not. */
static void metrics_add_smi(const struct bases *b, struct sonde_stat_row *row)
{
	const double cycles = metrics_basis(b, row, BASIS_CYCLES);
	const double aperf = metrics_basis(b, row, BASIS_APERF);

	if (cycles <= 0 || aperf <= 0)
		return;
	metrics_add(row, SONDE_STAT_PERCENT_COARSE, "SMI cycles%", true,
		    row->value > 0 ? 100 * (aperf - cycles) / aperf : 0);
	metrics_add(row, SONDE_STAT_WHOLE_SMALL, "SMI#", true, row->value);
}

/* Returns false for other events. */
static bool metrics_add_named(const struct bases *b, struct sonde_stat_row *row,
			      const struct stat_event *e)
{
	const enum basis basis = metrics_basis_of(e);

	if (basis >= BASIS_RETIRED && basis <= BASIS_ISSUED)
		metrics_add_slots(b, row, basis);
	else
		return metrics_add_share(b, row, e) || metrics_add_transactions(b, row, e);
	return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void metrics_set(const struct bases *b, double elapsed_ns, struct sonde_stat_row *row)
{
	const struct stat_event *e = &b->subject->events.v[row->event];
	const struct share *share = e->tool == TOOL_NONE ? metrics_share_of(e) : NULL;
	const double clock_ns = metrics_clock_ns(b, row);

	row->nr_metrics = 0;
	if (metrics_is_clock(e)) {
		metrics_add(row, SONDE_STAT_NUMBER, "CPUs utilized", elapsed_ns > 0,
			    row->value / elapsed_ns);
	} else if (metrics_is_hardware(e, PERF_COUNT_HW_CPU_CYCLES)) {
		metrics_add(row, SONDE_STAT_NUMBER, "GHz", clock_ns > 0, row->value / clock_ns);
	} else if (metrics_is_hardware(e, PERF_COUNT_HW_INSTRUCTIONS)) {
		metrics_add_instructions(b, row);
	} else if (share) {
		const double all = metrics_basis(b, row, share->of);

		metrics_add(row, share->kind, share->unit, all > 0, 100 * row->value / all);
	} else if (metrics_add_named(b, row, e)) {
		;
	} else if (clock_ns > 0) {
		metrics_add_rate(row, clock_ns);
	} else if (metrics_basis_of(e) == BASIS_SMI) {
		metrics_add_smi(b, row);
	}
	if (row->state != SONDE_STAT_COUNTED)
		for (uint32_t i = 0; i < row->nr_metrics; i++)
			row->metrics[i].has_value = 0;
}

int stat_metrics_fill(struct stat_rows *r, const struct stat_subject *s, double elapsed_ns)
{
	struct bases b = { .subject = s };
	const int e = metrics_find_bases(&b, r);

	vec_foreach(row, &r->list)
		if (e == 0)
			metrics_set(&b, elapsed_ns, row);
	vec_done(&b.list);
	return e;
}
