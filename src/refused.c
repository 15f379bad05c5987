/* SPDX-License-Identifier: MIT */
/* Counting what filters refused, and the sentence about a run in which nothing passed. */
#include "refused.h"

#include <stdlib.h>

#include "base/hash.h"
#include "session.h"

enum { NAMED_AT_MOST = 8 };

/* ---- counting -------------------------------------------------------------------------------- */

static void tally_add(struct refused_tally *t, uint32_t key, uint32_t comm, uint64_t count)
{
	for (size_t i = hash_u64(key) % REFUSED_SLOTS;; i = (i + 1) % REFUSED_SLOTS) {
		struct refused_slot *s = &t->slots[i];

		if (s->count && s->key != key)
			continue;
		if (!s->count && t->nr == REFUSED_KEYS) {
			t->has_more = true;
			return;
		}
		t->nr += !s->count;
		s->count += count;
		s->key = key;
		s->comm = comm;
		return;
	}
}

static bool make_tallies(struct refused *r)
{
	if (!r->tallies)
		r->tallies = calloc(NR_REFUSED, sizeof(*r->tallies));
	if (!r->tallies)
		r->passed = true; /* no memory: then nothing is said */
	return r->tallies != NULL;
}

void refused_note_times(struct refused *r, uint64_t nr, uint64_t first_ns, uint64_t last_ns)
{
	if (!nr)
		return;
	if (!r->nr || first_ns < r->first_ns)
		r->first_ns = first_ns;
	if (!r->nr || last_ns > r->last_ns)
		r->last_ns = last_ns;
	r->nr += nr;
}

void refused_note(struct refused *r, const struct sonde_event *ev, enum refused_by by)
{
	if (!make_tallies(r))
		return;
	refused_note_times(r, 1, ev->time_ns, ev->time_ns);
	switch (by) {
	case REFUSED_BY_TIME:
	case REFUSED_BY_PLACE:
		return;
	case REFUSED_BY_CPU:
		tally_add(&r->tallies[REFUSED_CPUS], (uint32_t)ev->cpu, 0, 1);
		return;
	case REFUSED_BY_TASK:
		tally_add(&r->tallies[REFUSED_PIDS], (uint32_t)ev->pid, ev->comm, 1);
		tally_add(&r->tallies[REFUSED_TIDS], (uint32_t)ev->tid, ev->comm, 1);
		tally_add(&r->tallies[REFUSED_COMMS], ev->comm, 0, 1);
		return;
	case REFUSED_BY_NAME:
		tally_add(&r->tallies[REFUSED_SCHEMAS], ev->schema, 0, 1);
		return;
	}
}

void refused_add(struct refused *r, const struct refused *from)
{
	r->passed |= from->passed;
	refused_note_times(r, from->nr, from->first_ns, from->last_ns);
	if (!from->tallies || !make_tallies(r))
		return;
	for (int kind = 0; kind < NR_REFUSED; kind++) {
		const struct refused_tally *t = &from->tallies[kind];

		for (size_t i = 0; i < REFUSED_SLOTS; i++)
			if (t->slots[i].count)
				tally_add(&r->tallies[kind], t->slots[i].key, t->slots[i].comm,
					  t->slots[i].count);
		r->tallies[kind].has_more |= t->has_more;
	}
}

unsigned refused_most(const struct refused *r, enum refused_kind kind,
		      const struct refused_slot **ret, unsigned max)
{
	const struct refused_tally *t = r->tallies ? &r->tallies[kind] : NULL;
	unsigned n = 0;

	for (size_t i = 0; t && i < REFUSED_SLOTS; i++) {
		unsigned at = n;

		if (!t->slots[i].count)
			continue;
		while (at && ret[at - 1]->count < t->slots[i].count)
			at--;
		if (at == max)
			continue;
		n += n < max;
		for (unsigned k = n - 1; k > at; k--)
			ret[k] = ret[k - 1];
		ret[at] = &t->slots[i];
	}
	return !t ? 0 : t->has_more ? UINT32_MAX : t->nr;
}

void refused_done(struct refused *r)
{
	free(r->tallies);
	r->tallies = NULL;
}

/* ---- the sentence ---------------------------------------------------------------------------- */

