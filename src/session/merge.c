/* SPDX-License-Identifier: MIT */
/* The events of several recordings in one order: see lanes.h. */
#include "base/err.h"
#include "recording/clock.h"
#include "session/session.h"

#define lanes_foreach(l, s) \
	for (struct lane *l = (s)->merge.lanes; l < (s)->merge.lanes + (s)->recordings.nr; l++)

/* ---- heads ----------------------------------------------------------------------------------- */

/* An event without a time keeps its place among the events of its recording. */
static int merge_place(struct lane *l, uint64_t time_ns)
{
	const struct recording_clock *c = &l->rec->clock;
	int64_t at;

	if ((!time_ns && !c->has_time_zero) || time_ns == SONDE_NO_TIME)
		return 0;
	l->at_ns = time_ns;
	if (!c->shift_ns)
		return 0;
	at = saturate_add(saturate_signed(time_ns), c->shift_ns);
	if (at < 0)
		return err_set(-ERANGE, "%s: its offset puts events before the beginning of time",
			       l->rec->input);
	l->at_ns = (uint64_t)at;
	return 0;
}

static int merge_take_head(struct lane *l, const struct sonde_event *ev)
{
	l->head = ev;
	return merge_place(l, ev->time_ns);
}

/* Makes the recording's next event in memory the head; without one the lane has no head. */
static int merge_advance(struct sonde_session *s, struct lane *l)
{
	const struct sonde_event *ev;
	int r = session_pump_next(s, l->rec, &ev);

	l->head = NULL;
	if (r > 0)
		return merge_take_head(l, ev);
	s->merge.lacks |= !r;
	return r;
}

/* Reads until the lane has a head. Returns 1, 0 at its end, -EAGAIN if no data arrived yet. */
static int merge_fill_lane(struct sonde_session *s, struct lane *l)
{
	struct recording *rec = l->rec;

	while (!l->head) {
		int r = session_pump_fill(s, rec);

		if (r == -ENODATA) {
			/*
			 * Damage is a defect; the events of the other recordings are still
			 * delivered.
			 */
			l->failed = true;
			r = 0;
		}
		if (r < 0)
			return r;
		if (!r) {
			if (!s->wants.defects || atomic_load(&s->stopped) ||
			    (r = session_defect_event(s, rec)) == 0) {
				l->ended = true;
				return 0;
			}
			return r < 0 ? r : merge_take_head(l, &rec->defect_event.pub);
		}
		if (recording_is_drained(rec))
			return -EAGAIN;
		TRY(merge_advance(s, l));
	}
	return 1;
}

/*
 * clock=relative: times count from the first sample of all recordings. A recording that has not
 * read a sample yet has only later ones.
 */
static void merge_find_zero(struct sonde_session *s)
{
	int64_t zero = INT64_MAX;

	lanes_foreach(l, s)
	{
		const struct recording_clock *c = &l->rec->clock;

		if (c->has_first && saturate_add(saturate_signed(c->first_ns), c->shift_ns) < zero)
			zero = saturate_add(saturate_signed(c->first_ns), c->shift_ns);
	}
	if (zero == INT64_MAX)
		return;
	s->recordings.line.zero_ns = zero;
	s->recordings.line.waits = false;
}

static int merge_check_boots(struct sonde_session *s)
{
	lanes_foreach(l, s)
	{
		if (l->rec->checks_boot)
			TRY(clock_check_boot(l->rec));
	}
	return 0;
}

static int merge_fail_without_events(const struct sonde_session *s)
{
	return err_set(-ENODATA, "no event of the %zu recordings could be read", s->recordings.nr);
}

int merge_fill(struct sonde_session *s)
{
	struct merge *m = &s->merge;
	bool any = false, waits = false, all_failed = true;

	if (atomic_load(&s->stopped))
		return 0;
	/* The caller gives the borrowed head back. */
	if (m->borrowed) {
		struct lane *l = m->borrowed;

		m->borrowed = NULL;
		TRY(merge_advance(s, l));
	}
	lanes_foreach(l, s)
	{
		if (!l->head && !l->ended) {
			int r = merge_fill_lane(s, l);

			if (r < 0 && r != -EAGAIN)
				return r;
			waits |= r == -EAGAIN;
		}
		any |= l->head != NULL;
		all_failed &= l->failed;
	}
	if (waits)
		return atomic_load(&s->stopped) ? 0 : 1;
	m->lacks = false;
	if (!m->started) {
		m->started = true;
		TRY(merge_check_boots(s));
	}
	if (s->recordings.line.waits)
		merge_find_zero(s);
	if (!any && all_failed)
		return merge_fail_without_events(s);
	return any;
}

