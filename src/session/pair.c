/* SPDX-License-Identifier: MIT */
/* Pairs of events: what an event of the session starts, stops and derives. See pairs.h. */
#include "session/pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "model/schema_table.h"
#include "session/session.h"

/* ---- opening --------------------------------------------------------------------------------- */

int session_pair_parse(struct sonde_session *s)
{
	struct pair_list *l = &s->pairs.list;
	struct pair_texts texts = { 0 };
	int r;

	pair_starts_init(&s->pairs.starts);
	TRY(pair_texts_parse(s->opts.pairs, &texts));
	r = texts.n ? vec_reserve(l, texts.n) : 0;
	for (; r >= 0 && l->n < texts.n; l->n++)
		l->v[l->n] = (struct pair){ .is = texts.v[l->n] };
	texts.n = r < 0 ? texts.n : 0; /* the pairs own them */
	pair_texts_done(&texts);
	s->pairs.due_at = l->n;
	return r;
}

void session_pair_done(struct sonde_session *s)
{
	vec_foreach(p, &s->pairs.list) {
		pair_text_done(&p->is);
		free(p->room);
		vec_done(&p->members);
		vec_foreach(f, &p->forms)
			pair_form_done(f);
		vec_done(&p->forms);
	}
	vec_done(&s->pairs.list);
	pair_starts_done(&s->pairs.starts);
	vec_done(&s->pairs.roles);
	free(s->pairs.losses);
}

/* Finds the members of the schemas from `first` on, those of START before those of STOP. */
static int pair_add_members(struct sonde_session *s, uint32_t first)
{
	const struct schema_table *t = &s->recordings.schemas;
	struct session_pairs *ps = &s->pairs;

	while (ps->roles.n < t->schemas.n)
		TRY(vec_push(&ps->roles, (struct pair_role){ 0 }));
	for (int is_stop = 0; is_stop < 2; is_stop++) {
		for (size_t i = first; i < t->schemas.n; i++) {
			vec_foreach(p, &ps->list) {
				int r = pair_members_add(s, p, t->schemas.v[i], is_stop);

				if (r < 0)
					return r;
				ps->roles.v[i].is_in_pair |= r;
			}
		}
	}
	return 0;
}

static const struct pair_member *pair_first_member(const struct pair *p, bool is_stop)
{
	for (size_t i = 0; i < p->members.n; i++)
		if (p->members.v[i].is_stop == is_stop)
			return &p->members.v[i];
	return NULL;
}

static int pair_find_form(struct sonde_session *s, struct pair *p, const struct sonde_schema *start,
			  const struct sonde_schema *stop, const struct pair_form **ret)
{
	vec_foreach(f, &p->forms) {
		if (f->start.schema == start && f->stop.schema == stop) {
			*ret = f;
			return 0;
		}
	}
	TRY(vec_reserve(&p->forms, 1));
	TRY(pair_form_make(&p->forms.v[p->forms.n], &s->recordings.schemas, p->is.name, start,
			   stop));
	*ret = &p->forms.v[p->forms.n++];
	return 0;
}

static int pair_is_missing(struct sonde_session *s, const struct pair *p, const char *name)
{
	struct near near;
	char guess[512];

	near_init(&near, name);
	vec_foreach(sc, &s->recordings.schemas.schemas)
		if ((*sc)->kind <= SONDE_SAMPLE && !((*sc)->traits & SCHEMA_PAIR))
			near_offer(&near, (*sc)->name);
	near_text(&near, guess, sizeof(guess));
	return err_set(-ESRCH, "pair=%s: the recording has no event '%s'%s", p->is.text, name,
		       guess);
}

