/* SPDX-License-Identifier: MIT */
/*
 * The pump of a session: moves the events of a recording through their stages, to a caller or a
 * sink (write.c).
 *
 *	source --cut--> order --in time order--> decode --> early --> state --> late --> merge.c
 */

#include "base/err.h"
#include "recording/locate.h"
#include "session/session.h"

/* True if damage kept every sample out. Samples that filters refuse count as read. */
static bool pump_nothing_read(const struct recording *rec)
{
	const uint64_t *n = rec->defects.count;

	return !rec->met_sample && !recording_order_stats(rec).refused &&
	       (n[DEFECT_COMPRESSED] || n[DEFECT_TRUNCATED] || n[DEFECT_BAD_SIZE] ||
		n[DEFECT_BAD_RECORD] || n[DEFECT_UNKNOWN_ID] || n[DEFECT_MISSING_FILE] ||
		n[DEFECT_BAD_WRAPPING]);
}

/*
 * Notes the first sample, even if filters refuse it or reading passed over it: clock=relative and
 * sinks count from its time.
 */
static void pump_note_first(struct recording *rec)
{
	struct recording_clock *c = &rec->clock;
	struct timeline *line = &rec->all->line;
	const struct order_stats stats = recording_order_stats(rec);

	for (int i = 0; i < rec->nr_cuts && !c->has_first; i++) {
		const struct cut *cut = &rec->cuts[i];

		if (!(cut->flags & CUT_SAMPLE) || cut->order != CUT_ORDERED)
			continue;
		c->has_first = true;
		c->first_ns = cut->time_ns;
		if (stats.passed && stats.passed_first_ns < c->first_ns)
			c->first_ns = stats.passed_first_ns;
	}
	/* With several recordings merge.c finds the first sample. */
	if (rec->all->nr == 1 && c->has_first && line->waits) {
		line->zero_ns = saturate_add(saturate_signed(c->first_ns), c->shift_ns);
		line->waits = false;
	}
}

static void pump_count_samples(struct sonde_session *s, struct recording *rec)
{
	for (int i = 0; i < rec->nr_cuts; i++)
		rec->samples_read += rec->cuts[i].flags & CUT_SAMPLE ? 1 : 0;
	if (rec->nr_cuts)
		session_progress(s);
	else if (s->recordings.nr == 1)
		session_progress_end(s);
}

int session_pump_fill(struct sonde_session *s, struct recording *rec)
{
	int n;

	if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
		return 0;
	if (!recording_is_drained(rec))
		return 1;
	if (__builtin_expect(s->is_incomplete, 0) && !rec->has_ended)
		return err_set(-EINVAL,
			       "columns that were freed have read on in %s, past samples "
			       "that none of their tables needed: open it again",
			       rec->input);
	n = recording_next_batch(rec, s->wants.raw_records || s->wants.record_lines);
	if (n == -EINTR) {
		/* No data have arrived yet. The caller handles its signals and calls again. */
		err_clear();
		return atomic_load_explicit(&s->stopped, memory_order_relaxed) ? 0 : 1;
	}
	if (s->progress.call)
		pump_count_samples(s, rec);
	if (__builtin_expect(!rec->clock.has_first, 0))
		pump_note_first(rec);
	/*
	 * Done once for each end. Further calls of this function deliver the defects that it
	 * adds.
	 */
	if (!n && !rec->has_ended)
		source_note_end(rec->source);
	rec->has_ended = !n;
	if (!n)
		TRY(session_where_end(s));
	if (!n && pump_nothing_read(rec)) {
		/*
		 * The defects of the last records are delivered as events before the reading fails.
		 */
		if (s->wants.defects && s->recordings.nr == 1 &&
		    s->merge.lanes[0].defects_looked_at != rec->defects.changes)
			return 1;
		return err_set(-ENODATA, "no event of %s could be read", rec->input);
	}
	return n > 0 ? 1 : n;
}

/* ---- stages ---------------------------------------------------------------------------------- */

