/* SPDX-License-Identifier: MIT */
/* A count that was recorded: its rounds are those of the file. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/perfdata/layout.h"
#include "stat/metrics.h"
#include "stat/read_options.h"
#include "stat/stat.h"

enum { RECORD_HEADER_BYTES = 8, WINDOW_BYTES = 1 << 20 };

/* ---- how counts are added up ----------------------------------------------------------------- */

/*
 * The recorded aggregation. Recorders of perf 6.5 and 6.9 have one more kind each between die and
 * core. Our own files have the numbers of 6.1, and versions before those.
 */
static enum sonde_stat_by from_recorded_by(const struct sonde_stat *s)
{
	const char *version = recording_info(s->from.rec, "version");
	const uint64_t number = s->from.config.aggregation;
	unsigned major = 0, minor = 0, more = 0;

	if (version && sscanf(version, "%u.%u", &major, &minor) == 2)
		more = (major > 6 || (major == 6 && minor >= 5)) +
		       (major > 6 || (major == 6 && minor >= 9));
	if (!s->from.config.has_aggregation || number == PERFDATA_AGGR_ALL)
		return SONDE_STAT_BY_ALL;
	if (number == PERFDATA_AGGR_CPU)
		return SONDE_STAT_BY_CPU;
	if (number == PERFDATA_AGGR_SOCKET)
		return SONDE_STAT_BY_SOCKET;
	if (number == PERFDATA_AGGR_DIE)
		return SONDE_STAT_BY_DIE;
	return number == PERFDATA_AGGR_CORE + more     ? SONDE_STAT_BY_CORE
	       : number == PERFDATA_AGGR_THREAD + more ? SONDE_STAT_BY_THREAD
	       : number == PERFDATA_AGGR_NODE + more   ? SONDE_STAT_BY_NODE
						       : SONDE_STAT_BY_ALL;
}

/* Counts of tasks on any cpu have no places, and counts of everything on a cpu have no threads. */
static bool from_can(const struct sonde_stat *s, enum sonde_stat_by by)
{
	const bool has_cpus = s->subject.cpus.v[0] >= 0;
	const bool has_tasks = s->subject.tasks.n > 1 || s->subject.tasks.v[0].tid >= 0;

	return by == SONDE_STAT_BY_ALL || (by == SONDE_STAT_BY_THREAD ? has_tasks : has_cpus);
}

static void from_choose_by(struct sonde_stat *s)
{
	const enum sonde_stat_by recorded = from_recorded_by(s);
	enum sonde_stat_by by = recorded;

	if (s->opts.by && from_can(s, (enum sonde_stat_by)(s->opts.by - 1)))
		by = (enum sonde_stat_by)(s->opts.by - 1);
	s->rows.by = from_can(s, by) ? by : SONDE_STAT_BY_ALL;
	s->rows.no_scale = s->from.config.is_unscaled;
	if (s->from.config.interval_ms)
		snprintf(s->from.interval, sizeof(s->from.interval), "%llu",
			 (unsigned long long)s->from.config.interval_ms);
}

/* ---- records --------------------------------------------------------------------------------- */

/* Returns 1 with a record, 0 at the end. */
static int from_next_record(struct sonde_stat *s, const struct cut **ret)
{
	struct recording *rec = s->from.rec;

	while (rec->cut_at == rec->nr_cuts) {
		const int n = recording_next_batch(rec, true);

		if (n == -EINTR && !atomic_load(&s->from.stopped))
			continue;
		if (n <= 0)
			return n == -EINTR ? 0 : n;
	}
	*ret = &rec->cuts[rec->cut_at++];
	return 1;
}

static int from_take_count(struct sonde_stat *s, struct bytes *b)
{
	struct perfdata_count c = { 0 };
	size_t event, cpu;

	TRY(perfdata_count_read(b, &c));
	event = stat_from_file_event(&s->from, c.id);
	cpu = stat_from_file_cpu(s, c.cpu);
	if (event >= s->subject.events.n)
		return bytes_fail(b, -EBADMSG, "a count of the unknown event id %llu",
				  (unsigned long long)c.id);
	if (cpu >= s->subject.cpus.n)
		return bytes_fail(b, -EBADMSG, "a count of the unknown cpu %d", (int)c.cpu);
	if (c.thread >= s->subject.tasks.n)
		return bytes_fail(b, -EBADMSG, "a count of task %u of %zu", c.thread,
				  s->subject.tasks.n);
	s->from.has_counts = true;
	s->now.v[stat_cell(&s->subject, event, cpu, c.thread)] = (struct stat_count){
		.value = c.value,
		.enabled_ns = c.enabled_ns,
		.running_ns = c.running_ns,
		.is_there = true,
	};
	return 0;
}

