/* SPDX-License-Identifier: MIT */
/*
 * The text sink: writes one line per event in perf script's layout.
 *
 *	    bash  4711 [001]  1234.567890:     250000  cpu-clock:  ffffffff81000000 sym+0x10 (dso)
 *	comm(16)  tid  cpu           time  period(10)      event   ip, or a newline and the chain
 *	`------------------------ head.c ---------------------' payload `------- tail.c -------'
 */
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "recording/recording.h"
#include "recording/text.h"
#include "sinks/text/line.h"
#include "sinks/text/terminal.h"
#include "sources/source.h"

static struct text_sink *text_sink_of(struct sink *s)
{
	return (struct text_sink *)s;
}

#define RECORD_HEAD                                                                              \
	(TEXT_MACHINE_PID | TEXT_VCPU | TEXT_COMM | TEXT_PID | TEXT_TID | TEXT_CPU | TEXT_MISC | \
	 TEXT_TOD | TEXT_TIME)

/* The path of the file that contains the record. A recording in a directory has several files. */
static const char *text_path_of_record(const struct event *ev)
{
	struct source_file file;

	return ev->source->ops->file(ev->source, ev->cut->file, &file) ? file.path
								       : ev->recording->input;
}

static int text_put_record_line(struct text_sink *s, const struct event *ev, bool is_raw)
{
	struct outbuf *out = &s->writer.out;
	struct text_record_head head;

	if (!s->provider_ops->is_shown(&s->o->lines, ev, is_raw, &head))
		return 0;
	if (head.schema) {
		struct line line;

		if (head.schema->id >= s->lines.n)
			TRY(text_lines_meet(s, head.schema->id));
		line = s->lines.v[head.schema->id];
		line.fields &= RECORD_HEAD;
		if (!ev->change || ev->change->kind != CHANGE_EXIT)
			TRY(recording_complete_as(&head.event, head.pid, head.tid));
		TRY(text_head_put(s, &head.event, &line));
	}
	s->provider_ops->record(ev, s->o->dump, out);
	return 0;
}

/* Handles a record that is not a sample: prints its results, or its line. */
static int text_record_event(struct text_sink *s, const struct event *ev)
{
	size_t start = s->writer.out.len;

	if (!s->provider_ops->result(s->provider, ev, &s->writer.out))
		TRY(text_put_record_line(s, ev, false));
	if (s->terminal)
		text_terminal_quiet(&s->writer.out, start, true);
	return fd_writer_tick(&s->writer);
}

/* Prints any record in a dump: its bytes and its text. */
static int text_put_raw_record(struct text_sink *s, const struct sink_record *r)
{
	size_t start = s->writer.out.len;
	struct event *raw = &s->raw;

	TRY(s->provider_ops->read(r, raw));
	if (s->o->dump)
		s->provider_ops->dump(s->provider, raw, text_path_of_record(raw), &s->writer.out);
	TRY(text_put_record_line(s, raw, true));
	if (s->terminal)
		text_terminal_quiet(&s->writer.out, start, true);
	return fd_writer_tick(&s->writer);
}

static void text_put_dumped_thread(struct text_sink *s, const struct event *ev)
{
	size_t start = s->writer.out.len;

	s->provider_ops->dump_thread(ev, &s->writer.out);
	if (s->terminal)
		text_terminal_quiet(&s->writer.out, start, true);
}

/* Prints one line per metric once a group is complete. */
static int text_put_metrics(struct text_sink *s, const struct event *ev, const struct line *line)
{
	uint32_t id = ev->pub.schema;
	struct line head = *line;
	int n;

	head.fields &= RECORD_HEAD;
	if (!s->provider_ops->metric_count(s->provider, id, ev->pub.cpu, s->sample.period))
		return 0;
	for (unsigned i = 0;; i++) {
		s->metric_line.len = 0;
		n = s->provider_ops->metric(s->provider, id, ev->pub.cpu, i, &s->metric_line);
		if (n < 0)
			return 0;
		if (!n)
			continue;
		while (n--) {
			TRY(text_head_put(s, ev, &head));
			outbuf_str(&s->writer.out, "\tmetric: ");
		}
		outbuf_put(&s->writer.out, s->metric_line.data, s->metric_line.len);
		outbuf_char(&s->writer.out, '\n');
	}
}

/* per-event-dump: moves the line to the file of its type. */
static int text_put_in_file(struct text_sink *s, const struct event *ev, size_t line_start)
{
	struct event_file *f;

	TRY(event_files_get(&s->files, ev->schema, &f));
	f->nr_samples++;
	return event_file_take(f, &s->writer.out, line_start);
}

