/* SPDX-License-Identifier: MIT */
/*
 * A session: its text form becomes stages, the pump moves events through them.
 *
 *	source --cut--> order --records in time order--> source.decode --> early --> state --> late --> caller or sink
 */

#include "session.h"

#include <linux/perf_event.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/near.h"
#include "code.h"
#include "order/span.h"
#include "sinks/sink.h"
#include "sinks/text/records.h"

static void session_free(struct sonde_session *s)
{
	session_dlfilters_done(s); /* the first: they may ask for their arguments */
	order_close(s->order);
	if (s->source)
		s->source->ops->close(s->source);
	early_filter_done(&s->early);
	late_filter_done(&s->late);
	comm_list_done(&s->stop_bt);
	place_filter_done(&s->places);
	state_done(&s->state);
	kallsyms_close(s->kernel_symbols);
	unwind_free(s->unwinder);
	lines_table_free(s->lines);
	insn_decoder_free(s->insns);
	dso_table_free(s->dsos);
	free(s->located);
	printk_formats_done(&s->printk);
	schema_table_done(&s->schemas);
	strpool_done(&s->strings);
	session_options_done(&s->opts);
	outbuf_done(&s->printed);
	outbuf_done(&s->defects_line);
	outbuf_done(&s->text);
	vec_done(&s->frames);
	free(s);
}

void session_ref(struct sonde_session *s)
{
	s->refs++;
}

void session_unref(struct sonde_session *s)
{
	if (!--s->refs)
		session_free(s);
}