/* Events without counters have no counts, but rows on all cpus. */
static void from_note_cpus(struct sonde_stat *s)
{
	const size_t cells = stat_cells(&s->subject);

	for (size_t i = 0; i < cells && !s->from.has_counts; i++)
		s->now.v[i].is_there = true;
}

static int from_take_round(struct sonde_stat *s, struct bytes *b)
{
	TRY(perfdata_round_read(b, &s->from.round));
	s->from.has_round = true;
	s->now.time_ns = s->now.elapsed_ns = s->now.run_ns = s->from.round.time_ns;
	from_note_cpus(s);
	return 0;
}

static int from_take(struct sonde_stat *s, const struct cut *cut)
{
	struct perfdata_view_header head;
	struct bytes b;
	uint32_t type;

	perfdata_view_header(s->from.view, &head);
	type = get_u32(cut->bytes, head.swap);
	if (type < RECORD_HEADER_ATTR)
		return 0;
	b = bytes_init(cut->bytes, cut->len, cut->file_off, s->from.path, head.swap);
	b.pos += RECORD_HEADER_BYTES;
	b.what = "a record of counts";
	if (type != RECORD_STAT && type != RECORD_STAT_ROUND)
		return s->from.has_subject ? 0 : stat_subject_take(s, type, &b);
	if (!s->from.has_subject) {
		/* names that arrived between the records are settled */
		TRY(perfdata_view_raw(s->from.view, cut, &s->from.raw));
		TRY(stat_subject_from_file(s, &b));
		from_choose_by(s);
		TRY(stat_subject_find_places(s));
		s->from.has_subject = true;
	}
	return type == RECORD_STAT ? from_take_count(s, &b) : from_take_round(s, &b);
}

/* What the source could not read. Counts need no formats of tracepoints. */
static int from_check_defects(struct sonde_stat *s)
{
	static const enum defect kinds[] = { DEFECT_TRUNCATED,    DEFECT_BAD_SIZE,
					     DEFECT_BAD_RECORD,   DEFECT_BAD_WRAPPING,
					     DEFECT_MISSING_FILE, DEFECT_COMPRESSED,
					     DEFECT_NO_MEMORY };
	const struct defects *found = recordings_defects(&s->from.all);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (found->count[kinds[i]])
			return err_set(-EBADMSG, "%s is damaged: %s", s->from.path,
				       found->first[kinds[i]]);
	return 0;
}

/* Reads until a round is complete or the file ends. */
static int from_read_round(struct sonde_stat *s)
{
	const struct cut *cut;
	int r;

	while (!s->from.has_round && !s->from.has_ended) {
		r = from_next_record(s, &cut);
		if (r > 0)
			r = from_take(s, cut);
		else if (r == 0)
			s->from.has_ended = true;
		if (r < 0)
			return r;
	}
	return s->from.has_round ? 0 : from_check_defects(s);
}

/* ---- rounds ---------------------------------------------------------------------------------- */

/*
 * perf's report adds up the clocks of all intervals so far: the rates of an interval are for the
 * mean of them, and the time that the interval took is not known.
 */
static int from_make_perfs_interval(struct sonde_stat *s, struct sonde_stat_round *ret)
{
	TRY(stat_rows_fill(&s->rows, &s->subject, &s->interval, true));
	vec_foreach(row, &s->rows.list)
		if (!stat_event_is_clock(&s->subject.events.v[row->event]))
			row->value = (double)row->count;
	TRY(stat_metrics_fill(&s->rows, &s->subject, 0));
	vec_foreach(row, &s->rows.list) {
		row->value = (double)row->count;
		row->deviation = 0;
		row->mean_enabled_ns = (double)row->enabled_ns;
		row->mean_running_ns = (double)row->running_ns;
	}
	*ret = (struct sonde_stat_round){
		.size = sizeof(*ret),
		.kind = SONDE_STAT_INTERVAL,
		.time_ns = s->interval.time_ns,
		.run_ns = s->interval.run_ns,
		.rows = s->rows.list.v,
		.nr_rows = s->rows.list.n,
	};
	return 1;
}

