/* SPDX-License-Identifier: MIT */
/*
 * A session: 1..n recordings read as one, and the filters that select their events. Only the files
 * of this folder and of api/ know it. Sinks get events, and the recordings of the events.
 *
 *	recordings	each has its source, order and state (recording/recording.h)
 *	   |  pump.c: filters, state, filters
 *	lanes		the next event of each recording, if there are several (merge.c)
 *	   |
 *	caller or sink	(write.c)
 */
#ifndef SONDE_SESSION_H
#define SONDE_SESSION_H

#include <stdatomic.h>

#include "base/outbuf.h"
#include "filters/filters.h"
#include "filters/where/where.h"
#include "recording/recording.h"
#include "session/dlfilter_answers.h"
#include "session/lanes.h"
#include "session/options.h"
#include "session/pairs.h"
#include "session/refused.h"
#include "sinks/sink.h"

/* where=, and what became of it. */
struct session_where {
	struct where expr;
	VEC(struct session_where_program {
		struct where_program *program; /* owned; NULL if event= does not choose the schema
						*/
		bool is_known;
	})
	programs;                     /* by schema */
	bool is_met[WHERE_MAX_TESTS]; /* by test: a schema has a value for it */
};

struct sonde_session {
	unsigned refs; /* one of the caller, and one for each event that the caller keeps */
	struct session_options opts;
	struct outbuf printed, defects_line, filters_line, text; /* answers that callers borrow */

	struct recordings recordings;
	struct merge merge;

	struct filters filters;
	struct session_where where;
	struct session_pairs pairs;
	VEC(uint8_t) events_known; /* by schema: 0 unknown, 1 in filters.names, 2 not in it */
	struct dlfilters dlfilters;
	struct dlfilter_answers dlfilter_answers;
	struct sink_wants wants; /* wants of the sink while one writes, otherwise of the caller */

	struct sonde_schema *defect_schema; /* events=all: defects as events */
	/* The events that the last call for several events returned. */
	const struct sonde_event *batch[RECORDING_EVENTS];
	size_t nr_batch;
	/* Switches of the batch that were applied after its first event: session_unread(). */
	struct batch_switch {
		const struct event *ev;
		struct runner before;
	} switches[RECORDING_EVENTS];
	size_t nr_switches;

	bool is_stream;           /* an input is a pipe: data may arrive at any time */
	bool passed;              /* a sample has passed the filters */
	bool wrote_none;          /* of the last sink that wrote (struct sink) */
	struct outbuf sink_notes; /* of the last sink that wrote (struct sink) */
	bool passes_over;         /* session_pass_over() */
	/* Reading passed over samples that are wanted again now, so it cannot go on. */
	bool is_incomplete;
	atomic_int stopped;       /* set by signal handlers and other threads */
	_Atomic uint64_t wake_ns; /* in sonde_session_fill_until(); otherwise 0 */

	struct session_progress {
		void (*call)(void *ctx, const struct sonde_progress *p); /* may be NULL */
		void *ctx;
		uint64_t begun_ms, next_ms;
		bool called;
	} progress;
};

/*
 * write.c: the data that a sink uses, that a caller without a sink uses, and that the source must
 * provide for the sinks that may write: text, and the sink of the session's format.
 */
struct sink_wants session_sink_wants(struct sonde_session *s, const struct sink_ops *ops);
struct sink_wants session_caller_wants(struct sonde_session *s);
struct sink_wants session_source_wants(struct sonde_session *s);
/* Writes all events to a sink of this kind, whose output goes to fd. */
int session_write(struct sonde_session *s, const struct sink_ops *ops, int fd);
/*
 * build.c: see sonde_session_open(). stream: read in place of the first input if not NULL; taken,
 * also on failure.
 */
struct stream;
int session_open(struct sonde_session **ret, const char *text, const char *origin,
		 struct stream *stream);
void session_ref(struct sonde_session *s);
void session_unref(struct sonde_session *s);

/* pump.c: like the functions of sonde.h. */
int session_pending(const struct sonde_session *s);
int session_fill(struct sonde_session *s);
int session_next_pending(struct sonde_session *s, const struct sonde_event **ret);
int session_next(struct sonde_session *s, const struct sonde_event **ret);
int session_next_batch_pending(struct sonde_session *s, const struct sonde_event *const **ret,
			       size_t *nr);
