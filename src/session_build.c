/* SPDX-License-Identifier: MIT */
/* A session comes to be: its text form becomes stages, which are checked against each other; and its end. */

#include <limits.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/near.h"
#include "base/size.h"
#include "base/sysfile.h"
#include "code.h"
#include "order/span.h"
#include "session.h"
#include "sinks/sink.h"
#include "sinks/text/records.h"

void session_free(struct sonde_session *s)
{
	if (s->opts.progress)
		sonde_progress_wipe(0);
	session_dlfilters_done(s); /* the first: they may ask for their arguments */
	order_close(s->order);
	if (s->source && !s->parts)
		s->source->ops->close(s->source);
	several_close(s->parts);
	early_filter_done(&s->early);
	late_filter_done(&s->late);
	comm_list_done(&s->stop_bt);
	event_names_done(&s->event_names);
	vec_done(&s->events_known);
	place_filter_done(&s->places);
	state_done(&s->state);
	kallsyms_close(s->kernel_symbols);
	unwind_free(s->unwinder);
	lines_table_free(s->lines);
	insn_decoder_free(s->insns);
	dso_table_free(s->dsos);
	free(s->located);
	printk_formats_done(&s->printk);
	kernel_formats_done(&s->kernel_formats);
	schema_table_done(&s->own_schemas);
	strpool_done(&s->own_strings);
	session_options_done(&s->opts);
	outbuf_done(&s->printed);
	outbuf_done(&s->defects_line);
	outbuf_done(&s->filters_line);
	refused_done(&s->refused);
	outbuf_done(&s->text);
	vec_done(&s->frames);
	free(s);
}

void session_ref(struct sonde_session *s)
{
	while (s->part_of)
		s = s->part_of;
	s->refs++;
}

void session_unref(struct sonde_session *s)
{
	while (s->part_of)
		s = s->part_of;
	if (!--s->refs)
		session_free(s);
}

/* Without filters an event need not meet them one by one. */
static bool has_filters(const struct sonde_session *s)
{
	return s->opts.time || s->opts.cpu || s->opts.pid || s->opts.tid || s->opts.comm ||
	       s->opts.event || s->opts.symbols || s->opts.dsos || s->opts.switch_on ||
	       s->opts.switch_off || s->opts.dlfilters || s->opts.graph_function;
}

static int build_filters(struct sonde_session *s)
{
	s->early = EARLY_FILTER_ALL;
	s->filtered = has_filters(s);
	if (s->opts.cpu)
		TRY(cpu_list_parse(s->opts.cpu, &s->early.cpus));
	if (s->opts.pid)
		TRY(id_list_parse(s->opts.pid, "pid", &s->late.pids));
	if (s->opts.tid)
		TRY(id_list_parse(s->opts.tid, "tid", &s->late.tids));
	if (s->opts.comm)
		TRY(comm_list_parse(s->opts.comm, "comm", s->strings, &s->late.comms));
	if (s->opts.event)
		TRY(event_names_parse(s->opts.event, &s->event_names));
	if (s->opts.dsos)
		TRY(place_filter_dsos(&s->places, s->opts.dsos, s->opts.compat));
	if (s->opts.symbols)
		TRY(place_filter_symbols(&s->places, s->opts.symbols,
					 s->opts.addr_range == UINT64_MAX ? 0 : s->opts.addr_range,
					 s->opts.compat));
	return 0;
}

/* The event of that name as its family of schemas, or under --compat the first one alone; NULL: none asked for. */
static int find_event(struct sonde_session *s, const char *name, const char *option, uint32_t *ret)
{
	struct near near;
	char guess[512];

	*ret = EVENT_SWITCH_NONE;
	if (!name)
		return 0;
	near_init(&near, name);
	vec_foreach(sc, &s->schemas->schemas) {
		if ((*sc)->kind > SONDE_SAMPLE)
			continue;
		if (!strcmp((*sc)->name, name)) {
			*ret = s->opts.compat ? (*sc)->id : (*sc)->family;
			return 0;
		}
		near_offer(&near, (*sc)->name);
	}
	near_text(&near, guess, sizeof(guess));
	return err_set(-ESRCH, "%s: the recording has no event '%s'%s", option, name, guess);
}