int session_pump_names(struct sonde_session *s, const struct sonde_schema *sc)
{
	while (s->events_known.n <= sc->id)
		TRY(vec_push(&s->events_known, 0));
	if (!s->events_known.v[sc->id])
		s->events_known.v[sc->id] =
			event_names_hold(&s->filters.names, sc->name, sc->kind == SONDE_TRACEPOINT)
				? 1
				: 2;
	return s->events_known.v[sc->id] == 1;
}

static int pump_apply_change(struct recording *rec, struct event *ev)
{
	int left_out;

	recording_find_task(ev);
	if (ev->pub.tid == -1 && ev->change->before) {
		TRY(state_apply(&rec->state, ev->change->before));
		recording_find_task(ev);
	}
	left_out = ev->change->kind ? state_apply(&rec->state, ev->change) : 0;
	if (left_out > 0)
		defects_add(&rec->defects, DEFECT_TEXT_POKES, 1, "at 0x%llx",
			    (unsigned long long)ev->change->start);
	return left_out < 0 ? left_out : 0;
}

/* A sample that a filter refuses still changes the state. */
static inline int pump_pass_over(struct recording *rec, struct event *ev)
{
	return __builtin_expect(ev->change != NULL, 0) ? pump_apply_change(rec, ev) : 0;
}

/*
 * Refuses a sample. Until the first sample passes the filters, its values are noted (refused.h).
 */
static int pump_refuse(struct sonde_session *s, const struct event *ev, enum refused_by by)
{
	if (!s->passed)
		refused_note(&s->merge.lanes[ev->recording->nr].refused, &ev->pub, by);
	return 0;
}

/* Refuses a sample, unless a pair needs it: session_pair_next() then asks the filter again. */
static int pump_refuse_unpaired(struct sonde_session *s, const struct event *ev, enum refused_by by)
{
	int r = session_has_pairs(&s->pairs) ? session_pair_reads(s, ev->schema) : 0;

	return r ? r : pump_refuse(s, ev, by);
}

static int pump_choose_where(struct sonde_session *s, struct event *ev)
{
	int r = session_where_ask(s, ev);

	return r ? r : pump_refuse_unpaired(s, ev, REFUSED_BY_WHERE);
}

/* The last filters for a sample. They are used only if one of them is set. */
static int pump_choose(struct sonde_session *s, struct event *ev)
{
	struct filters *f = &s->filters;
	int r;

	if (f->names.names && (r = session_pump_names(s, ev->schema)) <= 0 &&
	    (r < 0 || (r = pump_refuse_unpaired(s, ev, REFUSED_BY_NAME)) <= 0))
		return r;
	if (s->where.expr.needs_state && (r = pump_choose_where(s, ev)) <= 0)
		return r;
	if (place_filter_is_set(&f->places)) {
		struct sonde_sample sample;

		if (source_sample(ev->source, ev, &sample) < 0 ||
		    !place_filter_pass(&f->places,
				       recording_located(ev, sample.ip, ev->pub.cpumode)))
			return pump_refuse(s, ev, REFUSED_BY_PLACE);
	}
	/* With several recordings merge.c applies the switches, in the common order. */
	if (s->recordings.nr == 1 &&
	    !event_switch_pass(&f->switches, s->opts.rules->switches_by_first_event
						     ? ev->schema->id
						     : ev->schema->family))
		return pump_refuse(s, ev, REFUSED_BY_PLACE);
	s->passed = true;
	return session_dlfilters_ask(s, ev, false);
}

/* Calls the early functions of the dlfilters, before all other filters. */
static int pump_choose_early(struct sonde_session *s, struct event *ev)
{
	recording_find_task(ev);
	TRY(recording_complete(ev));
	return session_dlfilters_ask(s, ev, true);
}

/* The filters that need no state. Returns 1 if the sample passes, 0 if not, <0 on failure. */
static inline int pump_filter_early(struct sonde_session *s, struct recording *rec,
				    struct event *ev)
{
	int r;

