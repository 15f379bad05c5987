/* SPDX-License-Identifier: MIT */
/*
 * where=: the programs of the session's schemas. Schemas are bound when the session is opened, to
 * report errors; those that appear later (in pipes) with their first event.
 */
#include <string.h>

#include "base/err.h"
#include "recording/where.h"
#include "session/session.h"

/* True if event= chooses the schema; *ret_named if one of its names is not a pattern. */
static bool where_is_chosen(const struct sonde_session *s, const struct sonde_schema *sc,
			    bool *ret_named)
{
	const struct event_names *l = &s->filters.names;
	bool is_chosen = !l->names;

	*ret_named = false;
	for (size_t i = 0; i < l->nr; i++) {
		if (!event_names_match(l->names[i], sc->name, sc->kind == SONDE_TRACEPOINT))
			continue;
		is_chosen = true;
		*ret_named |= !strpbrk(l->names[i], "*?[");
	}
	return is_chosen;
}

static int where_bind_schema(struct sonde_session *s, const struct sonde_schema *sc)
{
	struct session_where *w = &s->where;
	struct where_program *p;
	bool is_named;

	while (w->programs.n <= sc->id)
		TRY(vec_push(&w->programs, (struct session_where_program){ 0 }));
	if (!where_is_chosen(s, sc, &is_named)) {
		w->programs.v[sc->id].is_known = true;
		return 0;
	}
	TRY(where_bind(&w->expr, sc, &p));
	for (size_t i = 0; i < w->expr.tests.n; i++) {
		const enum where_gap gap = where_gap_of(p, i);

		if (gap && is_named) {
			where_program_free(p);
			return where_explain(&w->expr, i, gap, &sc, 1);
		}
		w->is_met[i] |= !gap;
	}
	w->programs.v[sc->id] = (struct session_where_program){ p, true };
	return 0;
}

/* A comparison that no event can have is an error, or else it would look like a quiet machine. */
static int where_check_met(struct sonde_session *s)
{
	const struct session_where *w = &s->where;
	VEC(const struct sonde_schema *) chosen = { 0 };
	size_t test = 0;
	int r = 0;

	while (test < w->expr.tests.n && w->is_met[test])
		test++;
	if (test == w->expr.tests.n)
		return 0;
	for (size_t i = 0; i < w->programs.n && r >= 0; i++)
		if (w->programs.v[i].program)
			r = vec_push(&chosen, s->recordings.schemas.schemas.v[i]);
	if (r >= 0 && chosen.n) {
		enum where_gap gap = WHERE_GAP_NO_FIELD;

		/* An event that has the field, but cannot compare it, explains more. */
		for (size_t i = 0; i < w->programs.n && gap == WHERE_GAP_NO_FIELD; i++)
			if (w->programs.v[i].program)
				gap = where_gap_of(w->programs.v[i].program, test);
		r = where_explain(&w->expr, test, gap, chosen.v, chosen.n);
	}
	vec_done(&chosen);
	return r;
}

int session_where_open(struct sonde_session *s)
{
	if (!s->where.expr.text)
		return 0;
	vec_foreach(sc, &s->recordings.schemas.schemas) {
		/* A pipe may describe its tracepoints later. */
		if (schema_has_samples(*sc) &&
		    !(s->is_stream && !(*sc)->nr_fields && (*sc)->kind == SONDE_TRACEPOINT))
			TRY(where_bind_schema(s, *sc));
	}
	return s->is_stream ? 0 : where_check_met(s);
}

int session_where_end(struct sonde_session *s)
{
	if (!s->where.expr.text || !s->is_stream)
		return 0;
	for (size_t i = 0; i < s->recordings.nr; i++)
		if (!s->recordings.v[i].has_ended)
			return 0;
	return where_check_met(s);
}

/* ---- events ---------------------------------------------------------------------------------- */

int session_where_ask(struct sonde_session *s, struct event *ev)
{
	struct session_where *w = &s->where;
	const uint32_t id = ev->schema->id;

	if (__builtin_expect(id >= w->programs.n || !w->programs.v[id].is_known, 0))
		TRY(where_bind_schema(s, ev->schema));
	/* The events that event= does not choose have no program. */
	return !w->programs.v[id].program || recording_where_pass(w->programs.v[id].program, ev);
}

void session_where_done(struct sonde_session *s)
{
	vec_foreach(p, &s->where.programs)
		where_program_free(p->program);
	vec_done(&s->where.programs);
	where_done(&s->where.expr);
}
