/* SPDX-License-Identifier: MIT */
#include "sinks/perf/metric.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/err.h"
#include "formats/perfdata/layout.h"
#include "recording/recording.h"
#include "sources/perfdata/view.h"

enum { LINES_OF_MEMBER = 2, MAX_MEMBERS = 1024 };

/* A cache event's config: the cache, the operation (read), the result (a miss). */
#define CACHE_MISS(cache) ((cache) | PERF_COUNT_HW_CACHE_RESULT_MISS << 16)
#define MS_OF_NS          1e-6

static int metric_read_group(struct bytes *b, struct metric_group *ret)
{
	uint32_t len = 0;

	*ret = (struct metric_group){ 0 };
	TRY(bytes_u32(b, "length of a group's name", &len));
	TRY(bytes_skip(b, "name", len));
	TRY(bytes_u32(b, "leader", &ret->leader));
	TRY(bytes_u32(b, "members", &ret->nr_members));
	return ret->nr_members && ret->nr_members <= MAX_MEMBERS ? 0 : -EBADMSG;
}

int perf_metric_init(struct perf_metric *m, const struct rules *rules, const struct recording *rec)
{
	struct perfdata_view *view = perfdata_view_of(rec->source);
	struct bytes groups = { 0 };
	struct metric_group g;
	uint32_t nr = 0;

	*m = (struct perf_metric){ .rules = rules };
	if (!view || perfdata_view_section(view, FEAT_GROUP_DESC, &groups) <= 0 ||
	    bytes_u32(&groups, "groups", &nr) < 0)
		nr = 0;
	for (; nr && metric_read_group(&groups, &g) >= 0; nr--)
		TRY(vec_push(&m->groups, g));
	err_clear();
	return 0;
}

void perf_metric_done(struct perf_metric *m)
{
	vec_done(&m->groups);
	vec_done(&m->members);
	vec_done(&m->counts);
}

int perf_metric_meet(struct perf_metric *m, const struct sonde_schema *sc)
{
	struct metric_member member = { .schema = sc };

	vec_foreach(g, &m->groups) {
		if (sc->id - g->leader < g->nr_members)
			member.group = g;
	}
	return vec_push(&m->members, member);
}

/* ---- counting -------------------------------------------------------------------------------- */

static bool metric_is_clock(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK);
}