/* A name that means no event of the recording: nothing would come, and that would look like a quiet machine. */
static int check_event_names(struct sonde_session *s)
{
	for (size_t i = 0; i < s->event_names.nr; i++) {
		const char *name = s->event_names.names[i];
		struct near near;
		char guess[512];
		bool is_known = false;

		near_init(&near, name);
		vec_foreach(sc, &s->schemas->schemas) {
			if ((*sc)->kind > SONDE_SAMPLE)
				continue;
			is_known |= event_names_match(name, (*sc)->name,
						      (*sc)->kind == SONDE_TRACEPOINT);
			near_offer(&near, (*sc)->name);
		}
		near_text(&near, guess, sizeof(guess));
		if (!is_known)
			return err_set(-ESRCH, "--event: the recording has no event '%s'%s", name,
				       guess);
	}
	return 0;
}

int session_find_switches(struct sonde_session *s)
{
	struct event_switch *w = &s->switches;

	TRY(find_event(s, s->opts.switch_on, "--switch-on", &w->on));
	TRY(find_event(s, s->opts.switch_off, "--switch-off", &w->off));
	w->is_off = w->on != EVENT_SWITCH_NONE;
	w->shows_both = s->opts.show_on_off_events;
	w->perf = s->opts.compat != SONDE_COMPAT_NONE;
	s->is_choosy |= w->on != EVENT_SWITCH_NONE || w->off != EVENT_SWITCH_NONE;
	return 0;
}

/* perf shows no more frames than this machine's kernel would record. */
static int perf_max_frames(unsigned *ret)
{
	long max;

	errno = 0;
	max = sysfile_number(PERF_MAX_STACK_DEPTH, "/proc/sys/kernel/perf_event_max_stack");
	if (errno == ENOMEM)
		return err_nomem();
	*ret = max >= 0 && max < UINT_MAX ? (unsigned)max : PERF_MAX_STACK_DEPTH;
	return 0;
}

/* Where call chains end. */
static int build_chains(struct sonde_session *s)
{
	if (s->opts.max_stack != UINT64_MAX)
		s->max_frames =
			s->opts.max_stack < UINT_MAX ? (unsigned)s->opts.max_stack : UINT_MAX;
	else if (s->opts.compat)
		TRY(perf_max_frames(&s->max_frames));
	else
		s->max_frames = UINT_MAX;
	return s->opts.stop_bt ? comm_list_parse(s->opts.stop_bt, "symbol", s->strings, &s->stop_bt)
			       : 0;
}

/* What percents and relative times refer to; perf takes no other answer than the recording's. */
int session_find_span(struct sonde_session *s, struct time_span *ret)
{
	const struct source_ops *ops = s->source->ops;
	struct defects before = s->defects; /* what the walk meets will be met again */
	int r;

	if (ops->span && ops->span(s->source, &ret->first_ns, &ret->last_ns))
		return 0;
	if (s->opts.compat)
		return err_set(-ETIME, "the recording does not say the times of its first and last "
				       "sample, which perf needs for percents and relative times "
				       "(perf record --timestamp-boundary records them)");
	r = order_span_find(s->source, s->opts.window_bytes, ret);
	s->defects = before;
	return r;
}

int session_parse_time(struct sonde_session *s, const struct time_span *span)
{
	struct time_span on_line = *span;

	if (time_windows_need_wall(s->opts.time) && !s->clock.has_wall)
		return clock_no_wall(s);
	/* What lies outside is not read, the first sample neither. */
	if (s->clock.waits) {
		s->clock.zero_ns = (int64_t)span->first_ns;
		s->clock.waits = false;
	}
	on_line.wall_ns = s->clock.wall_ns;
	on_line.is_utc = s->opts.clock == CLOCK_SHOWN_UTC;
	return time_windows_parse(s->opts.time, &on_line, session_counts_from_first(&s->opts),
				  s->opts.compat, &s->early.time);
}

