/* SPDX-License-Identifier: MIT */
/*
 * The pump of a session: moves events through its stages (session_build.c), to a caller or a sink (session_write.c).
 *
 *	source --cut--> order --records in time order--> source.decode --> early --> state --> late --> caller or sink
 */

#include "session.h"

#include <linux/perf_event.h>

#include "base/err.h"
#include "sinks/text/records.h"

void sonde_session_stop(struct sonde_session *s)
{
	struct sonde_session *part;

	if (!s)
		return; /* without a cause: signal handlers call this */
	atomic_store(&s->stopped, 1);
	for (unsigned i = 0; (part = several_part(s, i)); i++)
		atomic_store(&part->stopped, 1);
}

int sonde_session_pending(const struct sonde_session *s)
{
	NOT_NULL(s, -EINVAL);
	return s->parts ? several_pending(s) : s->cut_at < s->nr_cuts;
}

/* True if damage kept every sample out; samples that filters refuse count as read. */
static bool nothing_read(const struct sonde_session *s)
{
	const uint64_t *n = s->defects.count;

	return !s->met_sample && !order_has_refused(s->order) &&
	       (n[DEFECT_COMPRESSED] || n[DEFECT_TRUNCATED] || n[DEFECT_BAD_SIZE] ||
		n[DEFECT_BAD_RECORD] ||
		n[DEFECT_UNKNOWN_ID] || n[DEFECT_MISSING_FILE] || n[DEFECT_BAD_WRAPPING]);
}

/* clock=relative: the first sample of all, whether it passes the filters or not. */
static void note_first(struct sonde_session *s)
{
	struct session_clock *c = &s->clock;

	for (int i = 0; i < s->nr_cuts && !c->has_first; i++) {
		const struct cut *cut = &s->cuts[i];

		if (!(cut->flags & CUT_SAMPLE) || cut->order != CUT_ORDERED || !cut->time_ns)
			continue;
		c->has_first = true;
		c->first_ns = cut->time_ns;
	}
	if (!s->part_of && c->has_first && c->waits) {
		c->zero_ns = saturate_add(saturate_signed(c->first_ns), c->shift_ns);
		c->waits = false;
	}
}

int session_part_fill(struct sonde_session *s)
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
	if (s->progress.call || (s->part_of && s->part_of->progress.call)) {
		for (int i = 0; i < n; i++)
			s->progress.events += s->cuts[i].flags & CUT_SAMPLE ? 1 : 0;
		if (n > 0)
			session_progress(s);
		else if (!s->part_of)
			session_progress_end(s);
	}
	if (__builtin_expect(s->clock.waits && !s->clock.has_first, 0))
		note_first(s);
	/* Once for each end: what it adds to the defects is delivered by further calls of this function. */
	if (!n && !s->has_ended && s->source->ops->ended)
		s->source->ops->ended(s->source);
	s->has_ended = !n;
	if (!n && nothing_read(s)) {
		/*
		 * The defects of the last records are delivered as events before the reading fails.
		 */
		if (s->opts.events && !s->part_of && s->defects_looked_at != s->defects.changes)
			return 1;
		return err_set(-ENODATA, "no event of %s could be read", s->opts.input);
	}
	return n > 0 ? 1 : n;
}

void session_note_memory(struct sonde_session *s)
{
	struct sonde_session *first = several_part(s, 0);
	/* The defects of several recordings are the sums of theirs. */
	struct defects *d = first ? &first->defects : &s->defects;
	const void *thread;
	uint64_t count = err_nomem_count(&thread);

	if (s->nomem_thread == thread && count > s->nomem_seen)
		defects_add(d, DEFECT_NO_MEMORY, count - s->nomem_seen, NULL);
	s->nomem_thread = thread;
	s->nomem_seen = count;
}

int sonde_session_fill(struct sonde_session *s)
{
	int r;

	NOT_NULL(s, -EINVAL);
	session_note_memory(s);
	if (!s->parts)
		return session_part_fill(s);
	r = several_fill(s);
	if (r <= 0)
		session_progress_end(s);
	return r;
}