static inline __attribute__((always_inline)) int text_event(struct sink *sink,
							    const struct event *ev)
{
	struct text_sink *s = text_sink_of(sink);
	struct outbuf *out = &s->writer.out;
	const struct line *line;
	size_t line_start, start;

	if (__builtin_expect(ev->schema->kind >= SONDE_RECORD && schema_is_shown(ev->schema), 0))
		return ev->schema->kind == SONDE_RECORD ? text_record_event(s, ev) : 0;
	if (__builtin_expect(ev->pub.schema >= s->lines.n, 0))
		TRY(text_lines_meet(s, ev->pub.schema));
	line = &s->lines.v[ev->pub.schema];
	if (!line->fields)
		return 0;
	/* A damaged sample is a defect that its source counts; its values are 0 here. */
	if (line->needs_sample) {
		int r = source_sample(ev->source, ev, &s->sample);

		if (r == -ENOMEM)
			return r;
		if (r < 0)
			s->sample = (struct sonde_sample){ .size = sizeof(s->sample) };
	}
	line_start = out->len;
	TRY(text_head_put(s, ev, line));
	start = out->len;
	if (line->fields & TEXT_TRACE && !line->is_branch) {
		recording_event_text(ev, out);
		if (__builtin_expect(s->terminal, 0))
			text_terminal_quiet(out, start, false);
	}
	if (line->has_tail)
		text_tail_put(s, ev, line);
	outbuf_char(out, '\n');
	if (line->fields & TEXT_SRCCODE &&
	    text_srccode_put(&s->code, ev, s->sample.ip, ev->pub.cpumode, out))
		outbuf_char(out, '\n');
	if (line->fields & TEXT_METRIC && !line->is_branch)
		TRY(text_put_metrics(s, ev, line));
	if (__builtin_expect(s->has_files, 0))
		return text_put_in_file(s, ev, line_start);
	if (__builtin_expect(s->terminal, 0))
		text_terminal_quiet(out, start, true);
	return fd_writer_tick(&s->writer);
}

static __attribute__((noinline)) int text_events(struct sink *sink,
						 const struct event *const *events, size_t nr)
{
	return sink_each(sink, events, nr, text_event);
}

/* Handles an event of a record in a list of records. */
static int text_listed_event(struct text_sink *s, const struct event *ev, enum verdict verdict)
{
	if (ev->schema->kind >= SONDE_RECORD)
		return ev->schema->kind == SONDE_RECORD ? text_record_event(s, ev) : 0;
	if (s->o->dump)
		text_put_dumped_thread(s, ev);
	return verdict == VERDICT_WANTED ? text_events(&s->base, &ev, 1) : 0;
}

static int text_record(struct sink *sink, struct sink_record *record)
{
	struct text_sink *s = text_sink_of(sink);
	const struct event *ev;
	enum verdict verdict;
	int r;

	if (s->takes_raw_records)
		TRY(text_put_raw_record(s, record));
	while ((r = record->next(record, &ev, &verdict)) > 0)
		TRY(text_listed_event(s, ev, verdict));
	return r;
}

static int text_flush(struct sink *sink)
{
	return fd_writer_flush(&text_sink_of(sink)->writer);
}

static int text_finish(struct sink *sink, bool complete)
{
	struct text_sink *s = text_sink_of(sink);
	size_t start = s->writer.out.len;

	if (s->has_files)
		TRY(event_files_finish(&s->files, &s->writer.out));
	if (s->terminal)
		text_terminal_quiet(&s->writer.out, start, true);
	return text_flush(sink);
}

static void text_close(struct sink *sink)
{
	struct text_sink *s = text_sink_of(sink);

	if (!s)
		return;
	fd_writer_done(&s->writer);
	event_files_done(&s->files);
	text_frames_done(&s->frames);
	text_branches_done(&s->branches);
	text_code_done(&s->code);
	s->provider_ops->close(s->provider);
	outbuf_done(&s->metric_line);
	outbuf_done(&s->quiet_comm);
	arena_done(&s->arena);
	vec_done(&s->lines);
	vec_done(&s->comms);
	free(s);
}

static int text_take_options(struct text_sink *s, const struct sink_options *opts)
{
	const struct text_options *o = opts->own;

	if (opts->reltime && o->deltatime)
		return err_set(-EINVAL, "reltime and deltatime count times from different events: "
					"only one of them is possible");
	s->rules = s->branches.rules = opts->rules;
	s->nanoseconds = o->ns;
	s->color = o->color;
	s->terminal = o->color || opts->on_terminal || isatty(s->writer.fd);
	s->takes_raw_records = text_options_wants(opts).raw_records;
	s->latency = o->latency;
	s->utc = opts->clock == CLOCK_SHOWN_UTC;
	s->times = opts->reltime                                ? TIMES_FROM_FIRST
		   : o->deltatime                               ? TIMES_BETWEEN
		   : s->utc || opts->clock == CLOCK_SHOWN_LOCAL ? TIMES_OF_DAY
								: TIMES_RECORDED;
	s->id_width = opts->rules->id_width;
	return 0;
}

/* Reads the facts of the recording's head that columns depend on. */
static int text_read_recording(struct text_sink *s, const struct recording *rec)
{
	struct source_traits traits;
	struct source_clock clock;

	if (!rec->source)
		return 0;
	TRY(s->provider_ops->recording(s->provider, rec));
	traits = source_read_traits(rec->source);
	s->recording.aux_trace |= traits.has_cpu_traces;
	s->recording.is_pipe |= traits.describes_late;
	s->recording.counts |= traits.has_counts;
	s->recording.has_fixed_types |= traits.has_fixed_types;
	clock = source_read_clock(rec->source);
	if (clock.has_reference && !rec->nr) {
		s->tod_ns = clock.wall_ns - clock.clock_ns - (uint64_t)rec->clock.shift_ns;
		s->recording.clock_data = true;
	}
	return 0;
}