static void put_value(struct sonde_session *s, struct outbuf *o, enum refused_kind kind,
		      const struct refused_slot *v)
{
	const struct sonde_schema *sc;

	switch (kind) {
	case REFUSED_COMMS:
		outbuf_str(o, strpool_text(s->strings, v->key));
		return;
	case REFUSED_SCHEMAS:
		sc = sonde_session_schema(s, v->key);
		outbuf_str(o, sc ? sc->name : "?");
		return;
	case REFUSED_PIDS:
	case REFUSED_TIDS:
		outbuf_fmt(o, "%d (%s)", (int)v->key, strpool_text(s->strings, v->comm));
		return;
	default:
		outbuf_i64(o, (int32_t)v->key);
	}
}

static void put_values(struct sonde_session *s, struct outbuf *o, const char *head,
		       const struct refused *r, enum refused_kind kind)
{
	const struct refused_slot *most[NAMED_AT_MOST];
	unsigned nr = refused_most(r, kind, most, NAMED_AT_MOST);

	for (unsigned i = 0; i < nr && i < NAMED_AT_MOST; i++) {
		outbuf_str(o, i ? ", " : head);
		put_value(s, o, kind, most[i]);
	}
	if (nr == UINT32_MAX)
		outbuf_str(o, " and many others");
	else if (nr > NAMED_AT_MOST)
		outbuf_fmt(o, " and %u others", nr - NAMED_AT_MOST);
}

static void put_time(struct outbuf *o, const char *head, uint64_t shown_ns)
{
	outbuf_fmt(o, "%s%llu.%09u", head, (unsigned long long)(shown_ns / 1000000000),
		   (unsigned)(shown_ns % 1000000000));
}

/* Each recording has its own clock: times are converted before they are compared. */
static void sum(struct refused *ret, struct sonde_session *s)
{
	struct refused one = s->refused;
	struct order_stats stats = { 0 };

	if (s->order)
		order_stats(s->order, &stats);
	refused_note_times(&one, stats.refused, stats.refused_first_ns, stats.refused_last_ns);
	one.first_ns = session_shown_time(s, one.first_ns);
	one.last_ns = session_shown_time(s, one.last_ns);
	refused_add(ret, &one);
}

static void put_sentence(struct sonde_session *s, struct outbuf *o, const struct refused *r)
{
	const struct session_options *opts = &s->opts;

	outbuf_fmt(o, "no event passed the filters; the recording has %llu event%s",
		   (unsigned long long)r->nr, r->nr == 1 ? "" : "s");
	if (opts->time && r->last_ns != SONDE_NO_TIME) {
		const uint64_t zero_ns = session_counts_from_first(opts) ? r->first_ns : 0;

		put_time(o, " from ", r->first_ns - zero_ns);
		put_time(o, " to ", r->last_ns - zero_ns);
	}
	if (opts->cpu)
		put_values(s, o, ", on the cpus ", r, REFUSED_CPUS);
	if (opts->pid)
		put_values(s, o, ", of the processes ", r, REFUSED_PIDS);
	if (opts->tid)
		put_values(s, o, ", of the threads ", r, REFUSED_TIDS);
	if (opts->comm)
		put_values(s, o, ", of tasks called ", r, REFUSED_COMMS);
	if (opts->event)
		put_values(s, o, ", called ", r, REFUSED_SCHEMAS);
}

const char *sonde_session_filters_line(struct sonde_session *s)
{
	const struct sonde_session *first;
	struct refused r = { 0 };

	NOT_NULL(s, "");
	first = s->parts ? several_part(s, 0) : s;
	s->filters_line.len = 0;
	if (first && first->filtered && !s->opts.compat && !s->opts.graph_function &&
	    !atomic_load(&s->stopped)) {
		for (unsigned i = 0; several_part(s, i); i++)
			sum(&r, several_part(s, i));
		if (!s->parts)
			sum(&r, s);
		if (!r.passed && r.nr)
			put_sentence(s, &s->filters_line, &r);
	}
	refused_done(&r);
	outbuf_char(&s->filters_line, '\0');
	return s->filters_line.failed ? "" : s->filters_line.data;
}
