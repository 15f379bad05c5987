/* SPDX-License-Identifier: MIT */
#include "recording/recording.h"
#include "recording/stitch.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "order/span.h"

enum { NUMBERS_SHIFT = 40 }; /* each recording counts its numbers from its index shifted by this */

int recordings_init(struct recordings *all, size_t nr)
{
	TRY(strpool_init(&all->strings));
	all->v = calloc(nr, sizeof(*all->v));
	return all->v ? 0 : err_nomem();
}

static void recording_done(struct recording *rec)
{
	/* In a forked child, order and source are as the thread left them at the fork. */
	const bool is_lost = reader_is_lost(rec->reader);

	reader_close(rec->reader);
	if (!is_lost)
		order_close(rec->order);
	free(rec->own_events);
	if (rec->source && !is_lost)
		rec->source->ops->close(rec->source);
	time_windows_done(&rec->early.time);
	state_done(&rec->state);
	kallsyms_close(rec->kernel_symbols);
	unwind_free(rec->unwinder);
	stitch_done(&rec->stitches);
	lines_table_free(rec->lines);
	insn_decoder_free(rec->insns);
	dso_table_free(rec->dsos);
	free(rec->located);
	printk_formats_done(&rec->printk);
	kernel_formats_done(&rec->kernel_formats);
	vec_done(&rec->frames);
	vec_done(&rec->sockets);
	free(rec->input);
	free(rec->offset);
}

void recordings_done(struct recordings *all)
{
	for (size_t i = 0; i < all->nr; i++)
		recording_done(&all->v[i]);
	free(all->v);
	comm_list_done(&all->opts.stop_bt);
	dso_ids_done(&all->dso_ids);
	schema_table_done(&all->schemas);
	strpool_done(&all->strings);
}

int recording_add(struct recordings *all, char *take_input, char *take_offset,
		  struct sonde_session *session, struct recording **ret)
{
	struct recording *rec = &all->v[all->nr];
	const uint64_t first_number = (uint64_t)all->nr << NUMBERS_SHIFT;
	const struct rules *rules = all->opts.rules;

	*rec = (struct recording){
		.all = all,
		.opts = &all->opts,
		.strings = &all->strings,
		.session = session,
		.nr = (unsigned)all->nr,
		.input = take_input,
		.offset = take_offset,
		.early = EARLY_FILTER_ALL,
		.last_answer = first_number,
	};
	all->nr++;
	TRY(state_init_beside(&rec->state, &all->strings, first_number, &all->numbers));
	rec->state.keeps_maps_at_exec = rules->keeps_maps_at_exec;
	rec->state.keeps_first_cgroup = rules->keeps_first_cgroup;
	rec->state.keeps_first_ksymbol = rules->keeps_first_ksymbol;
	rec->state.exit_forgets_comm = rules->pub.exit_forgets_task;
	*ret = rec;
	return 0;
}

/* ---- files of one recording that are named one by one ---------------------------------------- */

static bool recording_is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool recording_reads_file(const struct recording *rec, const struct stat *file)
{
	struct source_file f;
	struct stat st;

	for (unsigned i = 0; rec->source && rec->source->ops->file(rec->source, i, &f); i++) {
		if (!f.stream && fstat(f.fd, &st) == 0 && recording_is_same_file(&st, file))
			return true;
	}
	return false;
}

struct recording *recordings_find_reader(const struct recordings *all, const char *path)
{
	struct stat file, named;

	if (!strcmp(path, "-") || stat(path, &file) < 0 || !S_ISREG(file.st_mode))
		return NULL;
	for (size_t i = 0; i < all->nr; i++) {
		struct recording *rec = &all->v[i];

		if (stat(rec->input, &named) == 0 && !recording_is_same_file(&named, &file) &&
		    recording_reads_file(rec, &file))
			return rec;
	}
	return NULL;
}

/*
 * Refuses a folder if an earlier recording already reads one of its files. The same path named
 * twice is read twice.
 */
