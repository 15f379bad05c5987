/* SPDX-License-Identifier: MIT */
/*
 * A session comes to be: its text form becomes stages, which are checked against each other; and
 * its end.
 */

#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/near.h"
#include "base/size.h"
#include "base/sysfile.h"
#include "model/sampled.h"
#include "recording/clock.h"
#include "session/progress_line.h"
#include "session/session.h"
#include "sinks/sink.h"

static void build_session_free(struct sonde_session *s)
{
	if (s->opts.progress)
		progress_line_wipe(false);
	session_dlfilters_done(s); /* first, because the filters may ask for their arguments */
	for (size_t i = 0; s->merge.lanes && i < s->recordings.nr; i++)
		refused_done(&s->merge.lanes[i].refused);
	free(s->merge.lanes);
	recordings_done(&s->recordings);
	filters_done(&s->filters);
	session_where_done(s);
	session_pair_done(s);
	vec_done(&s->events_known);
	session_options_done(&s->opts);
	outbuf_done(&s->printed);
	outbuf_done(&s->defects_line);
	outbuf_done(&s->filters_line);
	outbuf_done(&s->text);
	outbuf_done(&s->sink_notes);
	free(s);
}

void session_ref(struct sonde_session *s)
{
	s->refs++;
}

void session_unref(struct sonde_session *s)
{
	if (!--s->refs)
		build_session_free(s);
}

/* Without filters an event skips the single checks. */
static bool build_has_filters(const struct sonde_session *s)
{
	return s->opts.time || s->opts.cpu || s->opts.pid || s->opts.tid || s->opts.comm ||
	       s->opts.where || s->opts.event || s->opts.symbols || s->opts.dsos ||
	       s->opts.switch_on || s->opts.switch_off || s->opts.dlfilters ||
	       s->opts.graph_function;
}

static int build_filters(struct sonde_session *s)
{
	const struct session_options *o = &s->opts;
	struct filters *f = &s->filters;

	f->is_set = build_has_filters(s);
	if (o->cpu)
		TRY(cpu_list_parse(o->cpu, &f->cpus));
	if (o->pid)
		TRY(id_list_parse(o->pid, "pid", &f->late.pids));
	if (o->tid)
		TRY(id_list_parse(o->tid, "tid", &f->late.tids));
	if (o->comm)
		TRY(comm_list_parse(o->comm, "comm", &s->recordings.strings, &f->late.comms));
	if (o->where)
		TRY(where_parse(o->where, &s->where.expr));
	if (o->event)
		TRY(event_names_parse(o->event, &f->names));
	if (o->dsos)
		TRY(place_filter_dsos(&f->places, o->dsos, o->rules));
	if (o->symbols)
		TRY(place_filter_symbols(&f->places, o->symbols,
					 o->addr_range == UINT64_MAX ? 0 : o->addr_range,
					 o->rules));
	TRY(session_dlfilters_load(s));
	f->switches = (struct event_switch){ .on = EVENT_SWITCH_NONE, .off = EVENT_SWITCH_NONE };
	f->keeps_order = place_filter_is_set(&f->places) || s->where.expr.needs_state ||
			 s->dlfilters.filters.n;
	f->is_choosy = f->keeps_order || f->names.names;
	return 0;
}

/*
 * Finds the family of schemas of the named event; under perf's rule only the first schema. name is
 * NULL if the option was not given.
 */
static int build_find_event(struct sonde_session *s, const char *name, const char *option,
			    uint32_t *ret)
{
	struct near near;
	char guess[512];

	*ret = EVENT_SWITCH_NONE;
	if (!name)
		return 0;
	near_init(&near, name);
	vec_foreach(sc, &s->recordings.schemas.schemas) {
		if ((*sc)->kind > SONDE_SAMPLE || (*sc)->traits & SCHEMA_PAIR)
			continue;
		if (!strcmp((*sc)->name, name)) {
			*ret = s->opts.rules->switches_by_first_event ? (*sc)->id : (*sc)->family;
			return 0;
		}
		near_offer(&near, (*sc)->name);
	}
	near_text(&near, guess, sizeof(guess));
	return err_set(-ESRCH, "%s: the recording has no event '%s'%s", option, name, guess);
}

