/* SPDX-License-Identifier: MIT */
/* Schemas whose events the caller does not want: they are passed over before they are decoded. */
#include "base/err.h"
#include "session/session.h"

/* Callers may call this after every event; then few events are decoded ahead. */
void session_pump_rewind(struct recording *rec)
{
	const struct event *last = rec->event_at ? &rec->events[rec->event_at - 1] : NULL;
	const int behind = last ? (int)(last->cut - rec->cuts) + 1 : rec->cut_at;

	if (behind >= rec->cut_at)
		return;
	rec->cut_at = behind;
	rec->stretch_at = 0;
	rec->nr_events = rec->event_at;
	rec->decode_max = 1;
}

void session_want(struct sonde_session *s, uint32_t schema, bool wanted)
{
	struct sonde_schema *sc = schema_at(&s->recordings.schemas, schema);

	/* Filters in shared objects still get unwanted events. */
	if (s->dlfilters.filters.n || !sc || session_pair_want(s, schema, wanted))
		return;
	if (wanted && sc->unwanted) {
		for (size_t i = 0; i < s->recordings.nr; i++)
			session_pump_rewind(&s->recordings.v[i]);
	}
	if (wanted != sc->unwanted)
		return;
	__atomic_store_n(&sc->unwanted, !wanted, __ATOMIC_RELAXED);
	if (wanted)
		atomic_fetch_add(&s->recordings.wants, 1);
	/* Later samples are no longer examined, so assume that there are some. */
	for (size_t i = 0; i < s->recordings.nr; i++)
		s->recordings.v[i].met_sample |= !wanted && sc->kind <= SONDE_SAMPLE;
}

int session_pass_over(struct sonde_session *s)
{
	for (size_t i = 0; i < s->recordings.nr; i++) {
		const int r = recording_pass_over(&s->recordings.v[i]);

		TRY(r);
		s->passes_over |= r > 0;
	}
	return 0;
}
