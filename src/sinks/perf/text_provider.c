/* SPDX-License-Identifier: MIT */
/* The text that only perf.data has. */
#include "sinks/perf/text_provider.h"

#include <stdlib.h>

#include "base/err.h"
#include "recording/recording.h"
#include "sinks/perf/dump.h"
#include "sinks/perf/header.h"
#include "sinks/perf/metric.h"
#include "sinks/perf/records.h"
#include "sinks/sink.h"
#include "sinks/text/options.h"

struct text_provider {
	const struct text_options *o;
	const struct rules *rules;
	struct perf_dump dump;
	struct perf_metric metric;
	bool counts_head_put; /* the head of the table of counts was printed (perf stat) */
};

static int provider_open(struct text_provider **ret, const struct sink_options *opts)
{
	struct text_provider *p = calloc(1, sizeof(*p));

	if (!p)
		return err_nomem();
	p->o = opts->own;
	p->rules = opts->rules;
	p->dump = (struct perf_dump){ .lines = &p->o->lines, .is_unsorted = opts->unsorted };
	*ret = p;
	return 0;
}

static void provider_close(struct text_provider *p)
{
	if (!p)
		return;
	perf_metric_done(&p->metric);
	free(p);
}

static int provider_recording(struct text_provider *p, const struct recording *rec)
{
	TRY(perf_records_check(rec, p->o));
	p->dump.is_pipe |= source_read_traits(rec->source).describes_late;
	return rec->all->nr == 1 ? perf_metric_init(&p->metric, p->rules, rec) : 0;
}

static int provider_schema(struct text_provider *p, const struct sonde_schema *sc)
{
	return perf_metric_meet(&p->metric, sc);
}

static bool provider_dump_is_ordered(const struct text_provider *p,
				     const struct sonde_schema *first)
{
	return perf_dump_is_ordered(&p->dump, first);
}

static void provider_dump(const struct text_provider *p, const struct event *ev, const char *path,
			  struct outbuf *out)
{
	perf_dump_put(ev, &p->dump, path, out);
}

static bool provider_result(struct text_provider *p, const struct event *ev, struct outbuf *out)
{
	return perf_result_put(ev, p->o->dump, &p->counts_head_put, out);
}

static bool provider_metric_count(struct text_provider *p, uint32_t schema, int32_t cpu,
				  uint64_t period)
{
	return perf_metric_count(&p->metric, schema, cpu, period);
}

static int provider_metric(struct text_provider *p, uint32_t schema, int32_t cpu, unsigned i,
			   struct outbuf *out)
{
	return perf_metric_put(&p->metric, schema, cpu, i, out);
}

const struct text_provider_ops perf_text_provider = {
	.open = provider_open,
	.close = provider_close,
	.recording = provider_recording,
	.schema = provider_schema,
	.header = perf_header_put,
	.read = perf_records_read,
	.dump_is_ordered = provider_dump_is_ordered,
	.dump = provider_dump,
	.dump_thread = perf_dump_thread_put,
	.is_shown = perf_record_shown,
	.record = perf_record_put,
	.result = provider_result,
	.misc = perf_record_misc,
	.metric_count = provider_metric_count,
	.metric = provider_metric,
};