/*
 * Refuses a name that matches no event of the recording: the empty output would look like a quiet
 * machine.
 */
static int build_check_event_names(struct sonde_session *s)
{
	for (size_t i = 0; i < s->filters.names.nr; i++) {
		const char *name = s->filters.names.names[i];
		struct near near;
		char guess[512];
		bool is_known = session_pair_is_name(s, name);

		near_init(&near, name);
		vec_foreach(sc, &s->recordings.schemas.schemas) {
			if ((*sc)->kind > SONDE_SAMPLE)
				continue;
			is_known |= event_names_match(name, (*sc)->name,
						      (*sc)->kind == SONDE_TRACEPOINT);
			near_offer(&near, (*sc)->name);
		}
		near_text(&near, guess, sizeof(guess));
		if (!is_known)
			return err_set(-ESRCH, "the recording has no event '%s'%s", name, guess);
	}
	return 0;
}

static int build_find_switches(struct sonde_session *s)
{
	struct event_switch *w = &s->filters.switches;

	TRY(build_find_event(s, s->opts.switch_on, "--switch-on", &w->on));
	TRY(build_find_event(s, s->opts.switch_off, "--switch-off", &w->off));
	w->is_off = w->on != EVENT_SWITCH_NONE;
	w->shows_both = s->opts.show_on_off_events;
	w->omits_one = s->opts.rules->switch_off_omits_one;
	s->filters.keeps_order |= w->on != EVENT_SWITCH_NONE || w->off != EVENT_SWITCH_NONE;
	s->filters.is_choosy |= s->filters.keeps_order;
	return 0;
}

/* perf shows no more frames than this machine's kernel would record. */
static int build_perf_max_frames(unsigned *ret)
{
	long max;

	errno = 0;
	max = sysfile_number(PERF_MAX_STACK_DEPTH, "/proc/sys/kernel/perf_event_max_stack");
	if (errno == ENOMEM)
		return err_nomem();
	*ret = max >= 0 && max < UINT_MAX ? (unsigned)max : PERF_MAX_STACK_DEPTH;
	return 0;
}

/* Sets the limits at which call chains end. */
static int build_chains(struct sonde_session *s)
{
	struct recording_options *r = &s->recordings.opts;
	const uint64_t asked = s->opts.max_stack; /* UINT64_MAX if not given */

	r->max_frames = asked < UINT_MAX ? (unsigned)asked : UINT_MAX;
	if (asked == UINT64_MAX && s->opts.rules->max_frames_of_machine)
		TRY(build_perf_max_frames(&r->max_frames));
	return s->opts.stop_bt ? comm_list_parse(s->opts.stop_bt, "symbol", &s->recordings.strings,
						 &r->stop_bt)
			       : 0;
}

/* The number of threads from the session, or else from the environment. */
static int build_find_threads(const struct session_options *o, unsigned *ret)
{
	const char *text = getenv("SONDE_THREADS");
	unsigned long nr = 0;
	char *end;

	if (o->threads != KEY_NO_NUMBER) {
		*ret = (unsigned)o->threads;
		return 0;
	}
	if (text && *text) {
		nr = strtoul(text, &end, 10);
		if (*text < '0' || *text > '9' || *end || nr > SESSION_MAX_INPUTS + 1)
			return err_set(-EINVAL,
				       "SONDE_THREADS=%s: a number from 0 to %d is expected (1: "
				       "only the caller's thread; 0: as many as save time)",
				       text, SESSION_MAX_INPUTS + 1);
	}
	*ret = (unsigned)nr;
	return 0;
}