	if (__builtin_expect(s->dlfilters.has_early, 0) && (r = pump_choose_early(s, ev)) <= 0)
		return r;
	if (s->opts.graph_function || !early_filter_pass(&rec->early, ev->pub.time_ns, ev->pub.cpu))
		return pump_refuse(s, ev,
				   time_windows_hold(&rec->early.time, ev->pub.time_ns)
					   ? REFUSED_BY_CPU
					   : REFUSED_BY_TIME);
	return s->where.expr.text && !s->where.expr.needs_state ? pump_choose_where(s, ev) : 1;
}

bool session_pump_wants_record(struct sonde_session *s, const struct event *ev)
{
	bool is_result = s->wants.results && schema_is_shown(ev->schema);

	ev->recording->met_sample |= schema_is_shown(ev->schema);
	if (ev->is_summed_up)
		return is_result;
	return s->wants.records ? !ev->schema->unwanted : is_result;
}

/*
 * Applies the filters of cpu, time and task to a record. Records of losses always pass: a selected
 * event may be among the lost ones. perf filters only records of switches, and only by cpu.
 */
static bool pump_record_pass(const struct sonde_session *s, const struct event *ev)
{
	const struct early_filter *early = &ev->recording->early;
	const struct sonde_event *pub = &ev->pub;
	bool is_switch = ev->schema->traits & SCHEMA_SWITCH;

	if (ev->schema->traits & SCHEMA_LOSS)
		return true;
	if (!cpu_list_holds(&early->cpus, pub->cpu) &&
	    (!s->opts.rules->filters_spare_records || is_switch))
		return false;
	if (s->opts.rules->filters_spare_records)
		return true;
	return (pub->time_ns == SONDE_NO_TIME || time_windows_hold(&early->time, pub->time_ns)) &&
	       late_filter_pass(&s->filters.late, pub);
}

/*
 * Applies the state and the filters to the event just decoded. Returns 1 if the caller gets it, 0
 * if not.
 */
static inline int pump_admit(struct sonde_session *s, struct recording *rec, struct event *ev)
{
	bool is_sample = ev->schema->kind <= SONDE_SAMPLE;

	if (__builtin_expect(ev->is_left_out, 0) && !s->wants.raw_records)
		return 0;
	rec->met_sample |= is_sample;
	/* It became unwanted after it was decoded. */
	if (__builtin_expect(ev->schema->unwanted, 0) && is_sample && rec->nr_events > 1)
		return pump_pass_over(rec, ev);
	if (s->filters.is_set && is_sample) {
		int r = pump_filter_early(s, rec, ev);

		if (r <= 0)
			return r ? r : pump_pass_over(rec, ev);
	}
	if (__builtin_expect(ev->change != NULL, 0))
		TRY(pump_apply_change(rec, ev));
	if (!is_sample && !session_pump_wants_record(s, ev) &&
	    !(session_has_pairs(&s->pairs) && ev->schema->traits & SCHEMA_LOSS))
		return 0;
	TRY(recording_complete(ev));
	if (!s->filters.is_set)
		return 1;
	if (!is_sample)
		return s->wants.all_records || pump_record_pass(s, ev);
	if (!late_filter_pass(&s->filters.late, &ev->pub))
		return pump_refuse(s, ev, REFUSED_BY_TASK);
	if (s->filters.is_choosy)
		return pump_choose(s, ev);
	s->passed = true;
	return 1;
}

/*
 * For lines of records, or a dump. Only the filter of cpus applies to records. A dump has lines of
 * refused samples, too, so samples within the windows of time and cpus are passed on as refused.
 */
static int pump_judge_for_lines(struct sonde_session *s, struct recording *rec, struct event *ev,
				enum verdict *ret)
{
	*ret = VERDICT_WANTED;
	rec->met_sample |= schema_is_shown(ev->schema);
	if (schema_is_shown(ev->schema))
		return 1;
	if (ev->schema->kind == SONDE_RECORD) {
		if (ev->change && ev->change->kind == CHANGE_EXIT) /* the name before the exit */
			TRY(recording_complete(ev));
		if (ev->change)
			TRY(pump_apply_change(rec, ev));
		return cpu_list_holds(&rec->early.cpus, ev->pub.cpu);
	}
	if (!ev->is_left_out) {
		int r = pump_admit(s, rec, ev);

		if (r || !s->wants.refused_samples ||
		    !early_filter_pass(&rec->early, ev->pub.time_ns, ev->pub.cpu))
			return r;
	}
	TRY(recording_complete(ev));
	*ret = VERDICT_REFUSED;
	return s->wants.refused_samples;
}