static int from_interval(struct sonde_stat *s, struct sonde_stat_round *ret)
{
	s->from.has_round = false;
	stat_subtract(s);
	return s->from.is_as_perf ? from_make_perfs_interval(s, ret)
				  : stat_make_round(s, &s->interval, false, ret);
}

/* A failure is reported by the call that asks for the next round. */
static void from_read_ahead(struct sonde_stat *s)
{
	s->from.late = from_read_round(s);
	if (s->from.late == 0)
		return;
	s->from.has_ended = true;
	s->from.late_text = strdup(err_text());
	err_clear();
}

/* A run is what its counts have grown by. A file of intervals has one run. */
static int from_run(struct sonde_stat *s, struct sonde_stat_round *ret)
{
	if (s->from.config.interval_ms)
		memset(s->before.v, 0, stat_cells(&s->subject) * sizeof(*s->before.v));
	stat_subtract(s);
	s->interval.elapsed_ns = s->interval.run_ns = s->interval.time_ns;
	s->from.has_round = false;
	from_read_ahead(s);
	TRY(stat_make_round(s, &s->interval, true, ret));
	ret->is_last = !s->from.has_round;
	return 1;
}

int stat_from_file_next(struct sonde_stat *s, struct sonde_stat_round *ret)
{
	if (s->from.late < 0)
		return err_set(s->from.late, "%s",
			       s->from.late_text ? s->from.late_text : "out of memory");
	TRY(from_read_round(s));
	if (!s->from.has_round)
		return 0;
	return s->from.round.kind == PERFDATA_ROUND_INTERVAL ? from_interval(s, ret)
							     : from_run(s, ret);
}

/* ---- opening --------------------------------------------------------------------------------- */

static int from_open(struct sonde_stat *s, const char *path, const struct stat_read_options *o)
{
	const struct source_options source = {
		.window_bytes = WINDOW_BYTES,
		.unordered = true,
		.raw_records = true,
		.takes_no_events = true, /* sonde stat record -n */
		.stopped = &s->from.stopped,
	};
	char *input;

	TRY(recordings_init(&s->from.all, 1));
	input = strdup(path);
	s->from.path = strdup(strcmp(path, "-") ? path : "the standard input");
	s->from.all.opts.rules = o->rules;
	s->from.all.opts.force = o->force;
	s->from.is_as_perf = s->from.all.opts.rules->reports_counts_as_perf;
	if (!input || !s->from.path) {
		free(input);
		return err_nomem();
	}
	TRY(recording_add(&s->from.all, input, NULL, NULL, &s->from.rec));
	TRY(recording_open(s->from.rec, &source, false));
	s->from.view = perfdata_view_of(s->from.rec->source);
	if (!s->from.view)
		return err_set(-ENOTSUP, "%s: only perf.data has counts", s->from.path);
	TRY(recording_open_order(s->from.rec,
				 &(struct order_options){ .window_bytes = WINDOW_BYTES }));
	TRY(from_read_round(s));
	return s->from.has_round
		       ? 0
		       : err_set(-ENODATA, "%s has no counts: sonde stat record writes them",
				 s->from.path);
}

int stat_read(struct sonde_stat **ret, const char *path, const char *settings)
{
	struct sonde_stat *s = stat_new();
	struct stat_read_options o;
	int e;

	if (!s)
		return err_nomem();
	e = stat_read_options_parse(&o, settings);
	if (e == 0) {
		s->is_from_file = true;
		s->opts.by = o.by;
		e = from_open(s, path, &o);
	}
	if (e < 0) {
		stat_close(s);
		return e;
	}
	*ret = s;
	return 0;
}

const char *stat_from_file_info(const struct sonde_stat *s, const char *key)
{
	if (!strcmp(key, "by"))
		return stat_by_words[s->rows.by + 1];
	if (!strcmp(key, "interval"))
		return *s->from.interval ? s->from.interval : NULL;
	return recording_info(s->from.rec, key);
}

void stat_from_file_close(struct sonde_stat *s)
{
	struct stat_from_file *f = &s->from;

	recordings_done(&f->all);
	hash64_done(&f->events_by_id);
	hash64_done(&f->cpus_by_number);
	vec_done(&f->updates);
	free(f->late_text);
	free(f->path);
}