/* Without filters an event need not meet them one by one. */
static bool has_filters(const struct sonde_session *s)
{
	return s->opts.time || s->opts.cpu || s->opts.pid || s->opts.tid || s->opts.comm ||
	       s->opts.symbols || s->opts.dsos || s->opts.switch_on || s->opts.switch_off ||
	       s->opts.dlfilters || s->opts.graph_function;
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
		TRY(comm_list_parse(s->opts.comm, "comm", &s->strings, &s->late.comms));
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
	vec_foreach(sc, &s->schemas.schemas) {
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

static int build_switches(struct sonde_session *s)
{
	struct event_switch *w = &s->switches;

	TRY(find_event(s, s->opts.switch_on, "--switch-on", &w->on));
	TRY(find_event(s, s->opts.switch_off, "--switch-off", &w->off));
	w->is_off = w->on != EVENT_SWITCH_NONE;
	w->shows_both = s->opts.show_on_off_events;
	w->perf = s->opts.compat != SONDE_COMPAT_NONE;
	s->is_choosy = place_filter_is_set(&s->places) || w->on != EVENT_SWITCH_NONE ||
		       w->off != EVENT_SWITCH_NONE || s->dlfilters.filters.n;
	return 0;
}

/* perf shows no more frames than this machine's kernel would record. */
static unsigned perf_max_frames(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_stack", "re");
	unsigned max;

	if (!f || fscanf(f, "%u", &max) != 1)
		max = PERF_MAX_STACK_DEPTH;
	if (f)
		fclose(f);
	return max;
}

/* Where call chains end. */
static int build_chains(struct sonde_session *s)
{
	if (s->opts.max_stack != UINT64_MAX)
		s->max_frames =
			s->opts.max_stack < UINT_MAX ? (unsigned)s->opts.max_stack : UINT_MAX;
	else
		s->max_frames = s->opts.compat ? perf_max_frames() : UINT_MAX;
	return s->opts.stop_bt
		       ? comm_list_parse(s->opts.stop_bt, "symbol", &s->strings, &s->stop_bt)
		       : 0;
}

/* What percents and relative times refer to; perf takes no other answer than the recording's. */
static int find_span(struct sonde_session *s, struct time_span *ret)
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

static int build_time(struct sonde_session *s)
{
	struct time_span span = { 0 };

	if (!s->opts.time)
		return 0;
	if (time_windows_need_span(s->opts.time, s->opts.reltime))
		TRY(find_span(s, &span));
	return time_windows_parse(s->opts.time, &span, s->opts.reltime, s->opts.compat,
				  &s->early.time);
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
	vec_foreach(sc, &s->schemas.schemas) {
		const struct perf_event_attr *attr = (*sc)->attr;
		uint64_t type = attr ? UINT64_C(1) << (attr->type < 63 ? attr->type : 63) : 0;

		/* The first event of a type speaks for all of it, as in perf. */
		if (!attr || types_met & type)
			continue;
		types_met |= type;
		if (!(attr->sample_type & PERF_SAMPLE_CPU))
			return err_set(-ENODATA,
				       "the samples of '%s' do not say on which cpu they were "
				       "taken: cpus cannot be "
				       "chosen (record with -a or --sample-cpu)",
				       (*sc)->name);
	}
	if (nr && (unsigned long)highest >= nr)
		return err_set(
			-ENODATA,
			"there is no cpu %d in this recording: its machine has the cpus 0-%lu",
			highest, nr - 1);
	return 0;
}

/* perf has no order where it prints the rounds instead of obeying them. */
static bool is_unordered(const struct session_options *o)
{
	return o->unsorted || (o->compat && o->show_round);
}

static int build(struct sonde_session *s, const char *text, const char *origin)
{
	struct source_file file;

	TRY(session_options_parse(&s->opts, text, origin));
	TRY(strpool_init(&s->strings));
	TRY(state_init(&s->state, &s->strings));
	s->state.keeps_maps_at_exec = s->opts.compat != SONDE_COMPAT_NONE;
	s->state.keeps_first_cgroup = s->opts.compat != SONDE_COMPAT_NONE;
	s->state.exit_forgets_comm = s->opts.compat == SONDE_COMPAT_PERF_6_12;
	TRY(build_filters(s));
	TRY(build_chains(s));
	TRY(session_dlfilters_load(s));
	/* Read when first needed, much later; a file that the user named must not be missed silently then. */
	if (s->opts.kallsyms && access(s->opts.kallsyms, R_OK) < 0)
		return err_errno(errno, "cannot read the kernel symbols in %s", s->opts.kallsyms);
	if (s->opts.vmlinux && access(s->opts.vmlinux, R_OK) < 0)
		return err_errno(errno, "cannot read the kernel's file %s", s->opts.vmlinux);
	s->listing = text_records_wanted(&s->opts);
	TRY(source_open(&s->source,
			&(struct source_options){ .path = s->opts.input,
						  .window_bytes = s->opts.window_bytes,
						  .force = s->opts.force,
						  .unordered = is_unordered(&s->opts),
						  .list_records = text_records_listed(&s->opts),
						  .compat = s->opts.compat,
						  .stopped = &s->stopped,
						  .session = s,
						  .schemas = &s->schemas,
						  .defects = &s->defects }));
	s->is_stream = s->source->ops->file(s->source, 0, &file) && file.stream;
	TRY(check_cpus(s));
	TRY(dlfilters_start(&s->dlfilters));
	TRY(build_time(s));
	TRY(build_switches(s));
	s->event = (struct event){ .pub.size = sizeof(s->event.pub),
				   .session = s,
				   .source = s->source };
	return order_open(&s->order, s->source,
			  &(struct order_options){ .window_bytes = s->opts.window_bytes,
						   .time = s->opts.time && !s->opts.dump &&
									   !s->dlfilters.has_early
								   ? &s->early.time
								   : NULL,
						   .defects = &s->defects });
}

int sonde_session_open(struct sonde_session **ret, const char *text, const char *origin)
{
	struct sonde_session *s = calloc(1, sizeof(*s));
	int r;

	err_clear();
	if (!s)
		return err_nomem();
	s->refs = 1;
	r = build(s, text, origin);
	if (r < 0) {
		session_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void sonde_session_close(struct sonde_session *s)
{
	if (s)
		session_unref(s);
}

void sonde_session_stop(struct sonde_session *s)
{
	atomic_store(&s->stopped, 1);
}

int sonde_session_pending(const struct sonde_session *s)
{
	return s->cut_at < s->nr_cuts;
}

/* No sample at all came, and damage is why. Windows of time are looked at before that is known. */
static bool nothing_read(const struct sonde_session *s)
{
	const uint64_t *n = s->defects.count;

	return !s->met_sample && !s->opts.events && !s->opts.time &&
	       (n[DEFECT_COMPRESSED] || n[DEFECT_TRUNCATED] || n[DEFECT_BAD_RECORD] ||
		n[DEFECT_UNKNOWN_ID]);
}

int sonde_session_fill(struct sonde_session *s)
{
	int n;

	if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
		return 0;
	if (s->cut_at < s->nr_cuts)
		return 1;
	n = order_next(s->order, &s->cuts);
	if (n == -EINTR) {
		/* Nothing came yet; the caller looks at its signals. */
		err_clear();
		return atomic_load_explicit(&s->stopped, memory_order_relaxed) ? 0 : 1;
	}
	s->nr_cuts = n > 0 ? n : 0;
	s->cut_at = 0;
	if (!n && nothing_read(s))
		return err_set(-ENODATA, "no event of %s could be read", s->opts.input);
	return n > 0 ? 1 : n;
}

/* A kind of defect that was not told yet becomes an event (events=all); its payload is the kind's name. */
static int defect_event(struct sonde_session *s)
{
	struct event *ev = &s->event;
	size_t kind, seen = 0;

	_Static_assert(NR_DEFECTS <= 64, "defects_told has a bit for each");

	for (kind = 0; kind < NR_DEFECTS; kind++) {
		if (s->defects.count[kind] && !(s->defects_told >> kind & 1))
			break;
		seen += s->defects.count[kind] != 0;
	}
	if (kind == NR_DEFECTS || !defects_get(&s->defects, seen, &s->defect))
		return 0;
	s->defects_told |= (uint64_t)1 << kind;
	if (!s->defect_schema) {
		struct arena *a = &s->schemas.arena;
		struct sonde_schema *sc = arena_alloc(a, sizeof(*sc));
		struct sonde_field *f = arena_alloc(a, sizeof(*f));

		if (!sc || !f)
			return err_nomem();
		*f = (struct sonde_field){ .size = sizeof(*f),
					   .elem_width = 1,
					   .kind = SONDE_FIELD_STRING,
					   .is_array = 1,
					   .is_text = 1,
					   .name = "name",
					   .type = "char[]" };
		*sc = (struct sonde_schema){ .kind = SONDE_DEFECT,
					     .system = "",
					     .event = "defect",
					     .name = "defect",
					     .fields = f,
					     .nr_fields = 1 };
		TRY(schema_table_add(&s->schemas, sc));
		s->defect_schema = sc;
	}
	*ev = (struct event){ .pub = { .size = sizeof(ev->pub),
				       .schema = s->defect_schema->id,
				       .time_ns = SONDE_NO_TIME,
				       .cpu = -1,
				       .pid = -1,
				       .tid = -1,
				       .bytes = (const uint8_t *)s->defect.name,
				       .bytes_len = (uint32_t)strlen(s->defect.name) + 1 },
			      .session = s,
			      .schema = s->defect_schema,
			      .source = s->source };
	return 1;
}

/* What is asked of a sample last, and only where it was asked for. */
static int choose(struct sonde_session *s, struct event *ev)
{
	if (place_filter_is_set(&s->places)) {
		struct sonde_location where;
		struct sonde_sample sample;

		if (ev->source->ops->sample(ev->source, ev, &sample) < 0 ||
		    sonde_event_locate(&ev->pub, sample.ip, ev->pub.cpumode, &where) < 0 ||
		    !place_filter_pass(&s->places, &where))
			return 0;
	}
	if (!event_switch_pass(&s->switches, s->opts.compat ? ev->schema->id : ev->schema->family))
		return 0;
	return session_dlfilters_ask(s, ev, false);
}

/* Before all other filters. */
static int choose_early(struct sonde_session *s, struct event *ev)
{
	TRY(state_comm(&s->state, ev->pub.pid, ev->pub.tid, &ev->pub.comm));
	return session_dlfilters_ask(s, ev, true);
}

/* The event just decoded meets state and filters: 1 it is for the caller, 0 it is not. */
static inline int admit(struct sonde_session *s, struct event *ev)
{
	bool is_sample = ev->schema->kind <= SONDE_SAMPLE;

	s->met_sample |= is_sample;
	if (__builtin_expect(s->dlfilters.has_early, 0) && is_sample) {
		int r = choose_early(s, ev);

		if (r <= 0)
			return r;
	}
	if (s->filtered && is_sample &&
	    (s->opts.graph_function ||
	     !early_filter_pass(&s->early, ev->pub.time_ns, ev->pub.cpu)))
		return 0;
	if (__builtin_expect(ev->change.kind, 0))
		TRY(state_apply(&s->state, &ev->change));
	if (!is_sample && (ev->listed || !s->opts.events))
		return ev->listed && s->lists_records;
	TRY(state_comm(&s->state, ev->pub.pid, ev->pub.tid, &ev->pub.comm));
	ev->pub.map_epoch = s->state.map_epoch;
	if (!s->filtered)
		return 1;
	if (!late_filter_pass(&s->late, &ev->pub))
		return 0;
	return s->is_choosy && is_sample ? choose(s, ev) : 1;
}

/*
 * Of a text with lines of records, or a dump: records pass all filters but that of cpus, and samples that others refuse
 * are passed on as refused, for the lines that a dump has of them all the same.
 */
static int admit_listed(struct sonde_session *s, struct event *ev)
{
	int r;

	if (ev->listed)
		return s->lists_records;
	if (ev->schema->kind == SONDE_RECORD && s->lists_records) {
		if (ev->change.kind == CHANGE_EXIT) /* its name as it was */
			TRY(state_comm(&s->state, ev->change.pid, ev->change.tid, &ev->pub.comm));
		if (ev->change.kind)
			TRY(state_apply(&s->state, &ev->change));
		return cpu_list_holds(&s->early.cpus, ev->pub.cpu);
	}
	if (ev->refused) {
		TRY(state_comm(&s->state, ev->pub.pid, ev->pub.tid, &ev->pub.comm));
		return s->lists_records && s->opts.dump;
	}
	r = admit(s, ev);
	if (r || !s->opts.dump || !early_filter_pass(&s->early, ev->pub.time_ns, ev->pub.cpu))
		return r;
	TRY(state_comm(&s->state, ev->pub.pid, ev->pub.tid, &ev->pub.comm));
	ev->refused = true;
	return s->lists_records;
}

/* told: the defects seen so far were told; what reading this batch met belongs behind its first event. */
static inline int next_pending(struct sonde_session *s, bool told, const struct sonde_event **ret)
{
	for (;; told = false) {
		int n, r;

		if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
			return 0;
		if (s->opts.events && !told && (r = defect_event(s))) {
			*ret = &s->event.pub;
			return r;
		}
		if (s->cut_at == s->nr_cuts)
			return 0;
		n = s->source->ops->decode(s->source, &s->cuts[s->cut_at], s->derived, &s->event);
		if (n == 2) {
			s->derived++;
		} else {
			s->derived = 0;
			s->cut_at++;
		}
		if (n <= 0) {
			if (n < 0)
				return n;
			continue;
		}
		r = __builtin_expect(s->listing, 0) ? admit_listed(s, &s->event)
						    : admit(s, &s->event);
		if (r) {
			*ret = &s->event.pub;
			return r;
		}
	}
}

int sonde_session_next_pending(struct sonde_session *s, const struct sonde_event **ret)
{
	return next_pending(s, false, ret);
}

int sonde_session_next(struct sonde_session *s, const struct sonde_event **ret)
{
	for (bool told = false;; told = true) {
		int r = next_pending(s, told, ret);

		if (r)
			return r;
		r = sonde_session_fill(s);
		if (r < 0 || (!r && (!s->opts.events || s->stopped)))
			return r;
		if (!r) {
			r = defect_event(s);
			*ret = &s->event.pub;
			return r;
		}
	}
}

void sonde_session_want(struct sonde_session *s, uint32_t schema, int wanted)
{
	/* Filters of others see them all the same. */
	if (s->dlfilters.filters.n)
		return;
	if (schema < s->schemas.schemas.n)
		s->schemas.schemas.v[schema]->unwanted = !wanted;
	s->met_sample |=
		!wanted; /* what comes is not looked at any more, so nothing is known of it */
}

/* The next event; what was written reaches its reader before a stream is waited for. */
static int next_for_sink(struct sonde_session *s, struct sink *sink, const struct sonde_event **ret)
{
	if (s->is_stream) {
		int r = sonde_session_next_pending(s, ret);

		if (r)
			return r;
		TRY(sink->ops->flush(sink));
	}
	return sonde_session_next(s, ret);
}

static int write_with(struct sonde_session *s, const struct sink_ops *ops, int fd)
{
	const struct sonde_event *ev;
	uint32_t events = s->opts.events;
	struct sink *sink;
	int r, end;

	TRY(ops->open(&sink, &(struct sink_options){ .fd = fd, .session = s }));
	s->lists_records = !ops->takes_records;
	if (ops->takes_records) {
		s->listing = false;
		s->opts.events = 1;
	}
	session_dlfilters_text(s, sink);
	r = 0;
	while (s->opts.header != HEADER_ONLY && (r = next_for_sink(s, sink, &ev)) > 0) {
		r = sink->ops->event(sink, event_of(ev));
		if (r < 0)
			break;
	}
	/* What was written so far is kept also when the run failed; the first failure is the one told. */
	end = r == -EPIPE ? r : sink->ops->finish(sink, !r && !atomic_load(&s->stopped));
	session_dlfilters_text(s, NULL);
	sink->ops->close(sink);
	s->opts.events = events;
	return r < 0 ? r : end;
}

int sonde_session_write_text(struct sonde_session *s, int fd)
{
	return write_with(s, &text_sink_ops, fd);
}

int sonde_session_write(struct sonde_session *s, int fd)
{
	return write_with(s, sinks[s->opts.format], fd);
}
