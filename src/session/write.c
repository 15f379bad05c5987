/* SPDX-License-Identifier: MIT */
/* The events of a session to a sink: text, or another format. */

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "session/session.h"
#include "sinks/sink.h"

/*
 * Gets the next events. Flushes the output before waiting for a stream. A defect that occurs while
 * the sink looks up symbols becomes an event in front of the next sample.
 */
static int write_next_for_sink(struct sonde_session *s, struct sink *sink,
			       const struct sonde_event *const **ret, size_t *ret_nr)
{
	const size_t max = s->wants.defects ? 1 : RECORDING_EVENTS;

	*ret_nr = max;
	if (s->is_stream) {
		int r = session_next_batch_pending(s, ret, ret_nr);

		if (r)
			return r;
		TRY(sink->ops->flush(sink));
	}
	return session_next_batch(s, ret, ret_nr);
}

/* True if the sink needs events, or if the recording describes itself between its events. */
static bool write_takes_events(const struct sonde_session *s, const struct sink *sink)
{
	return s->wants.samples &&
	       (sink->ops->events || source_read_traits(s->recordings.v->source).describes_late) &&
	       !(sink->ops->is_done && sink->ops->is_done(sink));
}

static bool write_takes_records(const struct sonde_session *s, const struct sink *sink)
{
	return s->wants.samples && sink->ops->record &&
	       (s->wants.raw_records || s->wants.record_lines);
}

static int write_events(struct sonde_session *s, struct sink *sink)
{
	const struct sonde_event *const *events;
	int r = 0;
	size_t nr;

	while (write_takes_events(s, sink) &&
	       (r = write_next_for_sink(s, sink, &events, &nr)) > 0) {
		if (sink->ops->events)
			r = sink->ops->events(sink, (const struct event *const *)events, nr);
		if (r < 0)
			break;
	}
	return r;
}

struct sink_wants session_sink_wants(struct sonde_session *s, const struct sink_ops *ops)
{
	const struct sink_options own = session_options_of_sink(&s->opts, ops);

	return ops->wants(&own);
}

struct sink_wants session_source_wants(struct sonde_session *s)
{
	const struct sink_wants text = session_sink_wants(s, &text_sink_ops),
				chosen = session_sink_wants(s, sinks[s->opts.format]);

	return (struct sink_wants){
		.raw_records = text.raw_records || chosen.raw_records,
		.unordered = text.unordered || chosen.unordered,
		.refused_samples = text.refused_samples || chosen.refused_samples,
	};
}

struct sink_wants session_caller_wants(struct sonde_session *s)
{
	return (struct sink_wants){
		.samples = true,
		.records = s->opts.events,
		.defects = s->opts.events,
	};
}

/*
 * Reads up to the first event, because even a list from the header fails if no event of the
 * recording can be read. perf does not check this.
 */
static int write_probe_events(struct sonde_session *s)
{
	const struct sonde_event *ev;
	int r = 0;

	s->wants = (struct sink_wants){ .samples = true };
	while (!s->recordings.v->met_sample && (r = session_next(s, &ev)) > 0)
		;
	return r < 0 ? r : 0;
}

/* Filters and pairs need values even if the sink needs none. */
static void write_omit_values(struct sonde_session *s, bool omits)
{
	if (!s->wants.no_values || s->filters.is_set || s->filters.is_choosy ||
	    session_has_pairs(&s->pairs))
		return;
	for (size_t i = 0; i < s->recordings.nr; i++)
		source_omit_values(s->recordings.v[i].source, omits);
}

int session_write(struct sonde_session *s, const struct sink_ops *ops, int fd)
{
	const struct sink_wants own = s->wants;
	const struct sink_wants wants = session_sink_wants(s, ops);
	struct sink_options opts = session_options_of_sink(&s->opts, ops);
	char *cause = NULL;
	struct sink *sink;
	int r, end;

	if (session_has_pairs(&s->pairs) && ops->record &&
	    (wants.raw_records || wants.record_lines))
		return err_set(-EINVAL, "pair: this output has records as they are stored, and the "
					"event of a pair has none of its own");
	opts.fd = fd;
	opts.recordings = &s->recordings;
	opts.filters = &s->filters;
	TRY(ops->open(&sink, &opts));
	s->wants = wants;
	write_omit_values(s, true);
	session_dlfilters_text(s, sink);
	r = write_takes_records(s, sink) ? session_write_records(s, sink) : write_events(s, sink);
	if (r == -ENODATA && s->opts.rules->lists_despite_damage && wants.header) {
		/*
		 * perf prints the recording's description of itself, even if its events cannot be
		 * read.
		 */
		err_clear();
		r = 0;
	}
	if (!r && wants.has_verdict && !s->opts.rules->lists_despite_damage)
		r = write_probe_events(s);
	/* The output so far is kept even if reading failed. The first failure is reported. */
	if (r < 0)
		cause = strdup(err_text());
	end = r == -EPIPE ? r : sink->ops->finish(sink, !r && !atomic_load(&s->stopped));
	if (!r && !end && wants.header && !wants.has_verdict &&
	    !s->opts.rules->lists_despite_damage)
		end = write_probe_events(s);
	write_omit_values(s, false);
	s->wrote_none = sink->wrote_none;
	outbuf_done(&s->sink_notes);
	s->sink_notes = sink->notes;
	session_dlfilters_text(s, NULL);
	sink->ops->close(sink);
	if (r < 0 && cause)
		err_set(r, "%s", cause);
	free(cause);
	s->wants = own;
	return r < 0 ? r : end;
}
