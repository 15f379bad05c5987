/* SPDX-License-Identifier: MIT */
#include "session/filter.h"

#include <stdlib.h>

#include "base/err.h"
#include "filters/where/where.h"
#include "recording/where.h"

struct sonde_filter {
	struct sonde_session *s; /* a reference; NULL if there are no events to ask about */
	struct where expr;
	VEC(struct where_program *) programs; /* by schema; owned; NULL if it is not bound yet */
};

int session_filter_new(struct sonde_filter **ret, struct sonde_session *s, const char *text)
{
	struct sonde_filter *f = calloc(1, sizeof(*f));
	int r;

	if (!f)
		return err_nomem();
	r = where_parse(text, &f->expr);
	if (r < 0) {
		free(f);
		return r;
	}
	if (s)
		session_ref(s);
	f->s = s;
	*ret = f;
	return 0;
}

static int filter_bind(struct sonde_filter *f, const struct sonde_schema *sc)
{
	while (f->programs.n <= sc->id)
		TRY(vec_push(&f->programs, NULL));
	return where_bind(&f->expr, sc, &f->programs.v[sc->id]);
}

/* Reports a comparison for which the events of the schema have no value. */
static int filter_check(const struct sonde_filter *f, const struct sonde_schema *sc)
{
	for (size_t i = 0; i < f->expr.tests.n; i++) {
		const enum where_gap gap = where_gap_of(f->programs.v[sc->id], i);

		if (gap)
			return where_explain(&f->expr, i, gap, &sc, 1);
	}
	return 0;
}

int session_filter_matches(struct sonde_filter *f, const struct sonde_event *ev, bool is_named)
{
	const struct event *event = event_of(ev);
	const struct sonde_schema *sc = event->schema;

	if (!f->s)
		return err_set(-EINVAL, "the condition '%s' has no session", f->expr.text);
	if (sc->id >= f->programs.n || !f->programs.v[sc->id]) {
		TRY(filter_bind(f, sc));
		if (is_named)
			TRY(filter_check(f, sc));
	}
	return recording_where_pass(f->programs.v[sc->id], event);
}

const char *session_filter_field(const struct sonde_filter *f, size_t i)
{
	return i < f->expr.tests.n ? f->expr.tests.v[i].name : NULL;
}

void session_filter_free(struct sonde_filter *f)
{
	if (!f)
		return;
	vec_foreach(p, &f->programs)
		where_program_free(*p);
	vec_done(&f->programs);
	where_done(&f->expr);
	if (f->s)
		session_unref(f->s);
	free(f);
}