/* Sets the options of all recordings. */
static int build_recording_options(struct sonde_session *s)
{
	const struct session_options *o = &s->opts;

	s->recordings.opts = (struct recording_options){
		.symfs = o->symfs,
		.kallsyms = o->kallsyms,
		.vmlinux = o->vmlinux,
		.buildid_dir = o->buildid_dir,
		.rules = o->rules,
		.clock = o->clock,
		.no_follow = o->no_follow,
		.force = o->force,
		.callchain = o->callchain,
		.demangle = o->demangle,
		.demangle_kernel = o->demangle_kernel,
		.show_kernel_path = o->show_kernel_path,
		.inline_frames = o->inline_frames,
		.stitch_lbr = o->stitch_lbr,
	};
	TRY(build_find_threads(o, &s->recordings.opts.threads));
	TRY(build_chains(s));
	/*
	 * The file is read at its first use, much later. A file that the user named must not be
	 * ignored silently then.
	 */
	if (o->kallsyms && access(o->kallsyms, R_OK) < 0)
		return err_errno(errno, "cannot read the kernel symbols in %s", o->kallsyms);
	if (o->vmlinux && access(o->vmlinux, R_OK) < 0)
		return err_errno(errno, "cannot read the kernel's file %s", o->vmlinux);
	return 0;
}

/* ---- times ----------------------------------------------------------------------------------- */

/* Finds the times of the first and last sample of all recordings, on the line of time. */
static int build_find_span(struct sonde_session *s, struct time_span *ret)
{
	struct time_span span, all = { .first_ns = UINT64_MAX };

	for (size_t i = 0; i < s->recordings.nr; i++) {
		struct recording *rec = &s->recordings.v[i];
		const uint64_t shift_ns = (uint64_t)rec->clock.shift_ns;

		TRY(recording_find_span(rec, s->opts.window_bytes, &span));
		if (span.first_ns + shift_ns < all.first_ns)
			all.first_ns = span.first_ns + shift_ns;
		if (span.last_ns + shift_ns > all.last_ns)
			all.last_ns = span.last_ns + shift_ns;
	}
	*ret = all;
	return 0;
}

/* Parses time= into windows on the line of time. */
static int build_parse_time(struct sonde_session *s, struct time_span span,
			    struct time_windows *ret)
{
	const struct session_options *o = &s->opts;
	struct timeline *line = &s->recordings.line;

	if (time_windows_need_wall(o->time) && !line->has_wall)
		return clock_no_wall(&s->recordings.v[0]);
	/* Samples outside the windows are not read, not even the first one. */
	if (line->waits) {
		line->zero_ns = (int64_t)span.first_ns;
		line->waits = false;
	}
	span.wall_ns = line->wall_ns;
	span.is_utc = o->clock == CLOCK_SHOWN_UTC;
	return time_windows_parse(o->time, &span, session_counts_from_first(o), o->rules, ret);
}

/* perf's recordings may have no times; a CTF trace has none if it has no clock. */
static const char *build_time_advice(const struct recording *rec)
{
	return source_read_clock(rec->source).is_known ? " (record with -T)"
						       : ": the recording has no clock";
}

/* Without times no sample would pass, and that would look like a quiet machine. */
static int build_check_has_times(struct sonde_session *s)
{
	const struct sonde_schema *timeless = NULL;

	vec_foreach(sc, &s->recordings.schemas.schemas) {
		uint64_t sampled = (*sc)->sampled;

		if (sampled & SAMPLED_TIME || !(sampled & ~SAMPLED_IDENTIFIER))
			return 0;
		timeless = timeless ? timeless : *sc;
	}
	return timeless && !s->opts.rules->takes_time_without_times
		       ? err_set(-ETIME,
				 "%s: the samples of '%s' have no times: none can be chosen by "
				 "--time%s",
				 s->opts.input, timeless->name,
				 build_time_advice(&s->recordings.v[0]))
		       : 0;
}

/* The windows are parsed once, on the line; each recording gets them in its own clock. */
static int build_time(struct sonde_session *s)
{
	struct time_span span = { 0 };
	struct time_windows on_line;
	int r = 0;

	if (!s->opts.time)
		return 0;
	if (s->recordings.nr == 1)
		TRY(build_check_has_times(s));
	if (time_windows_need_span(s->opts.time, session_counts_from_first(&s->opts)))
		TRY(build_find_span(s, &span));
	TRY(build_parse_time(s, span, &on_line));
	for (size_t i = 0; i < s->recordings.nr; i++) {
		struct recording *rec = &s->recordings.v[i];

		r = time_windows_copy(&on_line, &rec->early.time);
		if (r < 0)
			break;
		time_windows_shift(&rec->early.time, -rec->clock.shift_ns);
		rec->early.time.has_time_zero = rec->clock.has_time_zero;
	}
	time_windows_done(&on_line);
	return r;
}