/* A kind of defect that was not told yet becomes an event (events=all); its payload is the kind's name. */
int session_defect_event(struct sonde_session *s)
{
	struct event *ev = &s->event;
	size_t kind, seen = 0;

	_Static_assert(NR_DEFECTS <= 64, "defects_told has a bit for each");

	session_note_memory(s);
	for (kind = 0; kind < NR_DEFECTS; kind++) {
		if (s->defects.count[kind] && !(s->defects_told >> kind & 1))
			break;
		seen += s->defects.count[kind] != 0;
	}
	if (kind == NR_DEFECTS || !defects_get(&s->defects, seen, &s->defect)) {
		s->defects_looked_at = s->defects.changes;
		return 0;
	}
	s->defects_told |= (uint64_t)1 << kind;
	if (!s->defect_schema) {
		struct arena *a = &s->schemas->arena;
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
		TRY(schema_table_take(s->schemas, sc, s, &s->defect_schema));
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

static int choose_name(struct sonde_session *s, const struct sonde_schema *sc)
{
	while (s->events_known.n <= sc->id)
		TRY(vec_push(&s->events_known, 0));
	if (!s->events_known.v[sc->id])
		s->events_known.v[sc->id] =
			event_names_hold(&s->event_names, sc->name, sc->kind == SONDE_TRACEPOINT)
				? 1
				: 2;
	return s->events_known.v[sc->id] == 1;
}

static int apply_change(struct sonde_session *s, const struct event *ev)
{
	int left_out = state_apply(&s->state, &ev->change);

	if (left_out > 0)
		defects_add(&s->defects, DEFECT_TEXT_POKES, 1, "at 0x%llx",
			    (unsigned long long)ev->change.start);
	return left_out < 0 ? left_out : 0;
}

/*
 * Not for the caller. Until the first sample passes the filters, what the recording has is noted.
 */
static int refuse(struct sonde_session *s, const struct event *ev, enum refused_by by)
{
	if (!s->refused.passed)
		refused_note(&s->refused, &ev->pub, by);
	return 0;
}

/* What is asked of a sample last, and only where it was asked for. */
static int choose(struct sonde_session *s, struct event *ev)
{
	if (s->event_names.names) {
		int r = choose_name(s, ev->schema);

		if (r <= 0)
			return r ? r : refuse(s, ev, REFUSED_BY_NAME);
	}
	if (place_filter_is_set(&s->places)) {
		struct sonde_location where;
		struct sonde_sample sample;

		if (ev->source->ops->sample(ev->source, ev, &sample) < 0 ||
		    sonde_event_locate(&ev->pub, sample.ip, ev->pub.cpumode, &where) < 0 ||
		    !place_filter_pass(&s->places, &where))
			return refuse(s, ev, REFUSED_BY_PLACE);
	}
	if (!event_switch_pass(&s->switches, s->opts.compat ? ev->schema->id : ev->schema->family))
		return refuse(s, ev, REFUSED_BY_PLACE);
	s->refused.passed = true;
	return session_dlfilters_ask(s, ev, false);
}

/* Before all other filters. */
static int choose_early(struct sonde_session *s, struct event *ev)
{
	TRY(state_comm(&s->state, ev->pub.pid, ev->pub.tid, &ev->pub.comm));
	return session_dlfilters_ask(s, ev, true);
}

/* Whether an event that is no sample is for the caller or sink at all. */
static bool record_wanted(struct sonde_session *s, const struct event *ev)
{
	s->met_sample |= schema_is_shown(ev->schema);
	if (ev->listed)
		return s->lists_records;
	return s->opts.events ? !ev->schema->unwanted
			      : s->lists_records && schema_is_shown(ev->schema);
}

/*
 * A record meets the filters that it can answer. Losses are told whatever is chosen: what was lost might have been that.
 * perf asks for the cpu, and that of records of switches only.
 */
static bool record_pass(const struct sonde_session *s, const struct event *ev)
{
	const struct sonde_event *pub = &ev->pub;
	uint32_t type = ev->schema->record_type;
	bool is_switch = type == PERF_RECORD_SWITCH || type == PERF_RECORD_SWITCH_CPU_WIDE;

	if (type == PERF_RECORD_LOST || type == PERF_RECORD_LOST_SAMPLES)
		return true;
	if (!cpu_list_holds(&s->early.cpus, pub->cpu) && (!s->opts.compat || is_switch))
		return false;
	if (s->opts.compat)
		return true;
	return (pub->time_ns == SONDE_NO_TIME || time_windows_hold(&s->early.time, pub->time_ns)) &&
	       late_filter_pass(&s->late, pub);
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
	    (s->opts.graph_function || !early_filter_pass(&s->early, ev->pub.time_ns, ev->pub.cpu)))
		return refuse(s, ev,
			      time_windows_hold(&s->early.time, ev->pub.time_ns) ? REFUSED_BY_CPU
										 : REFUSED_BY_TIME);
	if (__builtin_expect(ev->change.kind, 0))
		TRY(apply_change(s, ev));
	if (!is_sample && !record_wanted(s, ev))
		return 0;
	TRY(state_comm(&s->state, ev->pub.pid, ev->pub.tid, &ev->pub.comm));
	ev->pub.map_epoch = s->state.map_epoch;
	if (!s->filtered)
		return 1;
	if (!is_sample)
		return s->copies || record_pass(s, ev);
	if (!late_filter_pass(&s->late, &ev->pub))
		return refuse(s, ev, REFUSED_BY_TASK);
	if (s->is_choosy)
		return choose(s, ev);
	s->refused.passed = true;
	return 1;
}

/*
 * Of a text with lines of records, or a dump: records pass all filters but that of cpus, and samples that others refuse
 * are passed on as refused, for the lines that a dump has of them all the same.
 */
static int admit_listed(struct sonde_session *s, struct event *ev)
{
	int r;

	s->met_sample |= schema_is_shown(ev->schema);
	if (ev->listed || schema_is_shown(ev->schema))
		return s->lists_records;
	if (ev->schema->kind == SONDE_RECORD && s->lists_records) {
		if (ev->change.kind == CHANGE_EXIT) /* its name as it was */
			TRY(state_comm(&s->state, ev->change.pid, ev->change.tid, &ev->pub.comm));
		if (ev->change.kind)
			TRY(apply_change(s, ev));
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

/*
 * Records were read a window at a time, which is more than the caches near a cpu hold; by now they are in those far from it.
 * Those behind the next ones are asked for while these are worked on: what is looked at of a sample lies in two cache lines.
 */
static inline void fetch_ahead(const struct sonde_session *s)
{
	enum { AHEAD = 4, CACHE_LINE = 64 };

	if (s->cut_at + AHEAD < s->nr_cuts) {
		const uint8_t *bytes = s->cuts[s->cut_at + AHEAD].bytes;

		__builtin_prefetch(bytes);
		__builtin_prefetch(bytes + CACHE_LINE);
	}
}

/* told: the defects seen so far were told; what reading this batch met belongs behind its first event. */
static inline int next_pending(struct sonde_session *s, bool told, const struct sonde_event **ret)
{
	for (;; told = false) {
		int n, r;

		if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
			return 0;
		if (s->opts.events && !told && s->defects_looked_at != s->defects.changes &&
		    (r = session_defect_event(s))) {
			*ret = &s->event.pub;
			return r;
		}
		if (s->cut_at == s->nr_cuts)
			return 0;
		fetch_ahead(s);
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

int session_part_next(struct sonde_session *s, const struct sonde_event **ret)
{
	return next_pending(s, false, ret);
}

static inline void show_time(struct sonde_session *s)
{
	if (__builtin_expect(s->clock.is_shifted, 0))
		s->event.pub.time_ns = session_shown_time(s, s->event.pub.time_ns);
}

int sonde_session_next_pending(struct sonde_session *s, const struct sonde_event **ret)
{
	int r;

	NOT_NULL(s, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	if (__builtin_expect(s->parts != NULL, 0))
		return several_next_pending(s, ret);
	r = next_pending(s, false, ret);
	show_time(s);
	return r;
}

int sonde_session_next(struct sonde_session *s, const struct sonde_event **ret)
{
	NOT_NULL(s, -EINVAL);
	NOT_NULL(ret, -EINVAL);
	for (bool told = false;; told = s->cut_at < s->nr_cuts) {
		int r = s->parts ? several_next_pending(s, ret) : next_pending(s, told, ret);

		if (r) {
			if (!s->parts)
				show_time(s);
			return r;
		}
		r = sonde_session_fill(s);
		if (r < 0 || (!r && (!s->opts.events || s->stopped || s->parts)))
			return r;
		if (!r) {
			r = session_defect_event(s);
			*ret = &s->event.pub;
			return r;
		}
	}
}

void sonde_session_want(struct sonde_session *s, uint32_t schema, int wanted)
{
	NOT_NULL(s, );
	/* Filters of others see them all the same. */
	if (s->dlfilters.filters.n)
		return;
	if (schema < s->schemas->schemas.n)
		s->schemas->schemas.v[schema]->unwanted = !wanted;
	/* What comes is not looked at any more, so nothing is known of it. */
	for (unsigned i = 0; several_part(s, i); i++)
		several_part(s, i)->met_sample |= !wanted;
	if (!wanted && schema < s->schemas->schemas.n &&
	    s->schemas->schemas.v[schema]->kind <= SONDE_SAMPLE)
		s->met_sample = true;
}