static int recording_check_folder(const struct recording *rec)
{
	struct source_file f;
	struct stat st;

	if (stat(rec->input, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	for (unsigned i = 0; rec->source->ops->file(rec->source, i, &f); i++) {
		for (size_t k = 0; k < rec->nr && fstat(f.fd, &st) == 0; k++) {
			const struct recording *other = &rec->all->v[k];

			if (strcmp(other->input, rec->input) != 0 &&
			    recording_reads_file(other, &st))
				return err_set(-EINVAL,
					       "%s holds %s, which is read already with %s: name "
					       "one of the two",
					       rec->input, f.path, other->input);
		}
	}
	return 0;
}

int recording_open(struct recording *rec, const struct source_options *opts, bool finds_formats)
{
	struct source_options o = *opts;
	struct source_file file;
	int r;

	o.path = rec->input;
	o.force = rec->opts->force;
	o.rules = rec->opts->rules;
	o.find_format = finds_formats ? kernel_formats_find : NULL;
	o.find_format_ctx = &rec->kernel_formats;
	o.find_event = kernel_formats_find_event;
	o.has_copied_formats = rec->kernel_formats.folder;
	o.schemas = &rec->all->schemas;
	o.defects = &rec->defects;
	o.read_defects = &rec->read_defects;
	rec->has_raw_records = o.raw_records;
	rec->stopped = opts->stopped;
	rec->wake_ns = opts->wake_ns;
	r = source_open(&rec->source, &o);
	defects_move(&rec->defects, &rec->read_defects);
	TRY(r);
	rec->clock.has_time_zero = source_read_traits(rec->source).has_time_zero;
	rec->is_stream = rec->source->ops->file(rec->source, 0, &file) && file.stream;
	return rec->nr ? recording_check_folder(rec) : 0;
}

static struct event recording_empty_event(struct recording *rec)
{
	return (struct event){
		.pub.size = sizeof(struct sonde_event),
		.recording = rec,
		.source = rec->source,
	};
}

int recording_open_order(struct recording *rec, const struct order_options *opts)
{
	struct order_options o = *opts;

	rec->events = rec->own_events = calloc(RECORDING_EVENTS, sizeof(*rec->events));
	if (!rec->events)
		return err_nomem();
	rec->progress = opts->progress;
	rec->progress_ctx = opts->progress_ctx;
	rec->decode_max = RECORDING_EVENTS;
	for (int i = 0; i < RECORDING_EVENTS; i++)
		rec->events[i] = recording_empty_event(rec);
	o.sharers = rec->all->nr;
	o.defects = &rec->read_defects;
	return order_open(&rec->order, rec->source, &o);
}

/* Percents and relative times refer to this span. perf accepts only a span that was recorded. */
int recording_find_span(struct recording *rec, size_t window_bytes, struct time_span *ret)
{
	/* reading will count the defects of this walk again */
	struct defects before = rec->defects;
	int r;

	if (source_span(rec->source, &ret->first_ns, &ret->last_ns))
		return 0;
	if (rec->opts->rules->needs_recorded_span)
		return err_set(-ETIME, "the recording does not say the times of its first and last "
				       "sample, which perf needs for percents and relative times "
				       "(perf record --timestamp-boundary records them)");
	r = order_span_find(rec->source, window_bytes, ret);
	rec->defects = before;
	defects_clear(&rec->read_defects);
	return r;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* Starting a thread costs less than a hundredth of the time that reading this much takes. */
#define LEAST_AHEAD_BYTES (UINT64_C(8) << 20)

static bool recording_has_cpus(int nr)
{
	cpu_set_t cpus;

	return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 && CPU_COUNT(&cpus) >= nr;
}

/* A pipe is usually live: its caller waits for events to occur, so a reader would not help. */
static bool recording_is_long(const struct recording *rec)
{
	struct source_file f;
	uint64_t bytes = 0;

	for (unsigned i = 0; rec->source->ops->file(rec->source, i, &f); i++) {
		if (f.stream)
			return f.stream->fd < 0;
		bytes += f.end - f.begin;
	}
	return bytes >= LEAST_AHEAD_BYTES;
}

static bool recording_wants_reader(const struct recording *rec)
{
	const unsigned threads = rec->opts->threads ? rec->opts->threads : 2;

	if (rec->has_raw_records || rec->nr + 1 >= threads)
		return false;
	return rec->opts->threads || (recording_is_long(rec) && recording_has_cpus(2));
}

/* Starts a reader if one is wanted. If no thread can be started, the caller's thread reads. */
static void recording_start_reader(struct recording *rec, bool by_record)
{
	const struct reader_options o = {
		.order = rec->order,
		.source = rec->source,
		.like = recording_empty_event(rec),
		.read_defects = &rec->read_defects,
		.defects = &rec->defects,
		.wants = &rec->all->wants,
		.stopped = rec->stopped,
		.wake_ns = rec->wake_ns,
		.is_stream = rec->is_stream,
		.decodes = !by_record,
		.progress = rec->progress,
		.progress_ctx = rec->progress_ctx,
	};

	rec->is_reading = true;
	if (recording_wants_reader(rec))
		(void)reader_start(&rec->reader, &o);
}

int recording_pass_over(struct recording *rec)
{
	return rec->is_reading ? 0 : order_pass_over(rec->order);
}

int recording_next_batch(struct recording *rec, bool by_record)
{
	int n;

	if (__builtin_expect(!rec->is_reading, 0))
		recording_start_reader(rec, by_record);
	rec->ahead = NULL;
	rec->nr_cuts = rec->cut_at = rec->nr_events = rec->event_at = rec->stretch_at = 0;
	if (rec->reader && reader_runs(rec->reader)) {
		n = reader_next(rec->reader, &rec->ahead);
		if (rec->ahead)
			rec->cuts = rec->ahead->cuts;
	} else {
		n = order_next(rec->order, &rec->cuts);
		defects_move(&rec->defects, &rec->read_defects);
	}
	rec->nr_cuts = n > 0 ? n : 0;
	if (!n)
		order_end(rec->order); /* others may need much memory from now on */
	return n;
}

/* The stretch at cut_at, else the next one; NULL if there is none that may be used. */
static const struct stretch *recording_next_stretch(struct recording *rec)
{
	const struct reader_batch *b = rec->ahead;

	if (!b || b->wants != atomic_load_explicit(&rec->all->wants, memory_order_relaxed))
		return NULL;
	while (rec->stretch_at < b->nr_stretches && b->stretches[rec->stretch_at].cut < rec->cut_at)
		rec->stretch_at++;
	return rec->stretch_at < b->nr_stretches ? &b->stretches[rec->stretch_at] : NULL;
}

int recording_decode(struct recording *rec)
{
	const struct stretch *ahead = recording_next_stretch(rec);
	int n, nr = ahead ? ahead->cut : rec->nr_cuts;

	rec->event_at = 0;
	if (ahead && ahead->cut == rec->cut_at) {
		rec->events = &rec->ahead->events[ahead->event];
		rec->cut_at = ahead->end_cut;
		/* A single event may be unwanted by now. pump.c checks several one by one. */
		n = ahead->nr_events == 1 && rec->events->schema->unwanted ? 0 : ahead->nr_events;
		rec->nr_events = n;
		return n;
	}
	rec->events = rec->own_events;
	n = rec->source->ops->decode(rec->source, rec->cuts, nr, &rec->cut_at, rec->events,
				     rec->decode_max);
	if (__builtin_expect(rec->decode_max < RECORDING_EVENTS, 0))
		rec->decode_max *= 2;
	rec->nr_events = n > 0 ? n : 0;
	return n;
}

void recording_progress(const struct recording *rec, uint64_t *done, uint64_t *total)
{
	if (rec->reader && reader_runs(rec->reader))
		reader_progress(rec->reader, done, total);
	else
		order_progress(rec->order, done, total);
}

struct order_stats recording_order_stats(const struct recording *rec)
{
	struct order_stats stats = { 0 };

	if (rec->reader && reader_runs(rec->reader))
		return rec->ahead ? rec->ahead->stats : stats;
	if (rec->order)
		order_stats(rec->order, &stats);
	return stats;
}

/* ---- questions ------------------------------------------------------------------------------- */

const char *recording_info(const struct recording *rec, const char *key)
{
	return source_info(rec->source, key);
}

int32_t recording_socket(struct recording *rec, int32_t cpu)
{
	const char *list = rec->sockets_known ? NULL : source_info(rec->source, "cpu-sockets");

	rec->sockets_known = true;
	while (list && *list) {
		char *end;
		const int32_t socket = (int32_t)strtol(list, &end, 10);

		if (vec_push(&rec->sockets, socket) < 0)
			break;
		list = end + (*end == ',');
	}
	return cpu >= 0 && (size_t)cpu < rec->sockets.n ? rec->sockets.v[cpu] : -1;
}

const char *recording_cgroup(const struct recording *rec, uint64_t id)
{
	return state_cgroup(&rec->state, id);
}

/* ---- defects --------------------------------------------------------------------------------- */

void recordings_note_memory(struct recordings *all)
{
	const void *thread;
	uint64_t count = err_nomem_count(&thread);

	if (all->nr && all->nomem_thread == thread && count > all->nomem_seen)
		defects_add(&all->v[0].defects, DEFECT_NO_MEMORY, count - all->nomem_seen, NULL);
	all->nomem_thread = thread;
	all->nomem_seen = count;
}

/* Sums up one kind and lists each recording's count: "a.data: 3, first at 0x10; b.data: 1" */
static void recording_sum_kind(struct recordings *all, int kind)
{
	struct defects *sum = &all->sum;
	struct outbuf where = { 0 };
	const char *comma = "";

	sum->count[kind] = 0;
	for (size_t i = 0; i < all->nr; i++) {
		const struct defects *d = &all->v[i].defects;

		if (!d->count[kind])
			continue;
		outbuf_fmt(&where, "%s%s: %llu", comma, all->v[i].input,
			   (unsigned long long)d->count[kind]);
		if (d->first[kind][0])
			outbuf_fmt(&where, ", first %s", d->first[kind]);
		sum->count[kind] += d->count[kind];
		comma = "; ";
	}
	outbuf_char(&where, '\0');
	snprintf(sum->first[kind], sizeof(sum->first[kind]), "%s", where.failed ? "" : where.data);
	outbuf_done(&where);
}

const struct defects *recordings_defects(struct recordings *all)
{
	if (all->nr == 1)
		return &all->v[0].defects;
	for (int kind = 0; kind < NR_DEFECTS; kind++)
		recording_sum_kind(all, kind);
	return &all->sum;
}

const struct sonde_defect *recordings_defect(struct recordings *all, size_t i)
{
	recordings_note_memory(all);
	return defects_get(recordings_defects(all), i, &all->borrowed) ? &all->borrowed : NULL;
}