int session_pump_judge(struct sonde_session *s, struct recording *rec, struct event *ev,
		       enum verdict *ret)
{
	if (s->wants.record_lines)
		return pump_judge_for_lines(s, rec, ev, ret);
	*ret = VERDICT_WANTED;
	return pump_admit(s, rec, ev);
}

/*
 * has_defects: the earlier defects were delivered. The defects found while reading this batch are
 * delivered after its first event.
 */
static inline __attribute__((always_inline)) int pump_next_pending(struct sonde_session *s,
								   struct recording *rec,
								   bool has_defects,
								   struct event **ret)
{
	for (;; has_defects = false) {
		struct event *ev;
		int r;

		if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
			return 0;
		if (s->wants.defects && !has_defects &&
		    s->merge.lanes[rec->nr].defects_looked_at != rec->defects.changes &&
		    (r = session_defect_event(s, rec))) {
			*ret = &rec->defect_event;
			return r;
		}
		if (rec->event_at == rec->nr_events) {
			if (rec->cut_at == rec->nr_cuts)
				return 0;
			r = recording_decode(rec);
			if (r < 0)
				return r;
			if (!r)
				continue;
		}
		ev = &rec->events[rec->event_at++];
		r = pump_admit(s, rec, ev);
		if (r) {
			*ret = ev;
			return r;
		}
	}
}

int session_pump_next(struct sonde_session *s, struct recording *rec,
		      const struct sonde_event **ret)
{
	struct event *ev = NULL;
	int r = pump_next_pending(s, rec, false, &ev);

	if (r > 0)
		*ret = &ev->pub;
	return r;
}

/* ---- of one or several recordings ------------------------------------------------------------ */

static inline bool pump_merges(const struct sonde_session *s)
{
	return __builtin_expect(s->recordings.nr > 1, 0);
}

/* The next event of the only recording, with its shown time. */
static inline __attribute__((always_inline)) int pump_next_of_one(struct sonde_session *s,
								  bool has_defects,
								  const struct sonde_event **ret)
{
	struct recording *rec = s->recordings.v;
	struct event *ev = NULL;
	int r = pump_next_pending(s, rec, has_defects, &ev);

	if (r <= 0)
		return r;
	if (__builtin_expect(rec->clock.is_shifted, 0))
		ev->pub.time_ns = recording_shown_time(rec, ev->pub.time_ns);
	*ret = &ev->pub;
	return r;
}

int session_pending(const struct sonde_session *s)
{
	if (session_pair_is_due(&s->pairs))
		return 1;
	return pump_merges(s) ? merge_pending(s) : !recording_is_drained(s->recordings.v);
}

int session_fill(struct sonde_session *s)
{
	int r;

	recordings_note_memory(&s->recordings);
	if (!pump_merges(s))
		return session_pump_fill(s, s->recordings.v);
	r = merge_fill(s);
	if (r <= 0)
		session_progress_end(s);
	return r;
}

static int pump_next_pending_of_all(struct sonde_session *s, const struct sonde_event **ret)
{
	return pump_merges(s) ? merge_next_pending(s, ret) : pump_next_of_one(s, false, ret);
}

int session_next_pending(struct sonde_session *s, const struct sonde_event **ret)
{
	return session_has_pairs(&s->pairs) ? session_pair_next(s, pump_next_pending_of_all, ret)
					    : pump_next_pending_of_all(s, ret);
}

static int pump_next_of_several(struct sonde_session *s, const struct sonde_event **ret)
{
	for (;;) {
		int r = merge_next_pending(s, ret);

		if (r)
			return r;
		r = session_fill(s);
		if (r <= 0)
			return r;
	}
}