/* The base that an event counts; -1 if it counts none. */
static int metric_base_of(const struct perf_event_attr *attr)
{
	static const int8_t hardware[] = { [PERF_COUNT_HW_CPU_CYCLES] = METRIC_CYCLES,
					   [PERF_COUNT_HW_INSTRUCTIONS] = -1,
					   [PERF_COUNT_HW_CACHE_REFERENCES] = METRIC_CACHE_REFS,
					   [PERF_COUNT_HW_CACHE_MISSES] = -1,
					   [PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = METRIC_BRANCHES,
					   [PERF_COUNT_HW_BRANCH_MISSES] = -1,
					   [PERF_COUNT_HW_BUS_CYCLES] = -1,
					   [PERF_COUNT_HW_STALLED_CYCLES_FRONTEND] =
						   METRIC_FRONTEND,
					   [PERF_COUNT_HW_STALLED_CYCLES_BACKEND] =
						   METRIC_BACKEND };

	if (metric_is_clock(attr))
		return METRIC_NSECS;
	if (attr->type == PERF_TYPE_HARDWARE && attr->config < sizeof(hardware))
		return hardware[attr->config];
	if (attr->type == PERF_TYPE_HW_CACHE && attr->config <= PERF_COUNT_HW_CACHE_ITLB)
		return METRIC_L1D + (int)attr->config;
	return -1;
}

static struct metric_counts *metric_counts_of(struct perf_metric *m, int32_t cpu)
{
	vec_foreach(c, &m->counts) {
		if (c->cpu == cpu)
			return c;
	}
	return NULL;
}

bool perf_metric_count(struct perf_metric *m, uint32_t schema, int32_t cpu, uint64_t period)
{
	struct metric_member *member = schema < m->members.n ? &m->members.v[schema] : NULL;
	const struct perf_event_attr *attr = member ? member->schema->attr : NULL;
	struct metric_counts *c;
	int base;

	if (!attr || !member->group)
		return false;
	if (!member->group->seen++)
		vec_clear(&m->counts);
	/* perf treats clocks as counts of milliseconds, so a sample's count is 0. */
	member->value = m->rules->metric_of_last_sample && metric_is_clock(attr)
				? (double)(uint64_t)((double)period * MS_OF_NS)
				: (double)period;
	base = metric_base_of(attr);
	c = metric_counts_of(m, cpu);
	if (base >= 0 && !c && vec_push(&m->counts, (struct metric_counts){ .cpu = cpu }) >= 0)
		c = &m->counts.v[m->counts.n - 1];
	if (base >= 0 && c) {
		c->of[base].sum += member->value;
		c->of[base].n++;
	}
	if (member->group->seen < member->group->nr_members)
		return false;
	member->group->seen = 0;
	return true;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static double metric_average(const struct metric_counts *c, enum metric_base base)
{
	return c && c->of[base].n ? c->of[base].sum / c->of[base].n : 0;
}

static int metric_put_percent(double value, const struct metric_counts *c, enum metric_base base,
			      const char *of, struct outbuf *out)
{
	double total = metric_average(c, base);

	if (!c || !c->of[base].n)
		return 0;
	outbuf_fmt(out, "%7.2f%% %s", total ? value / total * 100 : 0, of);
	return 1;
}

/* Prints stalled cycles, unless there were none. */
static int metric_put_idle(double value, const struct metric_counts *c, const char *what,
			   struct outbuf *out)
{
	return value && metric_average(c, METRIC_CYCLES)
		       ? metric_put_percent(value, c, METRIC_CYCLES, what, out)
		       : 0;
}

static int metric_put_per_second(double value, const struct metric_counts *c, struct outbuf *out)
{
	double total = metric_average(c, METRIC_NSECS), rate = total ? 1e9 * value / total : 0;
	const char *unit = "";

	if (!c || !c->of[METRIC_NSECS].n)
		return 0;
	for (const char *const *u = (const char *const[]){ "K", "M", "G", NULL }; rate > 1000 && *u;
	     u++) {
		rate /= 1000;
		unit = *u;
	}
	outbuf_fmt(out, "%8.3f %s/sec", rate, unit);
	return 1;
}

static int metric_put_instructions(double value, const struct metric_counts *c, unsigned line,
				   struct outbuf *out)
{
	double cycles = metric_average(c, METRIC_CYCLES),
	       stalled = metric_average(c, METRIC_FRONTEND);

	if (!line && cycles) {
		outbuf_fmt(out, "%7.2f  insn per cycle", value / cycles);
		return 1;
	}
	if (metric_average(c, METRIC_BACKEND) > stalled)
		stalled = metric_average(c, METRIC_BACKEND);
	if (!line || !stalled || !value)
		return 0;
	outbuf_fmt(out, "%7.2f  stalled cycles per insn", stalled / value);
	return 1;
}

static int metric_put_hardware(uint64_t config, double value, const struct metric_counts *c,
			       unsigned line, struct outbuf *out)
{
	if (config == PERF_COUNT_HW_INSTRUCTIONS)
		return metric_put_instructions(value, c, line, out);
	if (line)
		return 0;
	switch (config) {
	case PERF_COUNT_HW_BRANCH_MISSES:
		return metric_put_percent(value, c, METRIC_BRANCHES, "of all branches", out);
	case PERF_COUNT_HW_CACHE_MISSES:
		if (!c || !c->of[METRIC_CACHE_REFS].n)
			return 0;
		outbuf_fmt(out, "%8.3f %% of all cache refs",
			   metric_average(c, METRIC_CACHE_REFS)
				   ? value * 100 / metric_average(c, METRIC_CACHE_REFS)
				   : 0);
		return 1;
	case PERF_COUNT_HW_STALLED_CYCLES_FRONTEND:
		return metric_put_idle(value, c, "frontend cycles idle", out);
	case PERF_COUNT_HW_STALLED_CYCLES_BACKEND:
		return metric_put_idle(value, c, "backend cycles idle", out);
	case PERF_COUNT_HW_CPU_CYCLES:
		if (!metric_average(c, METRIC_NSECS))
			return 0;
		outbuf_fmt(out, "%8.3f GHz", value / metric_average(c, METRIC_NSECS));
		return 1;
	default:
		return metric_put_per_second(value, c, out);
	}
}

static int metric_put_line(const struct metric_member *member, double value,
			   const struct metric_counts *c, unsigned line, struct outbuf *out)
{
	static const char *const caches[] = { "of all L1-dcache accesses",
					      "of all L1-icache accesses",
					      "of all LL-cache accesses",
					      "of all dTLB cache accesses",
					      "of all iTLB cache accesses" };
	const struct perf_event_attr *attr = member->schema->attr;

	if (!attr || metric_is_clock(attr))
		return 0;
	if (attr->type == PERF_TYPE_HARDWARE)
		return metric_put_hardware(attr->config, value, c, line, out);
	if (line)
		return 0;
	for (unsigned i = 0;
	     attr->type == PERF_TYPE_HW_CACHE && i < sizeof(caches) / sizeof(*caches); i++) {
		if (attr->config == CACHE_MISS(i))
			return metric_put_percent(value, c, METRIC_L1D + i, caches[i], out);
	}
	return metric_put_per_second(value, c, out);
}

int perf_metric_put(struct perf_metric *m, uint32_t schema, int32_t cpu, unsigned i,
		    struct outbuf *out)
{
	const struct metric_group *g = m->members.v[schema].group;
	unsigned nr = i / LINES_OF_MEMBER + m->rules->metric_of_last_sample,
		 line = i % LINES_OF_MEMBER;
	uint32_t id = g->leader + nr;
	int n;

	if (nr >= g->nr_members || id >= m->members.n)
		return -1;
	/* perf leaves the leader out, and uses the last sample's count for every member. */
	n = metric_put_line(&m->members.v[id],
			    m->members.v[m->rules->metric_of_last_sample ? schema : id].value,
			    metric_counts_of(m, cpu), line, out);
	return n && m->rules->metric_of_last_sample && line ? METRIC_HEAD_TWICE : n;
}