int merge_pending(const struct sonde_session *s)
{
	lanes_foreach(l, s)
	{
		if (l->head && !s->merge.lacks)
			return 1;
	}
	return 0;
}

/* ---- the next event of all ------------------------------------------------------------------- */

static struct lane *merge_choose(struct sonde_session *s)
{
	struct merge *m = &s->merge;
	struct lane *least = NULL;

	lanes_foreach(l, s)
	{
		if (l->head && (!least || l->at_ns < least->at_ns))
			least = l;
	}
	m->rival_ns = UINT64_MAX;
	m->rival_first = false;
	lanes_foreach(l, s)
	{
		if (l->head && l != least && l->at_ns < m->rival_ns) {
			m->rival_ns = l->at_ns;
			m->rival_first = l < least;
		}
	}
	return least;
}

/* Finds the lane of the next event; NULL if one must be read first, or if all have ended. */
static int merge_next_lane(struct sonde_session *s, struct lane **ret)
{
	struct merge *m = &s->merge;
	struct lane *l = m->borrowed;

	*ret = NULL;
	if (l) {
		m->borrowed = NULL;
		TRY(merge_advance(s, l));
		if (l->head &&
		    (l->at_ns < m->rival_ns || (l->at_ns == m->rival_ns && !m->rival_first))) {
			*ret = l;
			return 0;
		}
	}
	*ret = m->lacks ? NULL : merge_choose(s);
	return 0;
}

int merge_next_pending(struct sonde_session *s, const struct sonde_event **ret)
{
	for (;;) {
		struct lane *l;
		struct event *ev;
		bool is_sample;

		if (atomic_load_explicit(&s->stopped, memory_order_relaxed))
			return 0;
		TRY(merge_next_lane(s, &l));
		if (!l)
			return 0;
		s->merge.borrowed = l;
		ev = (struct event *)event_of(l->head);
		is_sample = ev->schema->kind <= SONDE_SAMPLE;
		if (s->filters.is_choosy && is_sample &&
		    !event_switch_pass(&s->filters.switches, ev->schema->family))
			continue;
		/*
		 * A sample before one that is older than all that was read: marked late.
		 */
		if (s->recordings.line.waits && is_sample)
			merge_find_zero(s);
		ev->pub.time_ns = recording_shown_time(l->rec, ev->pub.time_ns);
		*ret = l->head;
		return 1;
	}
}

/* ---- by record (records.c) ------------------------------------------------------------------- */

void merge_records_begin(struct sonde_session *s)
{
	lanes_foreach(l, s)
	{
		struct recording *rec = l->rec;

		if (l->head && l != s->merge.borrowed && event_of(l->head)->cut) {
			rec->cut_at = (int)(event_of(l->head)->cut - rec->cuts);
			rec->stretch_at = 0;
			rec->nr_events = rec->event_at = 0;
		}
		l->head = NULL;
	}
	s->merge.borrowed = NULL;
	s->merge.lacks = true;
}

int merge_next_record(struct sonde_session *s, struct recording **ret)
{
	struct lane *least = NULL;

	*ret = NULL;
	lanes_foreach(l, s)
	{
		const struct recording *rec = l->rec;
		const struct cut *cut = &rec->cuts[rec->cut_at];

		if (rec->cut_at == rec->nr_cuts) {
			if (l->ended)
				continue;
			return 0;
		}
		TRY(merge_place(l, cut->order == CUT_ORDERED ? cut->time_ns : SONDE_NO_TIME));
		if (!least || l->at_ns < least->at_ns)
			least = l;
	}
	if (least)
		*ret = least->rec;
	return 0;
}

int merge_fill_records(struct sonde_session *s)
{
	bool any = false, waits = false, all_failed = true;

	lanes_foreach(l, s)
	{
		if (!l->ended && recording_is_drained(l->rec)) {
			int r = session_pump_fill(s, l->rec);

			l->failed |= r == -ENODATA; /* like merge_fill_lane() */
			if (r < 0 && r != -ENODATA)
				return r;
			l->ended = r <= 0;
			waits |= r > 0 && recording_is_drained(l->rec);
		}
		any |= !l->ended;
		all_failed &= l->failed;
	}
	if (waits)
		return atomic_load(&s->stopped) ? 0 : 1;
	if (s->recordings.line.waits)
		merge_find_zero(s);
	if (!any && all_failed)
		return merge_fail_without_events(s);
	return any;
}

int merge_take_sample(struct sonde_session *s, const struct event *ev)
{
	struct merge *m = &s->merge;

	if (s->filters.is_choosy && !event_switch_pass(&s->filters.switches, ev->schema->family))
		return 0;
	if (s->recordings.line.waits)
		merge_find_zero(s);
	if (!m->started) {
		m->started = true;
		TRY(merge_check_boots(s));
	}
	return 1;
}
