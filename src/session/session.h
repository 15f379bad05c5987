/* SPDX-License-Identifier: MIT */
/*
 * A session: 1..n recordings read as one, and the filters that choose among their events. Only the
 * files of this folder and those of api/ know it; sinks are handed events, and the recordings these
 * are of.
 *
 *	recordings	each has its source, order and state (recording/recording.h)
 *	   |  pump.c: filters, state, filters
 *	lanes		the next event of each; with one recording none is waited for (merge.c)
 *	   |
 *	caller or sink	(write.c)
 */
#ifndef SONDE_SESSION_H
#define SONDE_SESSION_H

#include <stdatomic.h>

#include "base/outbuf.h"
#include "filters/filters.h"
#include "recording/recording.h"
#include "session/dlfilter_answers.h"
#include "session/lanes.h"
#include "session/options.h"
#include "session/refused.h"
#include "sinks/sink.h"

struct sonde_session {
	unsigned refs; /* the caller's, and one for each event it keeps */
	struct session_options opts;
	struct outbuf printed, defects_line, filters_line, text; /* answers that callers borrow */

	struct recordings recordings;
	struct merge merge;

	struct filters filters;
	VEC(uint8_t) events_known; /* by schema: 0 not asked yet, 1 in filters.names, 2 not */
	struct dlfilters dlfilters;
	struct dlfilter_answers dlfilter_answers;
	struct sink_wants wants; /* of the caller, or of the sink while one writes */

	struct sonde_schema *defect_schema; /* events=all: defects as events */
	/* The events that the last call for several events returned. */
	const struct sonde_event *batch[RECORDING_EVENTS];
	size_t nr_batch;

	bool is_stream;     /* the input of any is a pipe: more may come at any time */
	bool passed;        /* a sample has passed the filters */
	bool wrote_none;    /* the sink that wrote last: struct sink */
	atomic_int stopped; /* set by signal handlers and other threads */

	struct session_progress {
		void (*call)(void *ctx, const struct sonde_progress *p); /* NULL: nobody asks */
		void *ctx;
		uint64_t begun_ms, next_ms;
		bool called;
	} progress;
};

/*
 * write.c: what a sink takes, what a caller without one does, and what the source must have for
 * either sink that may write: text, and that of the session's format.
 */
struct sink_wants session_sink_wants(struct sonde_session *s, const struct sink_ops *ops);
struct sink_wants session_caller_wants(struct sonde_session *s);
struct sink_wants session_source_wants(struct sonde_session *s);
/* All events to such a sink, whose output goes to fd. */
int session_write(struct sonde_session *s, const struct sink_ops *ops, int fd);
/* build.c: see sonde_session_open(). */
int session_open(struct sonde_session **ret, const char *text, const char *origin);
void session_ref(struct sonde_session *s);
void session_unref(struct sonde_session *s);

/* pump.c: as the functions of sonde.h. */
int session_pending(const struct sonde_session *s);
int session_fill(struct sonde_session *s);
int session_next_pending(struct sonde_session *s, const struct sonde_event **ret);
int session_next(struct sonde_session *s, const struct sonde_event **ret);
int session_next_batch_pending(struct sonde_session *s, const struct sonde_event *const **ret,
			       size_t *nr);
int session_next_batch(struct sonde_session *s, const struct sonde_event *const **ret, size_t *nr);
int session_unread(struct sonde_session *s, size_t nr);
void session_want(struct sonde_session *s, uint32_t schema, bool wanted);
/* The same for one recording, with times as recorded. */
int session_pump_next(struct sonde_session *s, struct recording *rec,
		      const struct sonde_event **ret);
int session_pump_fill(struct sonde_session *s, struct recording *rec);
/*
 * The event just decoded meets state and filters, for a sink that takes records: 1 and the verdict,
 * 0 the sink does not ask for it, <0 failure.
 */
int session_pump_judge(struct sonde_session *s, struct recording *rec, struct event *ev,
		       enum verdict *ret);
/* Decodes again what is behind the event that was admitted last. */
void session_pump_rewind(struct recording *rec);
/* The next kind of its defects that was not delivered yet: 1 and an event of it. */
int session_defect_event(struct sonde_session *s, struct recording *rec);

/*
 * records.c: all records to a sink that takes them by record(). 0 at the end or when the session
 * was stopped, <0 failure.
 */
int session_write_records(struct sonde_session *s, struct sink *sink);

/* merge.c: the same of several recordings. */
int merge_next_pending(struct sonde_session *s, const struct sonde_event **ret);
int merge_pending(const struct sonde_session *s);
int merge_fill(struct sonde_session *s);
/* By record: gives back events that were read ahead and not delivered. */
void merge_records_begin(struct sonde_session *s);
/* The recording whose next record is the oldest; NULL: something must be read first, or the end. */
int merge_next_record(struct sonde_session *s, struct recording **ret);
/* Reads until every recording that has not ended has a record: as merge_fill(). */
int merge_fill_records(struct sonde_session *s);
/* A sample out of a record: its turn among those of all. 1, 0 it is switched off, <0 failure. */
int merge_take_sample(struct sonde_session *s, const struct event *ev);

/* dlfilter.c: filters in shared objects, as stages. Loads what the session's options name. */
int session_dlfilters_load(struct sonde_session *s);
/* 1: the filters keep the sample, 0: one leaves it out, <0: one ended the run. */
int session_dlfilters_ask(struct sonde_session *s, const struct event *ev, bool early);
/*
 * Text goes to this sink from now on: what filters write to stdout is kept in order with it. NULL:
 * no more.
 */
void session_dlfilters_text(struct sonde_session *s, struct sink *sink);
void session_dlfilters_done(struct sonde_session *s);

/* progress.c. Reading went on; ctx is the session. */
void session_progress(void *ctx);
/* So many packed bytes of a recording were unpacked; total 0: unknown. ctx is the recording. */
void session_unpacked(void *ctx, uint64_t done, uint64_t total);
/* progress=1: from now on, before anything is opened; and when the session is open. */
void session_progress_begin(struct sonde_session *s);
void session_progress_opened(struct sonde_session *s);
void session_progress_end(struct sonde_session *s);
/* See sonde_session_on_progress(). */
void session_on_progress(struct sonde_session *s,
			 void (*progress)(void *ctx, const struct sonde_progress *p), void *ctx);

/* filters_line.c: see sonde_session_filters_line(). */
void session_filters_line(struct sonde_session *s, struct outbuf *out);

#endif