/* Without times there is no order. perf's recordings of one process have no times by default. */
static int build_check_times(const struct recording *rec)
{
	vec_foreach(sc, &rec->all->schemas.schemas) {
		if ((*sc)->kind <= SONDE_SAMPLE && (*sc)->maker == rec->source &&
		    !((*sc)->sampled & SAMPLED_TIME))
			return err_set(
				-ETIME,
				"%s: the samples of '%s' have no times, so they cannot be merged "
				"with those of other recordings%s",
				rec->input, (*sc)->name, build_time_advice(rec));
	}
	return 0;
}

/* ---- recordings ------------------------------------------------------------------------------ */

/* Refuses cpus that no event can have: the empty output would look like a quiet machine. */
static int build_check_cpus(const struct recording *rec)
{
	const char *text = recording_info(rec, "nrcpus-available");
	unsigned long nr = text ? strtoul(text, NULL, 10) : 0;
	int32_t highest = cpu_list_max(&rec->early.cpus);
	uint64_t types_met = 0;

	if (highest < 0)
		return 0;
	vec_foreach(sc, &rec->all->schemas.schemas) {
		const struct perf_event_attr *attr = (*sc)->attr;
		uint32_t number = attr ? attr->type : (uint32_t)(*sc)->event_class;
		uint64_t type = UINT64_C(1) << (number < 63 ? number : 63);

		/* The first event of a type decides for the type, as in perf. */
		if ((*sc)->kind > SONDE_SAMPLE || types_met & type || (*sc)->maker != rec->source)
			continue;
		types_met |= type;
		if (!((*sc)->sampled & SAMPLED_CPU))
			return err_set(-EINVAL,
				       "%s: the samples of '%s' do not say on which cpu they were "
				       "taken: cpus cannot be chosen (record with -a or "
				       "--sample-cpu)",
				       rec->input, (*sc)->name);
	}
	if (nr && (unsigned long)highest >= nr)
		return err_set(
			-EINVAL,
			"%s: there is no cpu %d in this recording: its machine has the cpus 0-%lu",
			rec->input, highest, nr - 1);
	return 0;
}

/*
 * True if the input is a file of a recording that was named before. An offset given after the file
 * belongs to that recording: *offset becomes NULL if the recording takes ownership.
 */
static int build_is_read_already(const struct sonde_session *s, const char *input, char **offset)
{
	struct recording *reader = recordings_find_reader(&s->recordings, input);

	if (!reader || !*offset)
		return reader != NULL;
	if (reader->offset && strcmp(reader->offset, *offset) != 0)
		return err_set(-EINVAL,
			       "%s and %s are files of one recording, which cannot have "
			       "two offsets (%s and %s)",
			       reader->input, input, reader->offset, *offset);
	if (!reader->offset) {
		reader->offset = *offset;
		*offset = NULL;
	}
	return true;
}

/*
 * Adds the i-th input and opens its source. Ignores a file of a recording named before. Takes
 * *stream, which is read in place of the input, unless it is NULL.
 */
static int build_open_input(struct sonde_session *s, unsigned i, uint64_t max_unpacked,
			    struct stream **stream)
{
	const struct session_options *o = &s->opts;
	const struct sink_wants wants = session_source_wants(s);
	struct source_options opts = {
		.window_bytes = o->window_bytes,
		.max_unpacked = max_unpacked,
		.unordered = o->unsorted || wants.unordered,
		.raw_records = wants.raw_records,
		.stopped = &s->stopped,
		.wake_ns = &s->wake_ns,
		.on_packed = session_unpacked,
	};
	struct recording *rec;
	char *input, *offset;
	int r;

