/* SPDX-License-Identifier: MIT */
#include "sinks/text/counts.h"

#include <inttypes.h>

#include "base/bytes.h"
#include "formats/perfdata/layout.h"
#include "session.h"
#include "sinks/text/dump.h"

/* More counts than any machine has: a recording that claims so many is damaged. */
enum { HEADER_BYTES = 8, MOST_COUNTS = 1 << 20 };

void text_counts_done(struct text_counts *c)
{
	vec_done(&c->cpus);
	vec_done(&c->tids);
	vec_done(&c->counts);
	vec_done(&c->before);
}

static int add_cpu(void *ctx, int64_t cpu)
{
	struct text_counts *c = ctx;

	return vec_push(&c->cpus, (int32_t)cpu);
}

static int take_threads(struct text_counts *c, struct bytes *b)
{
	uint64_t nr = 0, tid = 0;

	TRY(bytes_u64(b, "number of threads", &nr));
	for (uint64_t i = 0; i < nr; i++) {
		TRY(bytes_u64(b, "tid", &tid));
		TRY(bytes_skip(b, "comm", 16));
		TRY(vec_push(&c->tids, (int32_t)tid));
	}
	return 0;
}

/* Event types of the recording have the first ids, in its order. */
static size_t count_events(const struct sonde_session *s)
{
	const struct sonde_schema *sc;
	size_t n = 0;

	while ((sc = sonde_session_schema(s, (uint32_t)n)) && sc->attr)
		n++;
	return n;
}

/* All zeros, once both sets are known. */
static int make_counts(struct text_counts *c, const struct sonde_session *s)
{
	size_t n = count_events(s), each = c->cpus.n * c->tids.n;

	if (c->counts.n || !each || n > MOST_COUNTS || each > MOST_COUNTS / (n ? n : 1))
		return 0;
	TRY(vec_reserve(&c->counts, n * each));
	TRY(vec_reserve(&c->before, n * each));
	memset(c->counts.v, 0, n * each * sizeof(*c->counts.v));
	memset(c->before.v, 0, n * each * sizeof(*c->before.v));
	c->counts.n = c->before.n = n * each;
	c->nr_events = n;
	return 0;
}

/* Which of the set a count is of: named by its number, by older recorders by its place; cpus.n when it is neither. */
static size_t place_of(const struct text_counts *c, uint32_t cpu)
{
	for (size_t i = 0; i < c->cpus.n; i++) {
		if (c->cpus.v[i] == (int32_t)cpu)
			return i;
	}
	return cpu < c->cpus.n ? cpu : c->cpus.n;
}

static int take_count(struct text_counts *c, const struct source_record *rec, struct bytes *b)
{
	struct text_count count = { 0 };
	uint32_t cpu = 0, thread = 0;
	size_t at;

	TRY(bytes_skip(b, "id", 8));
	TRY(bytes_u32(b, "cpu", &cpu));
	TRY(bytes_u32(b, "thread", &thread));
	TRY(bytes_u64(b, "value", &count.value));
	TRY(bytes_u64(b, "enabled", &count.enabled_ns));
	TRY(bytes_u64(b, "running", &count.running_ns));
	at = place_of(c, cpu);
	if (rec->schema && rec->schema->id < c->nr_events && at < c->cpus.n && thread < c->tids.n)
		c->counts.v[(rec->schema->id * c->tids.n + thread) * c->cpus.n + at] = count;
	return 0;
}

/* nr x { tag, value } */
static int take_config(struct text_counts *c, struct bytes *b)
{
	enum { TAG_AGGREGATION, TAG_INTERVAL, TAG_SCALE, AGGREGATION_ALL = 1 };
	uint64_t nr = 0, tag = 0, value = 0;

	TRY(bytes_u64(b, "number of settings", &nr));
	for (uint64_t i = 0; i < nr; i++) {
		TRY(bytes_u64(b, "tag", &tag));
		TRY(bytes_u64(b, "value", &value));
		if (tag == TAG_AGGREGATION)
			c->is_sum = value == AGGREGATION_ALL;
		else if (tag == TAG_SCALE)
			c->unscaled = !value;
	}
	return 0;
}

/* What a count grew by since the round before. The growth stays in its place: a count that is not told again shows that. */
static void make_growth(struct text_counts *c, size_t i)
{
	struct text_count *count = &c->counts.v[i], before = c->before.v[i];
	double scaled;

	c->before.v[i] = *count;
	count->value -= before.value;
	count->enabled_ns -= before.enabled_ns;
	count->running_ns -= before.running_ns;
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

static int put_round(struct text_counts *c, const struct sonde_session *s, struct bytes *b,
		     struct outbuf *out)
{
	const struct text_count *count = c->counts.v;
	bool shows_sums = c->is_sum && s->opts.compat == SONDE_COMPAT_PERF_6_1;
	uint64_t time_ns = 0;

	TRY(bytes_skip(b, "kind", 8));
	TRY(bytes_u64(b, "time", &time_ns));
	if (!c->head_put)
		outbuf_fmt(out, "%3s %8s %15s %15s %15s %15s %s\n", "CPU", "THREAD", "VAL", "ENA",
			   "RUN", "TIME", "EVENT");
	c->head_put = true;
	for (size_t i = 0; i < c->counts.n && !shows_sums; i++)
		make_growth(c, i);
	for (size_t event = 0; event < c->nr_events; event++) {
		const char *name = sonde_session_schema(s, (uint32_t)event)->name;

		for (size_t i = 0; i < c->tids.n * c->cpus.n; i++, count++)
			outbuf_fmt(out,
				   "%3d %8d %15" PRIu64 " %15" PRIu64 " %15" PRIu64 " %15" PRIu64
				   " %s\n",
				   c->cpus.v[i % c->cpus.n], c->tids.v[i / c->cpus.n], count->value,
				   count->enabled_ns, count->running_ns, time_ns, name);
	}
	return 0;
}

static int take(struct text_counts *c, const struct event *ev, const struct source_record *rec,
		struct outbuf *out)
{
	struct bytes b =
		bytes_init(ev->pub.record, ev->pub.record_len, ev->pub.file_off, "", rec->swap);

	b.pos += HEADER_BYTES;
	switch (rec->type) {
	case RECORD_CPU_MAP:
		if (!c->cpus.n) /* a second one does not count */
			TRY(text_cpus_read(&b, add_cpu, c));
		return make_counts(c, ev->session);
	case RECORD_THREAD_MAP:
		if (!c->tids.n)
			TRY(take_threads(c, &b));
		return make_counts(c, ev->session);
	case RECORD_STAT_CONFIG:
		return take_config(c, &b);
	case RECORD_STAT:
		return take_count(c, rec, &b);
	case RECORD_STAT_ROUND:
		return put_round(c, ev->session, &b, out);
	default:
		return 0;
	}
}

int text_counts_take(struct text_counts *c, const struct event *ev, struct outbuf *out)
{
	struct source_record rec;
	int r;

	if (ev->source->ops->record(ev->source, ev, &rec) < 0)
		return 0;
	r = take(c, ev, &rec, out);
	if (r == -ENOMEM)
		return r;
	if (r < 0)
		err_clear(); /* damaged: a dump says so */
	return 0;
}
