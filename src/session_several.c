/* SPDX-License-Identifier: MIT */
/*
 * Several recordings as one session: a session for each of them, whose next event is the one of least time.
 *
 *	A  a0 a1 . . a2        each part orders, filters and keeps state by itself, one event ahead;
 *	B  . . b0 b1 . b2      ids of schemas and texts are the whole's, numbers are counted for all
 *	-> a0 a1 b0 b1 a2 b2   equal times: the part named first
 *
 * What is looked up for an event is looked up in its part (struct event, `session`), whose state is as of it.
 */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "session.h"
#include "sinks/sink.h"

struct part {
	struct sonde_session *s; /* owned */
	const struct sonde_event
		*head;  /* its next event, which it lends; NULL: not yet read, or ended */
	uint64_t at_ns; /* on the line, where the head belongs */
	bool ended, failed;
};

struct several {
	VEC(struct part) parts;
	struct part *lent; /* whose head the caller has; NULL none */
	bool lacks;        /* a part that has not ended has no head */
	bool started;      /* the first events of all were there */
	/* The least of the others than `lent`, when that was chosen: up to there nothing need be compared. */
	uint64_t rival_ns;
	bool rival_first; /* it goes first of equal times; NULL rival: rival_ns is UINT64_MAX and this false */
};

struct sonde_session *several_part(const struct sonde_session *s, unsigned i)
{
	return s->parts && i < s->parts->parts.n ? s->parts->parts.v[i].s : NULL;
}

void several_close(struct several *v)
{
	if (!v)
		return;
	vec_foreach(p, &v->parts)
		session_free(p->s);
	vec_done(&v->parts);
	free(v);
}

/* ---- opening ------------------------------------------------------------------------------------------------------ */

/* Without times there is no order; perf's recordings of one process have none by default. */
static int check_times(const struct sonde_session *s)
{
	vec_foreach(sc, &s->schemas->schemas) {
		const struct perf_event_attr *attr = (*sc)->attr;

		if (attr && (*sc)->maker == s->source && !(attr->sample_type & PERF_SAMPLE_TIME))
			return err_set(
				-ETIME,
				"%s: the samples of '%s' have no times, so they cannot be listed "
				"together with those of other recordings (record with -T)",
				s->opts.input, (*sc)->name);
	}
	return 0;
}

static int open_part(struct sonde_session *whole, unsigned i, const char *text, const char *origin)
{
	struct several *v = whole->parts;
	struct sonde_session *s = calloc(1, sizeof(*s));

	if (!s)
		return err_nomem();
	if (vec_push(&v->parts, (struct part){ .s = s }) < 0) {
		free(s);
		return err_nomem();
	}
	s->refs = 1;
	s->part_of = whole;
	s->part = i;
	s->strings = whole->strings;
	s->schemas = whole->schemas;
	TRY(session_options_parse(&s->opts, text, origin));
	TRY(session_options_choose(&s->opts, i));
	for (unsigned k = 0; k < i && !strcmp(s->opts.input, "-"); k++)
		if (!strcmp(v->parts.v[k].s->opts.input, "-"))
			return err_set(-EINVAL, "the standard input (-i -) can be read only once: "
						"name the other recording by its file");
	/* The whole looks at these. */
	free(s->opts.switch_on);
	free(s->opts.switch_off);
	s->opts.switch_on = s->opts.switch_off = NULL;
	TRY(session_open_source(s));
	whole->is_stream |= s->is_stream;
	return check_times(s);
}

static int find_span(struct several *v, struct time_span *ret)
{
	struct time_span span, all = { .first_ns = UINT64_MAX };

	vec_foreach(p, &v->parts) {
		const uint64_t shift_ns = (uint64_t)p->s->clock.shift_ns;

		TRY(session_find_span(p->s, &span));
		if (span.first_ns + shift_ns < all.first_ns)
			all.first_ns = span.first_ns + shift_ns;
		if (span.last_ns + shift_ns > all.last_ns)
			all.last_ns = span.last_ns + shift_ns;
	}
	*ret = all;
	return 0;
}

/* The windows are parsed once, on the line; each part gets them in its own clock. */
static int build_time(struct sonde_session *whole)
{
	struct several *v = whole->parts;
	const struct session_options *o = &whole->opts;
	struct time_span span = { 0 };

	if (!o->time)
		return 0;
	if (time_windows_need_span(o->time, session_counts_from_first(o)))
		TRY(find_span(v, &span));
	TRY(session_parse_time(whole, &span));
	vec_foreach(p, &v->parts) {
		TRY(time_windows_copy(&whole->early.time, &p->s->early.time));
		time_windows_shift(&p->s->early.time, -p->s->clock.shift_ns);
		p->s->clock.zero_ns = whole->clock.zero_ns;
		p->s->clock.waits = whole->clock.waits;
	}
	return 0;
}