/* Nothing would come, and that would look like a quiet machine. */
static int check_has_times(const struct sonde_session *s)
{
	const struct sonde_schema *timeless = NULL;

	vec_foreach(sc, &s->schemas->schemas) {
		const struct perf_event_attr *attr = (*sc)->attr;

		if (!attr || attr->sample_type & PERF_SAMPLE_TIME ||
		    !(attr->sample_type & ~PERF_SAMPLE_IDENTIFIER))
			return 0;
		timeless = timeless ? timeless : *sc;
	}
	return timeless && !s->opts.compat
		       ? err_set(-ETIME,
				 "%s: the samples of '%s' have no times: none can be chosen by "
				 "--time (record with -T)",
				 s->opts.input, timeless->name)
		       : 0;
}

/* Of the only recording. The line's times are those recorded, with something added. */
static int build_time(struct sonde_session *s)
{
	struct time_span span = { 0 };

	if (!s->opts.time)
		return 0;
	TRY(check_has_times(s));
	if (time_windows_need_span(s->opts.time, session_counts_from_first(&s->opts))) {
		TRY(session_find_span(s, &span));
		span.first_ns += (uint64_t)s->clock.shift_ns;
		span.last_ns += (uint64_t)s->clock.shift_ns;
	}
	TRY(session_parse_time(s, &span));
	time_windows_shift(&s->early.time, -s->clock.shift_ns);
	return 0;
}

/* cpus that no event can be of: nothing would come, and that would look like a quiet machine. */
static int check_cpus(struct sonde_session *s)
{
	const char *text = s->source->ops->info(s->source, "nrcpus-available");
	unsigned long nr = text ? strtoul(text, NULL, 10) : 0;
	int32_t highest = cpu_list_max(&s->early.cpus);
	uint64_t types_met = 0;

	if (highest < 0)
		return 0;
	vec_foreach(sc, &s->schemas->schemas) {
		const struct perf_event_attr *attr = (*sc)->attr;
		uint64_t type = attr ? UINT64_C(1) << (attr->type < 63 ? attr->type : 63) : 0;

		/* The first event of a type speaks for all of it, as in perf. */
		if (!attr || types_met & type || (s->part_of && (*sc)->maker != s->source))
			continue;
		types_met |= type;
		if (!(attr->sample_type & PERF_SAMPLE_CPU))
			return err_set(-ENODATA,
				       "%s: the samples of '%s' do not say on which cpu they were "
				       "taken: cpus cannot be chosen (record with -a or "
				       "--sample-cpu)",
				       s->opts.input, (*sc)->name);
	}
	if (nr && (unsigned long)highest >= nr)
		return err_set(
			-ENODATA,
			"%s: there is no cpu %d in this recording: its machine has the cpus 0-%lu",
			s->opts.input, highest, nr - 1);
	return 0;
}

/* perf has no order where it prints the rounds instead of obeying them. */
static bool is_unordered(const struct session_options *o)
{
	return o->unsorted || (o->compat && o->show_round);
}

