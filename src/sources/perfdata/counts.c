/* SPDX-License-Identifier: MIT */
#include "sources/perfdata/counts.h"

#include "formats/perfdata/cpu_map.h"
#include "formats/perfdata/stat.h"

/* More counts than any machine has: a recording that claims so many is damaged. */
enum { RECORD_HEADER_BYTES = 8, MOST_COUNTS = 1 << 20 };

struct count {
	uint64_t value, enabled_ns, running_ns;
};

struct perfdata_counts {
	VEC(int32_t) cpus;
	VEC(int32_t) tids;
	VEC(struct count) counts; /* [event][tid][cpu], all 0 before the first one arrives */
	VEC(struct count) before; /* of the round before */
	VEC(struct count) sums;   /* for perf 6.1: sum of each event in the previous round */
	size_t nr_events;
	bool is_sum;   /* all cpus together were asked for */
	bool unscaled; /* counts are given as they are */
	uint64_t time_ns;
	VEC(uint8_t) payload; /* of the event made last */
};

void perfdata_counts_free(struct perfdata_counts *c)
{
	if (!c)
		return;
	vec_done(&c->cpus);
	vec_done(&c->tids);
	vec_done(&c->counts);
	vec_done(&c->before);
	vec_done(&c->sums);
	vec_done(&c->payload);
	free(c);
}

/* ---- contents of the records --------------------------------------------------------------------
 */

static int counts_add_cpu(void *ctx, int64_t cpu)
{
	struct perfdata_counts *c = ctx;

	return vec_push(&c->cpus, (int32_t)cpu);
}

static int counts_add_thread(void *ctx, int32_t tid, const uint8_t *comm)
{
	struct perfdata_counts *c = ctx;

	return vec_push(&c->tids, tid);
}

/* Makes the array of zeros when both sets are known. */
static int counts_allocate(struct perfdata_counts *c, size_t nr_events)
{
	size_t n = nr_events, each = c->cpus.n * c->tids.n;

	if (c->counts.n || !each || !n || n > MOST_COUNTS || each > MOST_COUNTS / n)
		return 0;
	TRY(vec_reserve(&c->counts, n * each));
	TRY(vec_reserve(&c->before, n * each));
	TRY(vec_reserve(&c->sums, n));
	memset(c->counts.v, 0, n * each * sizeof(*c->counts.v));
	memset(c->before.v, 0, n * each * sizeof(*c->before.v));
	memset(c->sums.v, 0, n * sizeof(*c->sums.v));
	c->counts.n = c->before.n = n * each;
	c->sums.n = c->nr_events = n;
	return 0;
}

/*
 * The index of a count's cpu in the set. Records have the cpu's number; records of older recorders
 * have its index. Returns cpus.n if it is neither.
 */
static size_t counts_place_of(const struct perfdata_counts *c, uint32_t cpu)
{
	for (size_t i = 0; i < c->cpus.n; i++) {
		if (c->cpus.v[i] == (int32_t)cpu)
			return i;
	}
	return cpu < c->cpus.n ? cpu : c->cpus.n;
}

static int count_take(struct perfdata_source *s, struct bytes *b)
{
	struct perfdata_counts *c = s->counts;
	struct perfdata_count count = { 0 };
	size_t at, which, event;

	TRY(perfdata_count_read(b, &count));
	at = counts_place_of(c, count.cpu);
	which = hash64_find(&s->by_id, count.id);
	event = which == HASH64_EMPTY ? c->nr_events : s->ids.v[which].event;
	if (event < c->nr_events && at < c->cpus.n && count.thread < c->tids.n)
		c->counts.v[(event * c->tids.n + count.thread) * c->cpus.n + at] =
			(struct count){ count.value, count.enabled_ns, count.running_ns };
	return 0;
}

static int counts_take_config(struct perfdata_counts *c, struct bytes *b)
{
	struct perfdata_stat_config config = { .is_unscaled = c->unscaled };
	const int r = perfdata_stat_config_read(b, &config);

	if (config.has_aggregation)
		c->is_sum = config.aggregation == PERFDATA_AGGR_ALL;
	c->unscaled = config.is_unscaled;
	return r;
}

static int counts_take(struct perfdata_source *s, struct bytes *b, uint32_t type)
{
	struct perfdata_counts *c = s->counts;

	switch (type) {
	case RECORD_CPU_MAP:
		if (!c->cpus.n) /* a second one does not count */
			TRY(perfdata_cpus_read(b, counts_add_cpu, c));
		return counts_allocate(c, s->events.n);
	case RECORD_THREAD_MAP:
		if (!c->tids.n)
			TRY(perfdata_threads_read(b, counts_add_thread, c));
		return counts_allocate(c, s->events.n);
	case RECORD_STAT_CONFIG:
		if (s->file.is_pipe) /* where no header says it */
			s->file.feature_bits[0] |= UINT64_C(1) << FEAT_STAT;
		return counts_take_config(c, b);
	case RECORD_STAT:
		return count_take(s, b);
	default:
		return 0;
	}
}

static struct bytes counts_body_of(const struct perfdata_source *s, const struct cut *rec)
{
	struct bytes b =
		bytes_init(rec->bytes, rec->len, rec->file_off, s->file.path, s->file.swap);

	b.pos += RECORD_HEADER_BYTES;
	return b;
}