int several_open(struct sonde_session *s, const char *text, const char *origin)
{
	struct several *v = s->parts = calloc(1, sizeof(*v));
	struct sonde_session *first;

	if (!v)
		return err_nomem();
	if (!sinks[s->opts.format]->takes_several)
		return err_set(-EINVAL, "%s: one recording at a time, not %u",
			       sink_names[s->opts.format], s->opts.nr_inputs);
	s->early = EARLY_FILTER_ALL;
	/* Parts are pointed to from now on. */
	TRY(vec_reserve(&v->parts, s->opts.nr_inputs));
	for (unsigned i = 0; i < s->opts.nr_inputs; i++)
		TRY(open_part(s, i, text, origin));
	first = v->parts.v[0].s;
	s->source = first->source; /* the first one's answers to questions about the recording */
	vec_foreach(p, &v->parts) {
		TRY(clock_place(p->s, first));
		if (!s->clock.has_wall && p->s->clock.has_wall) {
			s->clock.has_wall = true;
			s->clock.wall_ns = p->s->clock.wall_ns;
		}
	}
	s->clock.waits = first->clock.waits;
	TRY(build_time(s));
	TRY(session_find_switches(s));
	vec_foreach(p, &v->parts)
		TRY(session_open_order(p->s, v->parts.n));
	s->listing = first->listing;
	v->lacks = true;
	return 0;
}

/* ---- the pump ----------------------------------------------------------------------------------------------------- */

/* What has no time stays where it stands among the events of its recording. */
static int take_head(struct several *v, struct part *p, const struct sonde_event *ev)
{
	const struct session_clock *c = &p->s->clock;
	uint64_t time_ns = ev->time_ns;
	int64_t at;

	p->head = ev;
	if (!time_ns || time_ns == SONDE_NO_TIME)
		return 0;
	p->at_ns = time_ns;
	if (!c->shift_ns)
		return 0;
	at = saturate_add(saturate_signed(time_ns), c->shift_ns);
	if (at < 0)
		return err_set(-ERANGE, "%s: its offset puts events before the beginning of time",
			       p->s->opts.input);
	p->at_ns = (uint64_t)at;
	return 0;
}

/* The next event of a part that is in memory; without one it lacks a head. */
static int advance(struct several *v, struct part *p)
{
	const struct sonde_event *ev;
	int r = session_part_next(p->s, &ev);

	p->head = NULL;
	if (r > 0)
		return take_head(v, p, ev);
	v->lacks |= !r;
	return r;
}

/* Reads until the part has a head: 1, 0 it has ended, -EAGAIN nothing came yet. */
static int fill_part(struct sonde_session *whole, struct several *v, struct part *p)
{
	struct sonde_session *s = p->s;

	while (!p->head) {
		int r = session_part_fill(s);

		if (r == -ENODATA) {
			/* Damage, which is told as a defect; what the others hold is delivered. */
			p->failed = true;
			r = 0;
		}
		if (r < 0)
			return r;
		if (!r) {
			if (!s->opts.events || atomic_load(&s->stopped) ||
			    (r = session_defect_event(s)) == 0) {
				p->ended = true;
				return 0;
			}
			return r < 0 ? r : take_head(v, p, &s->event.pub);
		}
		if (s->cut_at == s->nr_cuts)
			return -EAGAIN;
		TRY(advance(v, p));
	}
	return 1;
}

/* clock=relative: what is counted from is the first sample of all. A part that has read none yet has only later ones. */
static void find_zero(struct sonde_session *whole, struct several *v)
{
	int64_t zero = INT64_MAX;

	vec_foreach(p, &v->parts) {
		const struct session_clock *c = &p->s->clock;

		if (c->has_first && saturate_add(saturate_signed(c->first_ns), c->shift_ns) < zero)
			zero = saturate_add(saturate_signed(c->first_ns), c->shift_ns);
	}
	if (zero == INT64_MAX)
		return;
	vec_foreach(p, &v->parts) {
		p->s->clock.zero_ns = zero;
		p->s->clock.waits = false;
	}
	whole->clock.zero_ns = zero;
	whole->clock.waits = false;
}

