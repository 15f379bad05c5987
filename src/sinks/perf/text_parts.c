/* SPDX-License-Identifier: MIT */
/* What lines of text have of perf.data alone. */
#include "sinks/perf/text_parts.h"

#include <stdlib.h>

#include "base/err.h"
#include "recording/recording.h"
#include "sinks/perf/dump.h"
#include "sinks/perf/header.h"
#include "sinks/perf/metric.h"
#include "sinks/perf/records.h"
#include "sinks/sink.h"
#include "sinks/text/options.h"

struct text_parts {
	const struct text_options *o;
	const struct rules *rules;
	struct perf_dump dump;
	struct perf_metric metric;
	bool counts_head_put; /* of recordings of perf stat */
};

static int parts_open(struct text_parts **ret, const struct sink_options *opts)
{
	struct text_parts *p = calloc(1, sizeof(*p));

	if (!p)
		return err_nomem();
	p->o = opts->own;
	p->rules = opts->rules;
	p->dump = (struct perf_dump){ .lines = &p->o->lines, .is_unsorted = opts->unsorted };
	*ret = p;
	return 0;
}

static void parts_close(struct text_parts *p)
{
	if (!p)
		return;
	perf_metric_done(&p->metric);
	free(p);
}

static int parts_recording(struct text_parts *p, const struct recording *rec)
{
	TRY(perf_records_check(rec, p->o));
	p->dump.is_pipe |= source_read_traits(rec->source).describes_late;
	return rec->all->nr == 1 ? perf_metric_init(&p->metric, p->rules, rec) : 0;
}

static int parts_schema(struct text_parts *p, const struct sonde_schema *sc)
{
	return perf_metric_meet(&p->metric, sc);
}

static bool parts_dump_is_ordered(const struct text_parts *p, const struct sonde_schema *first)
{
	return perf_dump_is_ordered(&p->dump, first);
}

static void parts_dump(const struct text_parts *p, const struct event *ev, const char *path,
		       struct outbuf *out)
{
	perf_dump_put(ev, &p->dump, path, out);
}

static bool parts_result(struct text_parts *p, const struct event *ev, struct outbuf *out)
{
	return perf_result_put(ev, p->o->dump, &p->counts_head_put, out);
}

static bool parts_metric_count(struct text_parts *p, uint32_t schema, int32_t cpu, uint64_t period)
{
	return perf_metric_count(&p->metric, schema, cpu, period);
}

static int parts_metric(struct text_parts *p, uint32_t schema, int32_t cpu, unsigned i,
			struct outbuf *out)
{
	return perf_metric_put(&p->metric, schema, cpu, i, out);
}

const struct text_parts_ops perf_text_parts = {
	.open = parts_open,
	.close = parts_close,
	.recording = parts_recording,
	.schema = parts_schema,
	.header = perf_header_put,
	.read = perf_records_read,
	.dump_is_ordered = parts_dump_is_ordered,
	.dump = parts_dump,
	.dump_thread = perf_dump_thread_put,
	.is_shown = perf_record_shown,
	.record = perf_record_put,
	.result = parts_result,
	.misc = perf_record_misc,
	.metric_count = parts_metric_count,
	.metric = parts_metric,
};