static int text_read_recordings(struct text_sink *s)
{
	const struct timeline *line = &s->recordings->line;

	s->recording.is_several = s->recordings->nr > 1;
	for (size_t i = 0; i < s->recordings->nr; i++)
		TRY(text_read_recording(s, &s->recordings->v[i]));
	if (s->recordings->nr == 1)
		return 0;
	s->recording.clock_data = line->has_wall;
	s->tod_ns = (uint64_t)line->wall_ns;
	return 0;
}

/*
 * Makes the files of per-event-dump. perf makes one for each event type of the recording, even if
 * no event of that type follows. A type that every recording of the format has gets its file with
 * its first event.
 */
static int text_make_files(struct text_sink *s, const struct sink_options *opts)
{
	const struct sonde_schema *sc;
	struct event_file *f;

	s->has_files = true;
	s->files.input = opts->input;
	s->files.rules = s->rules;
	for (uint32_t id = 0; (sc = schema_at(&s->recordings->schemas, id)); id++) {
		if (sc->kind <= SONDE_SAMPLE && !s->recording.has_fixed_types)
			TRY(event_files_get(&s->files, sc, &f));
	}
	return 0;
}

static int text_put_header(struct text_sink *s)
{
	size_t start = s->writer.out.len;

	for (size_t i = 0; i < s->recordings->nr; i++) {
		struct recording *rec = &s->recordings->v[i];

		if (s->recordings->nr > 1)
			outbuf_fmt(&s->writer.out, "# recording %zu: %s\n", i, rec->input);
		TRY(s->provider_ops->header(rec, s->o, &s->writer.out));
	}
	if (s->terminal)
		text_terminal_quiet(&s->writer.out, start, true);
	return 0;
}

/* Refuses metrics for several recordings: each has its own groups, and their ids would collide. */
static int text_check_metrics(const struct text_sink *s, unsigned nr_inputs)
{
	uint64_t asked = 0;

	for (int i = 0; i < NR_EVENT_CLASSES; i++)
		asked |= s->fields.classes[i].fields;
	if (!(asked & TEXT_METRIC) || s->recordings->nr == 1)
		return 0;
	return err_set(-EINVAL, "-F metric: one recording at a time, not %u", nr_inputs);
}

/* Prints the header, and makes the lines of the types known before the first event. */
static int text_begin(struct text_sink *s, const struct sink_options *opts)
{
	const struct text_options *o = opts->own;
	size_t nr = s->recordings->schemas.schemas.n;

	TRY(fd_writer_init(&s->writer, opts->fd));
	TRY(text_take_options(s, opts));
	TRY(s->provider_ops->open(&s->provider, opts));
	TRY(text_read_recordings(s));
	TRY(text_fields_parse(&s->fields, o->fields, opts->callchain, opts->rules, NULL));
	TRY(text_check_metrics(s, opts->nr_inputs));
	if (o->dump && opts->rules->sorts_with_ids_only && !opts->unsorted &&
	    !s->provider_ops->dump_is_ordered(s->provider, schema_at(&s->recordings->schemas, 0)))
		outbuf_str(&s->writer.out, LINE_DUMP_UNORDERED);
	if (o->lines.header != HEADER_NONE || o->header_info)
		TRY(text_put_header(s));
	if (o->lines.header >= HEADER_ONLY)
		return 0;
	if (nr)
		TRY(text_lines_meet(s, (uint32_t)nr - 1));
	return o->per_event_dump ? text_make_files(s, opts) : 0;
}

/* The operations of the only sink with a text provider. */
static const struct text_provider_ops *text_find_provider(void)
{
	size_t i = 0;

	while (!sinks[i]->text_provider)
		i++;
	return sinks[i]->text_provider;
}

static int text_open(struct sink **ret, const struct sink_options *opts)
{
	struct text_sink *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return err_nomem();
	s->base.ops = &text_sink_ops;
	s->provider_ops = text_find_provider();
	s->recordings = opts->recordings;
	s->o = opts->own;
	seconds_text_init(&s->seconds);
	text_code_init(&s->code, s->o, opts->rules);
	text_frames_init(&s->frames, opts->rules, &s->code);
	r = text_begin(s, opts);
	if (r < 0) {
		text_close(&s->base);
		return r;
	}
	*ret = &s->base;
	return 0;
}

const struct sink_ops text_sink_ops = {
	.name = "text",
	.summary = "a line per event, as perf script prints it",
	.takes_several = true,
	.keys = text_keys,
	.nr_keys = NR_TEXT_KEYS,
	.options_bytes = sizeof(struct text_options),
	.check = text_options_check,
	.wants = text_options_wants,
	.notes = text_options_notes,
	.open = text_open,
	.events = text_events,
	.record = text_record,
	.finish = text_finish,
	.flush = text_flush,
	.close = text_close,
};