int session_pair_open(struct sonde_session *s)
{
	struct session_pairs *ps = &s->pairs;

	if (!ps->list.n)
		return 0;
	ps->losses = calloc(s->recordings.nr, sizeof(*ps->losses));
	if (!ps->losses)
		return err_nomem();
	TRY(pair_add_members(s, 0));
	vec_foreach(p, &ps->list) {
		const struct pair_member *members[2];
		const struct pair_form *form;

		for (int i = 0; i < 2; i++) {
			members[i] = pair_first_member(p, i);
			if (!members[i] && !s->is_stream)
				return pair_is_missing(s, p, p->is.names[i]);
		}
		if (members[0] && members[1])
			TRY(pair_find_form(s, p, members[0]->schema, members[1]->schema, &form));
	}
	return 0;
}

bool session_pair_is_name(const struct sonde_session *s, const char *name)
{
	for (size_t i = 0; i < s->pairs.list.n; i++)
		if (!strcmp(s->pairs.list.v[i].is.name, name))
			return true;
	return false;
}

/* ---- what is delivered ----------------------------------------------------------------------- */

int session_pair_reads(struct sonde_session *s, const struct sonde_schema *sc)
{
	struct session_pairs *ps = &s->pairs;

	if (!ps->list.n || s->wants.raw_records || s->wants.record_lines)
		return 0;
	if (sc->id >= ps->roles.n)
		TRY(pair_add_members(s, (uint32_t)ps->roles.n));
	return ps->roles.v[sc->id].is_in_pair;
}

/* event= and where=, for events that the pump let through for the pairs, and for derived ones. */
static int pair_is_chosen(struct sonde_session *s, struct event *ev)
{
	int r = 1;

	if (s->filters.names.names)
		r = session_pump_names(s, ev->schema);
	if (r > 0 && s->where.expr.text)
		r = session_where_ask(s, ev);
	return r;
}

bool session_pair_want(struct sonde_session *s, uint32_t schema, bool wanted)
{
	struct session_pairs *ps = &s->pairs;

	if (schema >= ps->roles.n || !ps->roles.v[schema].is_in_pair)
		return false;
	ps->roles.v[schema].is_unwanted = !wanted;
	return true;
}

/* ---- events ---------------------------------------------------------------------------------- */

static bool pair_has_time(const struct event *ev)
{
	return ev->pub.time_ns != SONDE_NO_TIME;
}

static int pair_start(struct sonde_session *s, struct pair *p, const struct pair_member *member,
		      const struct event *ev)
{
	struct pair_starts *l = &s->pairs.starts;
	const struct pair_start start = {
		.of = { .key = pair_key_of(member, ev),
			.pair = (uint32_t)(p - s->pairs.list.v),
			.recording = ev->recording->nr },
		.time_ns = ev->pub.time_ns,
		.losses = s->pairs.losses[ev->recording->nr],
		.schema = ev->schema,
		.bytes = (uint8_t *)ev->pub.bytes,
		.len = ev->pub.bytes_len,
	};

	while (pair_starts_is_full(l, (uint64_t)start.len + start.of.key.len)) {
		struct pair *other = &s->pairs.list.v[l->v[l->oldest].of.pair];

		other->facts.given_up++;
		other->facts.unmatched_starts--;
		pair_starts_remove(l, l->oldest);
	}
	TRY(pair_starts_add(l, &start));
	p->facts.unmatched_starts++;
	return 0;
}

static int pair_derive(struct sonde_session *s, struct pair *p, const struct pair_start *start,
		       const struct event *stop)
{
	const bool swap = stop->pub.flags & SONDE_EVENT_SWAPPED;
	const uint64_t ns =
		stop->pub.time_ns > start->time_ns ? stop->pub.time_ns - start->time_ns : 0;
	const struct pair_form *form;
	size_t room;

	TRY(pair_find_form(s, p, start->schema, stop->schema, &form));
	room = pair_form_room(form, start->len, stop->pub.bytes_len);
	if (room > p->room_bytes) {
		uint8_t *bytes = realloc(p->room, room);

		if (!bytes)
			return err_nomem();
		p->room = bytes;
		p->room_bytes = room;
	}
	pair_form_write(form, ns, (struct pair_bytes){ start->bytes, start->len },
			(struct pair_bytes){ stop->pub.bytes, stop->pub.bytes_len }, swap, p->room);
	p->event = *stop;
	p->event.schema = form->schema;
	p->event.change = NULL;
	p->event.pub.schema = form->schema->id;
	p->event.pub.flags |= SONDE_EVENT_DERIVED;
	p->event.pub.bytes = p->room;
	p->event.pub.bytes_len = (uint32_t)room;
	p->is_due = true;
	s->pairs.due_at = 0;
	return 0;
}