static int counts_make(struct perfdata_source *s)
{
	if (!s->counts)
		s->counts = calloc(1, sizeof(*s->counts));
	return s->counts ? 0 : err_nomem();
}

int perfdata_counts_take(struct perfdata_source *s, const struct cut *rec, uint32_t type)
{
	struct bytes b = counts_body_of(s, rec);
	int r;

	TRY(counts_make(s));
	r = counts_take(s, &b, type);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		err_clear();
	return 0;
}

/* ---- the events of a round ------------------------------------------------------------------- */

/*
 * Replaces a count by its growth. The array keeps the growth, so a count that no later record
 * repeats shows the same growth again.
 */
static void counts_make_growth(const struct perfdata_counts *c, struct count *count,
			       struct count *before)
{
	struct count last = *before;
	double scaled;

	*before = *count;
	count->value -= last.value;
	count->enabled_ns -= last.enabled_ns;
	count->running_ns -= last.running_ns;
	if (c->unscaled)
		return;
	if (!count->running_ns) {
		count->value = 0;
	} else if (count->running_ns < count->enabled_ns) {
		scaled = (double)count->value * (double)count->enabled_ns /
			 (double)count->running_ns;
		count->value = scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
	}
}

/* Makes one event of a round. Its payload is as the schema `stat` describes it (schemas.c). */
static int count_put(struct perfdata_source *s, size_t event, int32_t cpu, int32_t tid,
		     const struct count *count, struct event *ret)
{
	struct perfdata_counts *c = s->counts;
	const char *name = s->events.v[event].schema->name;
	size_t len = 40 + strlen(name) + 1;
	struct sonde_schema *sc;
	uint8_t *p;

	TRY(perfdata_record_schema(s, RECORD_STAT, &sc));
	vec_clear(&c->payload);
	TRY(vec_reserve(&c->payload, len));
	p = c->payload.v;
	memcpy(p, &cpu, 4);
	memcpy(p + 4, &tid, 4);
	memcpy(p + 8, &c->time_ns, 8);
	memcpy(p + 16, &count->value, 8);
	memcpy(p + 24, &count->enabled_ns, 8);
	memcpy(p + 32, &count->running_ns, 8);
	memcpy(p + 40, name, len - 40);
	ret->schema = sc;
	ret->attr = ret->member = (uint32_t)event;
	ret->pub.schema = sc->id;
	ret->pub.flags &= ~(uint32_t)SONDE_EVENT_SWAPPED;
	ret->pub.time_ns = c->time_ns;
	ret->pub.cpu = cpu;
	ret->pub.tid = tid;
	ret->pub.cpumode = 0;
	ret->pub.bytes = p;
	ret->pub.bytes_len = (uint32_t)len;
	return 2;
}

static struct count counts_sum_of(const struct perfdata_counts *c, size_t event)
{
	size_t each = c->cpus.n * c->tids.n;
	struct count sum = { 0 };

	for (size_t i = event * each; i < (event + 1) * each; i++) {
		sum.value += c->counts.v[i].value;
		sum.enabled_ns += c->counts.v[i].enabled_ns;
		sum.running_ns += c->counts.v[i].running_ns;
	}
	return sum;
}

static int counts_put_round(struct perfdata_source *s, const struct cut *rec, struct event *ret)
{
	struct bytes b = counts_body_of(s, rec);
	struct sonde_schema *sc;

	TRY(perfdata_record_schema(s, RECORD_STAT_ROUND, &sc));
	ret->schema = sc;
	ret->attr = ret->member = 0;
	ret->pub.schema = sc->id;
	ret->pub.time_ns = s->counts->time_ns;
	ret->pub.cpumode = 0;
	ret->pub.bytes = b.pos;
	ret->pub.bytes_len = (uint32_t)bytes_left(&b);
	return 1;
}

static int counts_begin_round(struct perfdata_source *s, const struct cut *rec, bool sums_up)
{
	struct bytes b = counts_body_of(s, rec);
	struct perfdata_round round = { 0 };
	struct perfdata_counts *c;

	TRY(counts_make(s));
	c = s->counts;
	TRY(perfdata_round_read(&b, &round));
	c->time_ns = round.time_ns;
	for (size_t i = 0; i < c->counts.n && !sums_up; i++)
		counts_make_growth(c, &c->counts.v[i], &c->before.v[i]);
	return 0;
}

int perfdata_counts_decode(struct perfdata_source *s, const struct cut *rec, unsigned i,
			   struct event *ret)
{
	struct perfdata_counts *c = s->counts;
	bool sums_up = c && c->is_sum && s->opts.rules->sums_counts;
	size_t each, event;

	if (!i) {
		int r = counts_begin_round(s, rec, sums_up);

		if (r == -ENOMEM)
			return r;
		if (r < 0) {
			err_clear();
			return 0;
		}
		c = s->counts;
	}
	each = c->cpus.n * c->tids.n;
	if (i < c->counts.n) {
		event = i / each;
		ret->is_summed_up = sums_up;
		return count_put(s, event, c->cpus.v[i % c->cpus.n],
				 c->tids.v[i % each / c->cpus.n], &c->counts.v[i], ret);
	}
	event = i - c->counts.n;
	if (sums_up && event < c->nr_events) {
		struct count sum = counts_sum_of(c, event);

		counts_make_growth(c, &sum, &c->sums.v[event]);
		return count_put(s, event, -1, -1, &sum, ret);
	}
	return counts_put_round(s, rec, ret);
}
