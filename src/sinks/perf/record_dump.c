/* SPDX-License-Identifier: MIT */
/*
 * Prints the records of a recording like perf report: their counts (--stats), or each record as
 * bytes and text with the counts at the end (-D).
 */
#include <stdlib.h>

#include "base/err.h"
#include "formats/perfdata/layout.h"
#include "recording/recording.h"
#include "sinks/fd_writer.h"
#include "sinks/line_options.h"
#include "sinks/perf/dump.h"
#include "sinks/perf/need.h"
#include "sinks/perf/record_counts.h"
#include "sinks/perf/records.h"
#include "sinks/sink.h"
#include "sinks/text/terminal.h"
#include "sources/perfdata/view.h"

struct record_dump_options {
	uint32_t with_empty, with_hint, counts_branches; /* flags */
};

struct record_dump_sink {
	struct sink base;
	const struct record_dump_options *o;
	struct recording *rec;
	struct perfdata_view *view;
	struct fd_writer writer;
	struct record_counts counts;
	struct line_options lines; /* no options are set */
	struct perf_dump dump;
	struct event raw;
	bool dumps, counts_branches, on_terminal;
};

static const struct key keys[] = {
	KEY_FLAG("with-empty", struct record_dump_options, with_empty),
	KEY_FLAG("with-hint", struct record_dump_options, with_hint),
	KEY_FLAG("count-branches", struct record_dump_options, counts_branches),
};

static struct sink_wants record_counts_wants(const struct sink_options *opts)
{
	return (struct sink_wants){ .samples = true, .raw_records = true };
}

static struct sink_wants record_dump_wants(const struct sink_options *opts)
{
	return (struct sink_wants){
		.samples = true,
		.raw_records = true,
		.record_lines = true,
		.refused_samples = true,
	};
}

static int record_dump_open_as(const struct sink_ops *ops, struct sink **ret,
			       const struct sink_options *opts)
{
	struct record_dump_sink *s;
	struct perfdata_view *view;
	int r;

	TRY(perf_view_need(opts->recordings->v, ops->name, &view));
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	s->base.ops = ops;
	s->o = opts->own;
	s->rec = opts->recordings->v;
	s->view = view;
	s->on_terminal = opts->on_terminal;
	s->dump = (struct perf_dump){
		.lines = &s->lines,
		.is_unsorted = opts->unsorted,
		.is_pipe = source_read_traits(s->rec->source).describes_late,
		.is_report = true,
	};
	r = fd_writer_init(&s->writer, opts->fd);
	if (r < 0) {
		free(s);
		return r;
	}
	*ret = &s->base;
	return 0;
}

static int record_counts_open(struct sink **ret, const struct sink_options *opts)
{
	struct record_dump_sink *s;

	TRY(record_dump_open_as(&record_counts_sink_ops, ret, opts));
	s = (struct record_dump_sink *)*ret;
	s->counts.forgets_names = opts->rules->counts_forget_names && s->dump.is_pipe;
	return 0;
}

static int record_dump_open(struct sink **ret, const struct sink_options *opts)
{
	struct perfdata_view_header head;
	struct record_dump_sink *s;

	TRY(record_dump_open_as(&record_dump_sink_ops, ret, opts));
	s = (struct record_dump_sink *)*ret;
	s->dumps = true;
	perfdata_view_header(s->view, &head);
	s->counts_branches = s->o->counts_branches && head.features[0] >> FEAT_BRANCH_STACK & 1;
	if (opts->rules->sorts_with_ids_only && !opts->unsorted &&
	    !perf_dump_is_ordered(&s->dump, schema_at(&opts->recordings->schemas, 0)))
		outbuf_str(&s->writer.out, LINE_DUMP_UNORDERED);
	if (s->o->with_hint)
		outbuf_str(&s->writer.out, "# To display the perf.data header info, please use "
					   "--header/--header-only options.\n#\n");
	return 0;
}

static const char *record_dump_path(const struct event *ev)
{
	struct source_file file;

	return ev->source->ops->file(ev->source, ev->cut->file, &file) ? file.path
								       : ev->recording->input;
}

/*
 * The number of samples that an event counts as. In perf's table of branches each entry of the
 * stack is one.
 */
static uint64_t record_dump_weight(const struct record_dump_sink *s, const struct event *ev)
{
	struct sonde_sample sample = { .size = sizeof(sample) };

	if (!s->counts_branches)
		return 1;
	if (source_sample(ev->source, ev, &sample) < 0) {
		err_clear();
		return 0;
	}
	return sample.nr_branches;
}

static int record_dump_record(struct sink *sink, struct sink_record *record)
{
	struct record_dump_sink *s = (struct record_dump_sink *)sink;
	struct outbuf *out = &s->writer.out;
	struct perfdata_view_record rec;
	const struct event *ev;
	enum verdict verdict;
	size_t start = out->len;
	int r;

	TRY(perf_records_read(record, &s->raw));
	perfdata_view_record(s->view, &s->raw, &rec);
	TRY(record_counts_add(&s->counts, s->dumps ? NULL : &s->raw, &rec));
	if (s->dumps)
		perf_dump_put(&s->raw, &s->dump, record_dump_path(&s->raw), out);
	while ((r = record->next(record, &ev, &verdict)) > 0) {
		if (ev->schema->kind > SONDE_SAMPLE)
			continue;
		if (s->dumps)
			perf_dump_thread_put(ev, out);
		if (verdict == VERDICT_WANTED)
			TRY(record_counts_add_samples(&s->counts, ev->schema,
						      record_dump_weight(s, ev)));
	}
	if (s->on_terminal)
		text_terminal_quiet(out, start, true);
	TRY(r);
	return fd_writer_tick(&s->writer);
}

static int record_dump_flush(struct sink *sink)
{
	return fd_writer_flush(&((struct record_dump_sink *)sink)->writer);
}

static int record_dump_finish(struct sink *sink, bool complete)
{
	struct record_dump_sink *s = (struct record_dump_sink *)sink;
	size_t start = s->writer.out.len;

	record_counts_finish(&s->counts, s->rec);
	record_counts_put(&s->counts, s->rec, s->o->with_empty, &s->writer.out);
	if (s->on_terminal)
		text_terminal_quiet(&s->writer.out, start, true);
	return fd_writer_flush(&s->writer);
}

static void record_dump_close(struct sink *sink)
{
	struct record_dump_sink *s = (struct record_dump_sink *)sink;

	if (!s)
		return;
	fd_writer_done(&s->writer);
	record_counts_done(&s->counts);
	free(s);
}

const struct sink_ops record_counts_sink_ops = {
	.name = "record-counts",
	.summary = "how many records of each type there are, as perf report --stats prints it",
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct record_dump_options),
	.wants = record_counts_wants,
	.open = record_counts_open,
	.record = record_dump_record,
	.finish = record_dump_finish,
	.flush = record_dump_flush,
	.close = record_dump_close,
};

const struct sink_ops record_dump_sink_ops = {
	.name = "record-dump",
	.summary = "each record as bytes and text, and their counts, as perf report -D prints them",
	.keys = keys,
	.nr_keys = sizeof(keys) / sizeof(*keys),
	.options_bytes = sizeof(struct record_dump_options),
	.wants = record_dump_wants,
	.open = record_dump_open,
	.record = record_dump_record,
	.finish = record_dump_finish,
	.flush = record_dump_flush,
	.close = record_dump_close,
};