static int check_boots(struct several *v)
{
	vec_foreach(p, &v->parts) {
		if (p->s->checks_boot)
			TRY(clock_check_boot(p->s, v->parts.v[0].s));
	}
	return 0;
}

int several_fill(struct sonde_session *whole)
{
	struct several *v = whole->parts;
	bool any = false, waits = false, all_failed = true;

	if (atomic_load(&whole->stopped))
		return 0;
	/* The lent head is the caller's no more. */
	if (v->lent) {
		struct part *p = v->lent;

		v->lent = NULL;
		TRY(advance(v, p));
	}
	vec_foreach(p, &v->parts) {
		if (!p->head && !p->ended) {
			int r = fill_part(whole, v, p);

			if (r < 0 && r != -EAGAIN)
				return r;
			waits |= r == -EAGAIN;
		}
		any |= p->head != NULL;
		all_failed &= p->failed;
	}
	if (waits)
		return atomic_load(&whole->stopped) ? 0 : 1;
	v->lacks = false;
	if (!v->started) {
		v->started = true;
		TRY(check_boots(v));
	}
	if (whole->clock.waits)
		find_zero(whole, v);
	if (!any && all_failed)
		return err_set(-ENODATA, "no event of the %zu recordings could be read",
			       v->parts.n);
	return any;
}

int several_pending(const struct sonde_session *whole)
{
	const struct several *v = whole->parts;

	for (size_t i = 0; !v->lacks && i < v->parts.n; i++) {
		if (v->parts.v[i].head)
			return 1;
	}
	return 0;
}

static struct part *choose(struct several *v)
{
	struct part *least = NULL;

	vec_foreach(p, &v->parts) {
		if (p->head && (!least || p->at_ns < least->at_ns))
			least = p;
	}
	v->rival_ns = UINT64_MAX;
	v->rival_first = false;
	vec_foreach(p, &v->parts) {
		if (p->head && p != least && (p->at_ns < v->rival_ns)) {
			v->rival_ns = p->at_ns;
			v->rival_first = p < least;
		}
	}
	return least;
}

/* The part whose turn it is; NULL: something must be read first, or all have ended. */
static int next_part(struct several *v, struct part **ret)
{
	struct part *p = v->lent;

	*ret = NULL;
	if (p) {
		v->lent = NULL;
		TRY(advance(v, p));
		if (p->head &&
		    (p->at_ns < v->rival_ns || (p->at_ns == v->rival_ns && !v->rival_first))) {
			*ret = p;
			return 0;
		}
	}
	*ret = v->lacks ? NULL : choose(v);
	return 0;
}

int several_next_pending(struct sonde_session *whole, const struct sonde_event **ret)
{
	struct several *v = whole->parts;

	for (;;) {
		struct part *p;
		struct event *ev;

		if (atomic_load_explicit(&whole->stopped, memory_order_relaxed))
			return 0;
		TRY(next_part(v, &p));
		if (!p)
			return 0;
		v->lent = p;
		ev = &p->s->event;
		if (whole->is_choosy && ev->schema->kind <= SONDE_SAMPLE &&
		    !event_switch_pass(&whole->switches, ev->schema->family))
			continue;
		/* A sample before one that is older than all that was read: late, and told as such. */
		if (whole->clock.waits && ev->schema->kind <= SONDE_SAMPLE)
			find_zero(whole, v);
		ev->pub.time_ns = session_shown_time(p->s, ev->pub.time_ns);
		*ret = p->head;
		return 1;
	}
}

/* ---- defects ------------------------------------------------------------------------------------------------------ */

void several_sum_defects(struct sonde_session *whole)
{
	struct defects *sum = &whole->defects;

	for (int kind = 0; kind < NR_DEFECTS; kind++) {
		struct outbuf where = { 0 };
		uint64_t count = 0;
		const char *comma = "";

		vec_foreach(p, &whole->parts->parts) {
			const struct defects *d = &p->s->defects;

			if (!d->count[kind])
				continue;
			outbuf_fmt(&where, "%s%s: %llu", comma, p->s->opts.input,
				   (unsigned long long)d->count[kind]);
			if (d->first[kind][0])
				outbuf_fmt(&where, ", first %s", d->first[kind]);
			count += d->count[kind];
			comma = "; ";
		}
		outbuf_char(&where, '\0');
		sum->count[kind] = count;
		snprintf(sum->first[kind], sizeof(sum->first[kind]), "%s",
			 where.failed ? "" : where.data);
		outbuf_done(&where);
	}
}