int session_next_batch(struct sonde_session *s, const struct sonde_event *const **ret, size_t *nr);
int session_unread(struct sonde_session *s, size_t nr);
void session_want(struct sonde_session *s, uint32_t schema, bool wanted);
/*
 * From now on, reading may pass over samples of the schemas that are unwanted at this moment. They
 * cannot be wanted again while it reads on. -ENOMEM only.
 */
int session_pass_over(struct sonde_session *s);
/* The same for one recording, with recorded times. */
int session_pump_next(struct sonde_session *s, struct recording *rec,
		      const struct sonde_event **ret);
int session_pump_fill(struct sonde_session *s, struct recording *rec);
/*
 * Applies the state and the filters to the event just decoded, for a sink that takes records.
 * Returns 1 and the verdict, 0 if the sink does not want the event, <0 on failure.
 */
int session_pump_judge(struct sonde_session *s, struct recording *rec, struct event *ev,
		       enum verdict *ret);
/* Returns 1 if event= chooses events of the schema, 0 if not, <0 on failure. */
int session_pump_names(struct sonde_session *s, const struct sonde_schema *sc);
/* True if the caller or sink wants this event, which is not a sample. */
bool session_pump_wants_record(struct sonde_session *s, const struct event *ev);
/* The records after the last admitted event will be decoded again. */
void session_pump_rewind(struct recording *rec);
/*
 * defects.c: makes an event of the next kind of defect that was not delivered yet. Returns 1 if
 * there is one.
 */
int session_defect_event(struct sonde_session *s, struct recording *rec);

/*
 * records.c: writes all records to a sink that takes them by record(). Returns 0 at the end or when
 * the session was stopped, <0 on failure.
 */
int session_write_records(struct sonde_session *s, struct sink *sink);

/* merge.c: the functions of pump.c for several recordings. */
int merge_next_pending(struct sonde_session *s, const struct sonde_event **ret);
int merge_pending(const struct sonde_session *s);
int merge_fill(struct sonde_session *s);
/* Before reading by record: gives back events that were read ahead and not delivered. */
void merge_records_begin(struct sonde_session *s);
/* The recording with the oldest next record; NULL at the end, or if a recording must be read. */
int merge_next_record(struct sonde_session *s, struct recording **ret);
/* Like merge_fill(): reads until every recording that has not ended has a record. */
int merge_fill_records(struct sonde_session *s);
/* Takes a sample from a record. Returns 1, 0 if it is switched off, <0 on failure. */
int merge_take_sample(struct sonde_session *s, const struct event *ev);

/* dlfilter.c: filters in shared objects. Loads the filters that the session's options name. */
int session_dlfilters_load(struct sonde_session *s);
/* Returns 1 if the filters keep the sample, 0 if one drops it, <0 if one stopped the session. */
int session_dlfilters_ask(struct sonde_session *s, const struct event *ev, bool early);
/*
 * The sink to which text is written from now on; NULL for none. Output that filters write to stdout
 * is kept in order with its text.
 */
void session_dlfilters_text(struct sonde_session *s, struct sink *sink);
void session_dlfilters_done(struct sonde_session *s);

/*
 * where.c: binds the schemas that are known. -EINVAL if a named event has no value for a
 * comparison, or if no event has one; of a pipe, session_where_end() finds out the latter.
 */
int session_where_open(struct sonde_session *s);
/* Called when a recording has ended. */
int session_where_end(struct sonde_session *s);
/* Returns 1 if the expression is true for the sample, 0 if not, <0 on failure. */
int session_where_ask(struct sonde_session *s, struct event *ev);
void session_where_done(struct sonde_session *s);

/* progress.c: called while reading. ctx is the session. */
void session_progress(void *ctx);
/* `done` packed bytes are unpacked. total is 0 if unknown. ctx is the recording. */
void session_unpacked(void *ctx, uint64_t done, uint64_t total);
/* progress=1: called before anything is opened, and when the session is open. */
void session_progress_begin(struct sonde_session *s);
void session_progress_opened(struct sonde_session *s);
void session_progress_end(struct sonde_session *s);
/* See sonde_session_on_progress(). */
void session_on_progress(struct sonde_session *s,
			 void (*progress)(void *ctx, const struct sonde_progress *p), void *ctx);

/* filters_line.c: see sonde_session_filters_line(). */
void session_filters_line(struct sonde_session *s, struct outbuf *out);

#endif
