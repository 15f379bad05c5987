/* SPDX-License-Identifier: MIT */
/* The table's functions: opening and closing, files, clock, kernel, losses. */

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "sources/tracedat/tracedat.h"
#include "sources/tracedat/view.h"

static int open_tracedat_probe(const uint8_t *head, size_t len)
{
	return tracedat_head_find(head, len) ? 100 : 0;
}

static void open_tracedat_close(struct source *source)
{
	struct tracedat_source *s = tracedat_of(source);

	if (s->fd >= 0)
		close(s->fd);
	if (s->unpacked >= 0)
		close(s->unpacked);
	vec_foreach(block, &s->blocks)
		free(*block);
	vec_done(&s->blocks);
	vec_foreach(buffer, &s->buffers)
		vec_done(&buffer->cpus);
	vec_done(&s->buffers);
	vec_done(&s->instances);
	vec_done(&s->ranges);
	vec_done(&s->losses);
	free(s->types);
	hash64_done(&s->comm_of_pid);
	vec_done(&s->comms);
	hash64_done(&s->saved_of_pid);
	vec_done(&s->saved);
	arena_done(&s->arena);
	free(s);
}

static int open_steps(struct tracedat_source *s)
{
	int r;

	TRY(source_open_file(&s->opts, &s->fd, &s->file_bytes));
	r = tracedat_buffers_open(s);
	if (r)
		return r;
	tracedat_facts_read(s);
	TRY(tracedat_schemas_make(s));
	return tracedat_scan(s);
}

static int open_tracedat(struct source **ret, const struct source_options *opts)
{
	struct tracedat_source *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return source_refuse_without_memory(opts);
	stream_free(opts->stream); /* find_source() has copied it to a file */
	s->source.ops = &tracedat_source_ops;
	s->opts = *opts;
	s->opts.stream = NULL;
	s->fd = s->unpacked = -1;
	r = open_steps(s);
	if (r == SOURCE_HOLDS_OTHER) {
		opts->held->fd = s->unpacked;
		opts->held->nr_cpus = tracedat_count_cpus(s);
		s->unpacked = -1;
	}
	if (r) {
		open_tracedat_close(&s->source);
		return r;
	}
	*ret = &s->source;
	return 0;
}

static bool open_tracedat_file(struct source *source, unsigned i, struct source_file *ret)
{
	struct tracedat_source *s = tracedat_of(source);
	const struct tracedat_range *range;

	if (i >= s->ranges.n)
		return false;
	range = &s->ranges.v[i];
	*ret = (struct source_file){
		.fd = range->fd,
		.path = s->opts.path,
		.begin = range->begin,
		.end = range->end,
		/* Saved command lines are walked, so all names are known in front of the events. */
		.is_monotonic = range->instance && !s->opts.unordered,
	};
	return true;
}

static int open_tracedat_kernel(struct source *source, struct source_kernel *ret)
{
	const struct tracedat_sections *sections = &tracedat_of(source)->sections;

	*ret = (struct source_kernel){
		.printk = (const char *)sections->printk.pos,
		.printk_len = bytes_left(&sections->printk),
	};
	return 0;
}

static int open_tracedat_kallsyms(struct source *source, struct source_kallsyms *ret)
{
	const struct bytes *b = &tracedat_of(source)->sections.kallsyms;

	*ret = (struct source_kallsyms){ .text = (const char *)b->pos, .len = bytes_left(b) };
	return 0;
}

static void open_tracedat_clock(struct source *source, struct source_clock *ret)
{
	const struct tracedat_source *s = tracedat_of(source);
	const struct tracedat_clock_kind *clock = s->instances.n ? s->instances.v[0].clock : NULL;

	*ret = (struct source_clock){ .id = -1, .reference_id = -1 };
	/* A guest's times are those of the host whose recording it names. */
	ret->group = s->shifts.peer ? s->shifts.peer : s->trace_id;
	if (!clock)
		return;
	ret->is_known = !clock->is_counter || s->tsc.mult;
	/* --date: the time of day was added. */
	ret->id = s->date_us ? CLOCK_REALTIME : clock->id;
	/* `local`, `global` and perf's clock are a tenth of a second apart on some machines. */
	if (ret->id < 0 && strcmp(clock->name, "perf") != 0)
		ret->name = clock->name;
}

static void open_tracedat_report(struct source *source, const struct event *ev,
				 struct source_report *ret)
{
	uint64_t lost;

	if (ev->schema != tracedat_of(source)->lost_schema)
		return;
	lost = load_u64(ev->pub.bytes + offsetof(struct tracedat_lost_payload, lost));
	*ret = (struct source_report){ .kind = REPORT_LOST, .lost = lost ? lost : 1 };
}

/* Each event counts once, as in profiles of tracepoints. */
static void open_tracedat_weigh(struct source *source __attribute__((unused)),
				const struct event *ev __attribute__((unused)), uint64_t *ret_ip,
				uint64_t *ret_period)
{
	*ret_ip = 0;
	*ret_period = 1;
}

static void open_tracedat_traits(struct source *source __attribute__((unused)),
				 struct source_traits *ret)
{
	*ret = (struct source_traits){ .has_fixed_types = true, .has_time_zero = true };
}

struct tracedat_source *tracedat_view_of(struct source *s)
{
	return s && s->ops == &tracedat_source_ops ? tracedat_of(s) : NULL;
}

const struct source_ops tracedat_source_ops = {
	.name = "trace.dat",
	.summary = "recordings of trace-cmd (ftrace), versions 6 and 7",
	.probe = open_tracedat_probe,
	.open = open_tracedat,
	.file = open_tracedat_file,
	.cut = tracedat_cut,
	.decode = tracedat_decode,
	.weigh = open_tracedat_weigh,
	.kernel = open_tracedat_kernel,
	.kallsyms = open_tracedat_kallsyms,
	.clock = open_tracedat_clock,
	.traits = open_tracedat_traits,
	.report = open_tracedat_report,
	.fact_at = tracedat_fact_at,
	.info = tracedat_info,
	.close = open_tracedat_close,
};