/* A loss since the start: the stop may belong to a start that was lost. */
static int pair_stop(struct sonde_session *s, struct pair *p, const struct pair_member *member,
		     const struct event *ev)
{
	struct pair_starts *l = &s->pairs.starts;
	const struct pair_of of = { .key = pair_key_of(member, ev),
				    .pair = (uint32_t)(p - s->pairs.list.v),
				    .recording = ev->recording->nr };
	const uint32_t i = pair_starts_find(l, &of);
	int r = 0;

	if (i == PAIR_NONE) {
		p->facts.unmatched_stops++;
		return 0;
	}
	p->facts.unmatched_starts--;
	if (l->v[i].losses != s->pairs.losses[of.recording]) {
		p->facts.dropped++;
	} else {
		p->facts.pairs++;
		r = pair_derive(s, p, &l->v[i], ev);
	}
	pair_starts_remove(l, i);
	return r;
}

/* An event that is both ends a pair before it begins the next one. */
static int pair_take(struct sonde_session *s, struct pair *p, const struct event *ev)
{
	for (int is_stop = 1; is_stop >= 0; is_stop--) {
		vec_foreach(member, &p->members) {
			if (member->schema != ev->schema || member->is_stop != is_stop)
				continue;
			TRY(is_stop ? pair_stop(s, p, member, ev) : pair_start(s, p, member, ev));
		}
	}
	return 0;
}

/* Returns 1 if the caller gets the event. */
static int pair_meet(struct sonde_session *s, struct event *ev)
{
	struct session_pairs *ps = &s->pairs;
	int r;

	if (ev->schema->kind > SONDE_SAMPLE) {
		if (!(ev->schema->traits & SCHEMA_LOSS))
			return 1;
		ps->losses[ev->recording->nr]++;
		return session_pump_wants_record(s, ev);
	}
	r = session_pair_reads(s, ev->schema);
	if (r <= 0)
		return r < 0 ? r : 1;
	if (pair_has_time(ev))
		vec_foreach(p, &ps->list)
			TRY(pair_take(s, p, ev));
	return ps->roles.v[ev->schema->id].is_unwanted ? 0 : pair_is_chosen(s, ev);
}

int session_pair_next(struct sonde_session *s,
		      int (*next)(struct sonde_session *s, const struct sonde_event **ret),
		      const struct sonde_event **ret)
{
	struct session_pairs *ps = &s->pairs;

	for (;;) {
		int r;

		while (session_pair_is_due(ps)) {
			struct pair *p = &ps->list.v[ps->due_at++];

			if (!p->is_due)
				continue;
			p->is_due = false;
			if (p->event.schema->unwanted)
				continue;
			r = pair_is_chosen(s, &p->event);
			if (r > 0)
				*ret = &p->event.pub;
			if (r)
				return r;
		}
		r = next(s, ret);
		if (r <= 0)
			return r;
		r = pair_meet(s, (struct event *)*ret);
		if (r)
			return r;
	}
}

int session_pair_facts(const struct sonde_session *s, size_t i, struct sonde_pair *ret)
{
	if (i >= s->pairs.list.n)
		return 0;
	*ret = s->pairs.list.v[i].facts;
	ret->size = sizeof(*ret);
	ret->name = s->pairs.list.v[i].is.name;
	return 1;
}