static int pump_next_of_all(struct sonde_session *s, const struct sonde_event **ret)
{
	struct recording *rec = s->recordings.v;

	if (pump_merges(s))
		return pump_next_of_several(s, ret);
	for (bool has_defects = false;; has_defects = !recording_is_drained(rec)) {
		int r = pump_next_of_one(s, has_defects, ret);

		if (r)
			return r;
		r = session_fill(s);
		if (r < 0 || (!r && (!s->wants.defects || s->stopped)))
			return r;
		if (!r) {
			*ret = &rec->defect_event.pub;
			return session_defect_event(s, rec);
		}
	}
}

int session_next(struct sonde_session *s, const struct sonde_event **ret)
{
	return session_has_pairs(&s->pairs) ? session_pair_next(s, pump_next_of_all, ret)
					    : pump_next_of_all(s, ret);
}

/* ---- several events in a call ---------------------------------------------------------------- */

/*
 * True if a filter keeps data from one sample to the next, or if its output must stay in order with
 * the caller's output. Such a filter gets a sample only after the previous one was delivered. So do
 * pairs.
 */
static bool pump_delivers_one_by_one(const struct sonde_session *s)
{
	return pump_merges(s) || s->filters.keeps_order || session_has_pairs(&s->pairs);
}

/*
 * Applies a change within a batch: a switch after which all questions about the earlier events of
 * the batch have the same answers. False, with nothing applied, for others.
 */
static bool pump_switch_in_batch(struct sonde_session *s, struct event *ev)
{
	struct batch_switch *to = &s->switches[s->nr_switches];

	if (ev->change->kind != CHANGE_SWITCH)
		return false;
	recording_find_task(ev);
	if (ev->pub.tid == -1 || !state_switch_only(&ev->recording->state, ev->change, &to->before))
		return false;
	to->ev = ev;
	s->nr_switches++;
	return true;
}

/* Undoes the switches from this event of the batch on. */
static void pump_switch_back(struct sonde_session *s, const struct event *from)
{
	for (; s->nr_switches && s->switches[s->nr_switches - 1].ev >= from; s->nr_switches--) {
		const struct batch_switch *last = &s->switches[s->nr_switches - 1];

		state_switch_back(&from->recording->state, last->ev->change->cpu, &last->before);
	}
}

static inline bool pump_is_unwanted(const struct event *ev)
{
	return ev->schema->unwanted && ev->schema->kind <= SONDE_SAMPLE;
}

/*
 * True for an event that pump_admit() only completes if there are no filters, and whose change, if
 * it has one, is applied. Most events are of this kind.
 */
static inline bool pump_is_only_sample(struct sonde_session *s, struct event *ev)
{
	return ev->schema->kind <= SONDE_SAMPLE && !ev->schema->unwanted &&
	       (__builtin_expect(!ev->change, 1) || pump_switch_in_batch(s, ev));
}

/* Prefetches the members used soon: another cpu may have written the event. */
static inline void pump_fetch_event(const struct event *ev, const struct event *end)
{
	if (ev >= end)
		return;
	__builtin_prefetch(&ev->pub, 1);
	__builtin_prefetch(&ev->pub.map_epoch, 1);
}

/*
 * Adds the next samples of the array to the batch, up to the first event that is no plain
 * sample (it changes the state or has notes). No defect can occur here. Returns the number of
 * events in the batch.
 */
static size_t pump_batch_samples(struct sonde_session *s, struct recording *rec, size_t n,
				 size_t max)
{
	enum { EVENTS_AHEAD = 8 };
	const bool is_shifted = rec->clock.is_shifted;
	struct event *ev = &rec->events[rec->event_at], *const end = &rec->events[rec->nr_events];

	for (; n < max && ev < end && pump_is_only_sample(s, ev); ev++) {
		pump_fetch_event(ev + EVENTS_AHEAD, end);
		if (recording_complete(ev) < 0) {
			err_clear(); /* pump_admit() will fail in the same way */
			break;
		}
		if (__builtin_expect(is_shifted, 0))
			ev->pub.time_ns = recording_shown_time(rec, ev->pub.time_ns);
		s->batch[n++] = &ev->pub;
	}
	rec->met_sample |= ev > &rec->events[rec->event_at];
	rec->event_at = (int)(ev - rec->events);
	return n;
}