int session_open_source(struct sonde_session *s)
{
	enum { PART_SHIFT = 40 }; /* of numbers that are counted in each part */
	struct source_file file;
	uint64_t max_unpacked = 0;

	TRY(state_init_beside(&s->state, s->strings, (uint64_t)s->part << PART_SHIFT,
			      s->part_of ? &s->part_of->state.own_numbers : NULL));
	s->last_answer = (uint64_t)s->part << PART_SHIFT;
	s->state.keeps_maps_at_exec = s->opts.compat != SONDE_COMPAT_NONE;
	s->state.keeps_first_cgroup = s->opts.compat != SONDE_COMPAT_NONE;
	s->state.keeps_first_ksymbol = s->opts.compat != SONDE_COMPAT_NONE;
	s->state.exit_forgets_comm = s->opts.compat == SONDE_COMPAT_PERF_6_12;
	TRY(build_filters(s));
	TRY(build_chains(s));
	TRY(session_dlfilters_load(s));
	s->switches = (struct event_switch){ .on = EVENT_SWITCH_NONE, .off = EVENT_SWITCH_NONE };
	s->is_choosy =
		s->event_names.names || place_filter_is_set(&s->places) || s->dlfilters.filters.n;
	/* Read when first needed, much later; a file that the user named must not be missed silently then. */
	if (s->opts.kallsyms && access(s->opts.kallsyms, R_OK) < 0)
		return err_errno(errno, "cannot read the kernel symbols in %s", s->opts.kallsyms);
	if (s->opts.vmlinux && access(s->opts.vmlinux, R_OK) < 0)
		return err_errno(errno, "cannot read the kernel's file %s", s->opts.vmlinux);
	if (s->opts.max_unpacked)
		(void)size_parse(s->opts.max_unpacked,
				 &max_unpacked); /* session_options.c checked it */
	s->listing = text_records_wanted(&s->opts);
	s->copies = sinks[s->opts.format]->copies_records;
	TRY(source_open(&s->source,
			&(struct source_options){
				.path = s->opts.input,
				.window_bytes = s->opts.window_bytes,
				.force = s->opts.force,
				.max_unpacked = max_unpacked,
				.unordered = is_unordered(&s->opts),
				.list_records = text_records_listed(&s->opts) || s->copies,
				.compat = s->opts.compat,
				.find_format = s->opts.kernel_formats ? kernel_formats_find : NULL,
				.find_format_ctx = &s->kernel_formats,
				.stopped = &s->stopped,
				.on_packed = session_unpacked,
				.session = s,
				.schemas = s->schemas,
				.defects = &s->defects }));
	s->is_stream = s->source->ops->file(s->source, 0, &file) && file.stream;
	return check_cpus(s);
}

int session_open_order(struct sonde_session *s, size_t sharers)
{
	s->event = (struct event){ .pub.size = sizeof(s->event.pub),
				   .session = s,
				   .source = s->source };
	return order_open(&s->order, s->source,
			  &(struct order_options){ .window_bytes = s->opts.window_bytes,
						   .sharers = sharers,
						   .progress = session_progress,
						   .progress_ctx = s,
						   .time = s->opts.time && !s->opts.dump &&
									   !s->dlfilters.has_early
								   ? &s->early.time
								   : NULL,
						   .defects = &s->defects });
}

static int build(struct sonde_session *s, const char *text, const char *origin)
{
	s->strings = &s->own_strings;
	s->schemas = &s->own_schemas;
	TRY(session_options_parse(&s->opts, text, origin));
	session_progress_begin(s);
	TRY(strpool_init(s->strings));
	if (s->opts.nr_inputs > 1)
		return several_open(s, text, origin);
	TRY(session_open_source(s));
	TRY(clock_place(s, s));
	TRY(dlfilters_start(&s->dlfilters));
	TRY(build_time(s));
	TRY(check_event_names(s));
	TRY(session_find_switches(s));
	return session_open_order(s, 1);
}

int sonde_session_open(struct sonde_session **ret, const char *text, const char *origin)
{
	struct sonde_session *s;
	int r;

	NOT_NULL(ret, -EINVAL);
	NOT_NULL(text, -EINVAL);
	err_clear();
	s = calloc(1, sizeof(*s));
	if (!s)
		return err_nomem();
	session_note_memory(s);
	s->refs = 1;
	r = build(s, text, origin);
	if (r < 0) {
		session_free(s);
		return r;
	}
	session_progress_opened(s);
	*ret = s;
	return 0;
}

void sonde_session_close(struct sonde_session *s)
{
	if (s)
		session_unref(s);
}
