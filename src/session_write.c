/* SPDX-License-Identifier: MIT */
/* The events of a session to a sink: text, or another format. */

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "session.h"
#include "sinks/sink.h"

/* The next event; what was written reaches its reader before a stream is waited for. */
static int next_for_sink(struct sonde_session *s, struct sink *sink, const struct sonde_event **ret)
{
	if (s->is_stream) {
		int r = sonde_session_next_pending(s, ret);

		if (r)
			return r;
		TRY(sink->ops->flush(sink));
	}
	return sonde_session_next(s, ret);
}

bool session_in_pipe_mode(const struct sonde_session *s)
{
	struct source_header head = { 0 };

	return s->source->ops->header && s->source->ops->header(s->source, &head) >= 0 &&
	       head.is_pipe;
}

/* In pipe mode what a recording says of itself stands between its events. */
static bool takes_events(const struct sonde_session *s, const struct sink *sink)
{
	return s->opts.header < HEADER_ONLY && (sink->ops->event || session_in_pipe_mode(s)) &&
	       !(sink->ops->is_done && sink->ops->is_done(sink));
}

/* Records of state among the events, as the sink takes them. */
static void give_records(struct sonde_session *s, const struct sink_ops *ops)
{
	s->lists_records = ops->copies_records || !ops->takes_records;
	if (ops->takes_records) {
		s->listing = false;
		s->opts.events = 1;
	}
}

/*
 * A list out of the header fails, too, when none of the recording's events can be read: reads up to
 * the first one. perf does not look.
 */
static int probe_events(struct sonde_session *s)
{
	const struct sonde_event *ev;
	int r = 0;

	s->opts.events = 0;
	while (!s->met_sample && (r = sonde_session_next(s, &ev)) > 0)
		;
	return r < 0 ? r : 0;
}

static int write_with(struct sonde_session *s, const struct sink_ops *ops, int fd)
{
	const struct sonde_event *ev;
	uint32_t events = s->opts.events;
	char *cause = NULL;
	struct sink *sink;
	int r, end;

	TRY(ops->open(&sink, &(struct sink_options){ .fd = fd, .session = s }));
	give_records(s, ops);
	for (unsigned i = 0; several_part(s, i); i++)
		give_records(several_part(s, i), ops);
	session_dlfilters_text(s, sink);
	r = 0;
	while (takes_events(s, sink) && (r = next_for_sink(s, sink, &ev)) > 0) {
		r = ops->event ? ops->event(sink, event_of(ev)) : 0;
		if (r < 0)
			break;
	}
	if (r == -ENODATA && s->opts.compat && ops->lists_header) {
		/*
		 * perf prints what the recording says of itself, and does not care for its events.
		 */
		err_clear();
		r = 0;
	}
	if (!r && ops->reports_complete && !s->opts.compat)
		r = probe_events(s);
	/* What was written so far is kept also when the run failed; the first failure is the one told. */
	if (r < 0)
		cause = strdup(err_text());
	end = r == -EPIPE ? r : sink->ops->finish(sink, !r && !atomic_load(&s->stopped));
	if (!r && !end && ops->lists_header && !ops->reports_complete && !s->opts.compat)
		end = probe_events(s);
	session_dlfilters_text(s, NULL);
	sink->ops->close(sink);
	if (r < 0 && cause)
		err_set(r, "%s", cause);
	free(cause);
	s->opts.events = events;
	for (unsigned i = 0; several_part(s, i); i++)
		several_part(s, i)->opts.events = events;
	return r < 0 ? r : end;
}

int sonde_session_write_text(struct sonde_session *s, int fd)
{
	NOT_NULL(s, -EINVAL);
	return write_with(s, &text_sink_ops, fd);
}

int sonde_session_write(struct sonde_session *s, int fd)
{
	NOT_NULL(s, -EINVAL);
	return write_with(s, sinks[s->opts.format], fd);
}