/*
 * Adds events after the first one of a batch, which is delivered like any other event. The events
 * decoded with it only need to be admitted: the state does not change between them (source.h).
 */
static void pump_complete_batch(struct sonde_session *s, const struct sonde_event *first,
				size_t max)
{
	const bool takes_all = !s->filters.is_set && !s->dlfilters.has_early;
	struct recording *rec = s->recordings.v;
	size_t n = 0;

	s->batch[n++] = first;
	s->nr_batch = n;
	s->nr_switches = 0;
	if (max == 1 || pump_delivers_one_by_one(s) || first == &rec->defect_event.pub)
		return;
	while (n < max && rec->event_at < rec->nr_events) {
		struct event *ev;
		int r;

		if (atomic_load_explicit(&s->stopped, memory_order_relaxed) ||
		    (s->wants.defects &&
		     s->merge.lanes[0].defects_looked_at != rec->defects.changes))
			break;
		if (takes_all) {
			const size_t before = n;

			n = pump_batch_samples(s, rec, n, max);
			if (n > before)
				continue;
		}
		ev = &rec->events[rec->event_at];
		if (ev->change) {
			if (!pump_is_unwanted(ev) || !pump_switch_in_batch(s, ev))
				break; /* it is the first event of the next batch */
			rec->event_at++;
			continue;
		}
		r = pump_admit(s, rec, ev);
		if (r < 0) {
			err_clear(); /* the next call fails in the same way */
			break;
		}
		rec->event_at++;
		if (!r)
			continue;
		if (__builtin_expect(rec->clock.is_shifted, 0))
			ev->pub.time_ns = recording_shown_time(rec, ev->pub.time_ns);
		s->batch[n++] = &ev->pub;
	}
	s->nr_batch = n;
}

static int pump_lend_batch(struct sonde_session *s, const struct sonde_event *first,
			   const struct sonde_event *const **ret, size_t *nr)
{
	pump_complete_batch(s, first, *nr < RECORDING_EVENTS ? *nr : RECORDING_EVENTS);
	*ret = s->batch;
	*nr = s->nr_batch;
	return 1;
}

static int pump_check_room(size_t nr)
{
	return nr ? 0 : err_set(-EINVAL, "a batch has room for 1 event at least, not for 0");
}

int session_next_batch_pending(struct sonde_session *s, const struct sonde_event *const **ret,
			       size_t *nr)
{
	const struct sonde_event *first = NULL;
	int r;

	TRY(pump_check_room(*nr));
	r = session_next_pending(s, &first);
	return r > 0 ? pump_lend_batch(s, first, ret, nr) : r;
}

int session_next_batch(struct sonde_session *s, const struct sonde_event *const **ret, size_t *nr)
{
	const struct sonde_event *first = NULL;
	int r;

	TRY(pump_check_room(*nr));
	r = session_next(s, &first);
	return r > 0 ? pump_lend_batch(s, first, ret, nr) : r;
}

/* The events are decoded and admitted again, because the caller may want others by then. */
int session_unread(struct sonde_session *s, size_t nr)
{
	struct recording *rec = s->recordings.v;
	const struct event *ev;

	if (!nr)
		return 0;
	if (nr >= s->nr_batch)
		return err_set(-EINVAL, "%zu events cannot be given back: the batch has %zu", nr,
			       s->nr_batch);
	ev = event_of(s->batch[s->nr_batch - nr]);
	if (ev - rec->events >= rec->event_at)
		return err_set(-EINVAL,
			       "the batch whose events are given back is no longer borrowed");
	pump_switch_back(s, ev);
	rec->nr_events = rec->event_at = (int)(ev - rec->events);
	rec->cut_at = (int)(ev->cut - rec->cuts);
	rec->stretch_at = 0;
	s->nr_batch -= nr;
	return 0;
}