	TRY(session_options_input(o, i, &input, &offset));
	r = build_is_read_already(s, input, &offset);
	if (r) {
		free(input);
		free(offset);
		return r < 0 ? r : 0;
	}
	TRY(recording_add(&s->recordings, input, offset, s, &rec));
	s->merge.lanes[rec->nr].rec = rec;
	for (unsigned k = 0; k < rec->nr && !strcmp(rec->input, "-"); k++)
		if (!strcmp(s->recordings.v[k].input, "-"))
			return err_set(-EINVAL, "the standard input (-i -) can be read only once: "
						"name the other recording by its file");
	rec->early.cpus = s->filters.cpus;
	opts.on_packed_ctx = rec;
	opts.stream = *stream;
	*stream = NULL;
	if (opts.stream) {
		opts.stream->stopped = &s->stopped;
		opts.stream->wake_ns = &s->wake_ns;
	}
	rec->kernel_formats.folder = o->tracefs;
	TRY(recording_open(rec, &opts, o->kernel_formats || o->tracefs));
	s->is_stream |= rec->is_stream;
	TRY(build_check_cpus(rec));
	return o->nr_inputs > 1 ? build_check_times(rec) : 0;
}

static int build_open_inputs(struct sonde_session *s, struct stream **stream)
{
	uint64_t max_unpacked = 0;

	if (s->opts.max_unpacked)
		(void)size_parse(s->opts.max_unpacked, &max_unpacked); /* options.c checked it */
	s->wants = session_caller_wants(s);
	s->merge.lacks = true;
	s->merge.lanes = calloc(s->opts.nr_inputs, sizeof(*s->merge.lanes));
	if (!s->merge.lanes)
		return err_nomem();
	for (unsigned i = 0; i < s->opts.nr_inputs; i++)
		TRY(build_open_input(s, i, max_unpacked, stream));
	for (size_t i = 0; i < s->recordings.nr; i++)
		TRY(clock_place(&s->recordings.v[i]));
	return 0;
}

static int build_open_orders(struct sonde_session *s)
{
	/* A dump has lines of refused samples, too. */
	const bool skips =
		s->opts.time && !session_source_wants(s).refused_samples && !s->dlfilters.has_early;

	for (size_t i = 0; i < s->recordings.nr; i++) {
		struct recording *rec = &s->recordings.v[i];

		TRY(recording_open_order(rec, &(struct order_options){
						      .window_bytes = s->opts.window_bytes,
						      .progress = session_progress,
						      .progress_ctx = s,
						      .time = skips ? &rec->early.time : NULL,
					      }));
	}
	return 0;
}

static int build(struct sonde_session *s, const char *text, const char *origin,
		 struct stream **stream)
{
	TRY(session_options_parse(&s->opts, text, origin));
	session_progress_begin(s);
	TRY(recordings_init(&s->recordings, s->opts.nr_inputs));
	if (s->opts.nr_inputs > 1 && !sinks[s->opts.format]->takes_several)
		return err_set(-EINVAL, "%s: one recording at a time, not %u",
			       sink_names[s->opts.format], s->opts.nr_inputs);
	TRY(build_filters(s));
	TRY(session_pair_parse(s));
	TRY(build_recording_options(s));
	TRY(build_open_inputs(s, stream));
	TRY(dlfilters_start(&s->dlfilters));
	TRY(build_time(s));
	TRY(session_pair_open(s));
	TRY(build_check_event_names(s));
	TRY(session_where_open(s));
	TRY(build_find_switches(s));
	return build_open_orders(s);
}

int session_open(struct sonde_session **ret, const char *text, const char *origin,
		 struct stream *stream)
{
	struct sonde_session *s = calloc(1, sizeof(*s));
	int r;

	if (!s) {
		stream_free(stream);
		return err_nomem();
	}
	recordings_note_memory(&s->recordings);
	s->refs = 1;
	r = build(s, text, origin, &stream);
	stream_free(stream); /* NULL if an input was opened */
	if (r < 0) {
		build_session_free(s);
		return r;
	}
	session_progress_opened(s);
	*ret = s;
	return 0;
}
