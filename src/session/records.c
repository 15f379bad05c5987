/* SPDX-License-Identifier: MIT */
/*
 * The records of a session to a sink that takes them as they are stored: one call for each, in
 * which the sink asks for its events.
 *
 *	cut --> sink: record() --next()--> decode --> state and filters (pump.c) --> verdict
 */

#include "base/err.h"
#include "session/session.h"

struct record_reader {
	struct sink_record record; /* first member: the sink has a pointer to it */
	struct sonde_session *s;
	int at; /* index of the record in its recording's cuts */
};

static inline bool records_is_stopped(struct sonde_session *s)
{
	return __builtin_expect(atomic_load_explicit(&s->stopped, memory_order_relaxed), 0);
}

/* Returns 1 if the record has another event, 0 if not, <0 on failure. */
static inline int record_decode(struct recording *rec, int at)
{
	while (rec->event_at == rec->nr_events) {
		int n;

		if (rec->cut_at > at)
			return 0;
		rec->event_at = rec->nr_events = 0;
		rec->events = rec->own_events;
		n = rec->source->ops->decode(rec->source, rec->cuts, at + 1, &rec->cut_at,
					     rec->events, RECORDING_EVENTS);
		if (n < 0)
			return n;
		rec->nr_events = n;
	}
	return 1;
}

static int records_next_event(struct sink_record *record, const struct event **ret,
			      enum verdict *ret_verdict)
{
	struct record_reader *reader = (struct record_reader *)record;
	struct recording *rec = record->recording;
	struct sonde_session *s = reader->s;

	for (;;) {
		struct event *ev;
		int r;

		if (records_is_stopped(s))
			return 0;
		r = record_decode(rec, reader->at);
		if (r <= 0)
			return r;
		ev = &rec->events[rec->event_at++];
		r = session_pump_judge(s, rec, ev, ret_verdict);
		if (r > 0 && s->recordings.nr > 1 && ev->schema->kind <= SONDE_SAMPLE)
			r = merge_take_sample(s, ev);
		if (r < 0)
			return r;
		if (!r)
			continue;
		if (__builtin_expect(rec->clock.is_shifted, 0))
			ev->pub.time_ns = recording_shown_time(rec, ev->pub.time_ns);
		*ret = ev;
		return 1;
	}
}

static int record_write(struct sonde_session *s, struct recording *rec, struct sink *sink)
{
	struct record_reader reader = { .record = { .recording = rec,
						    .cut = &rec->cuts[rec->cut_at],
						    .next = records_next_event },
					.s = s,
					.at = rec->cut_at };
	const struct event *ev;
	enum verdict verdict;
	int r;

	TRY(sink->ops->record(sink, &reader.record));
	/* The state also needs the events that the sink did not request. */
	while ((r = records_next_event(&reader.record, &ev, &verdict)) > 0)
		;
	return r;
}

/* Events that the caller has not read become records again. */
static void records_begin(struct sonde_session *s)
{
	if (s->recordings.nr > 1)
		merge_records_begin(s);
	for (size_t i = 0; i < s->recordings.nr; i++) {
		struct recording *rec = &s->recordings.v[i];

		session_pump_rewind(rec);
		rec->nr_events = rec->event_at;
	}
}

/* *ret is NULL at the end, or if data must be read first. */
static inline int record_next(struct sonde_session *s, struct recording **ret)
{
	struct recording *rec = s->recordings.v;

	if (__builtin_expect(s->recordings.nr > 1, 0))
		return merge_next_record(s, ret);
	*ret = rec->cut_at < rec->nr_cuts ? rec : NULL;
	return 0;
}

/* Flushes the output before waiting for a stream. */
static int records_fill(struct sonde_session *s, struct sink *sink)
{
	int r;

	if (s->is_stream)
		TRY(sink->ops->flush(sink));
	if (s->recordings.nr == 1)
		return session_fill(s);
	recordings_note_memory(&s->recordings);
	r = merge_fill_records(s);
	if (r <= 0)
		session_progress_end(s);
	return r;
}

int session_write_records(struct sonde_session *s, struct sink *sink)
{
	int r = 1;

	records_begin(s);
	while (r > 0 && !records_is_stopped(s)) {
		struct recording *rec;

		TRY(record_next(s, &rec));
		if (rec)
			TRY(record_write(s, rec, sink));
		else
			r = records_fill(s, sink);
	}
	return r < 0 ? r : 0;
}
