/* SPDX-License-Identifier: MIT */
/*
 * The sentence about a run in which nothing passed the filters: what the recordings have instead.
 */
#include "base/err.h"
#include "session/session.h"

enum { NAMED_AT_MOST = 8 };

static void filters_put_value(struct sonde_session *s, struct outbuf *o, enum refused_kind kind,
			      const struct refused_slot *v)
{
	const struct sonde_schema *sc;

	switch (kind) {
	case REFUSED_COMMS:
		outbuf_str(o, strpool_text(&s->recordings.strings, v->key));
		return;
	case REFUSED_SCHEMAS:
		sc = schema_at(&s->recordings.schemas, v->key);
		outbuf_str(o, sc ? sc->name : "?");
		return;
	case REFUSED_PIDS:
	case REFUSED_TIDS:
		outbuf_fmt(o, "%d (%s)", (int)v->key,
			   strpool_text(&s->recordings.strings, v->comm));
		return;
	default:
		outbuf_i64(o, (int32_t)v->key);
	}
}

static void filters_put_values(struct sonde_session *s, struct outbuf *o, const char *head,
			       const struct refused *r, enum refused_kind kind)
{
	const struct refused_slot *most[NAMED_AT_MOST];
	unsigned nr = refused_most(r, kind, most, NAMED_AT_MOST);

	for (unsigned i = 0; i < nr && i < NAMED_AT_MOST; i++) {
		outbuf_str(o, i ? ", " : head);
		filters_put_value(s, o, kind, most[i]);
	}
	if (nr == UINT32_MAX)
		outbuf_str(o, " and many others");
	else if (nr > NAMED_AT_MOST)
		outbuf_fmt(o, " and %u others", nr - NAMED_AT_MOST);
}

static void filters_put_time(struct outbuf *o, const char *head, uint64_t shown_ns)
{
	outbuf_fmt(o, "%s%llu.%09u", head, (unsigned long long)(shown_ns / 1000000000),
		   (unsigned)(shown_ns % 1000000000));
}

/* Each recording has its own clock: times are converted before they are compared. */
static void filters_sum(struct refused *ret, const struct lane *l)
{
	struct refused refused = l->refused;
	const struct order_stats stats = recording_order_stats(l->rec);

	refused_note_times(&refused, stats.refused, stats.refused_first_ns, stats.refused_last_ns);
	refused.first_ns = recording_shown_time(l->rec, refused.first_ns);
	refused.last_ns = recording_shown_time(l->rec, refused.last_ns);
	refused_add(ret, &refused);
}

static void filters_put_sentence(struct sonde_session *s, struct outbuf *o, const struct refused *r)
{
	const struct session_options *opts = &s->opts;

	outbuf_fmt(o, "no event passed the filters; the recording has %llu event%s",
		   (unsigned long long)r->nr, r->nr == 1 ? "" : "s");
	if (opts->time && r->last_ns != SONDE_NO_TIME) {
		const uint64_t zero_ns = session_counts_from_first(opts) ? r->first_ns : 0;

		filters_put_time(o, " from ", r->first_ns - zero_ns);
		filters_put_time(o, " to ", r->last_ns - zero_ns);
	}
	if (opts->cpu)
		filters_put_values(s, o, ", on the cpus ", r, REFUSED_CPUS);
	if (opts->pid)
		filters_put_values(s, o, ", of the processes ", r, REFUSED_PIDS);
	if (opts->tid)
		filters_put_values(s, o, ", of the threads ", r, REFUSED_TIDS);
	if (opts->comm)
		filters_put_values(s, o, ", of tasks called ", r, REFUSED_COMMS);
	if (opts->event)
		filters_put_values(s, o, ", called ", r, REFUSED_SCHEMAS);
}

void session_filters_line(struct sonde_session *s, struct outbuf *out)
{
	struct refused r = { 0 };

	if (!s->filters.is_set || s->passed || s->opts.rules->silent_about_filters ||
	    s->opts.graph_function || atomic_load(&s->stopped))
		return;
	for (size_t i = 0; i < s->recordings.nr; i++)
		filters_sum(&r, &s->merge.lanes[i]);
	if (!r.failed && r.nr)
		filters_put_sentence(s, out, &r);
	refused_done(&r);
}
