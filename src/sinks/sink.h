/* SPDX-License-Identifier: MIT */
/* A sink writes events in one form. src/session/write.c opens it and pushes arrays of events. */
#ifndef SONDE_SINKS_SINK_H
#define SONDE_SINKS_SINK_H

#include "base/keys.h"
#include "base/outbuf.h"
#include "compat/rules.h"
#include "filters/filters.h"
#include "model/event.h"
#include "recording/recording.h"

struct sink_options {
	/* Borrowed; both live as long as the session. */
	const void *own;   /* the sink's options, as its keys filled them */
	const char *input; /* the first input, if there are several */
	unsigned nr_inputs;
	/* The session's options that change the output. */
	const struct rules *rules;
	enum clock_shown clock;
	bool reltime, callchain;
	bool unsorted;
	bool all_events;  /* events=all */
	bool on_terminal; /* a pager shows the output on one */
	/* The next members are for open() only. */
	int fd; /* output; the caller closes it */
	/* The origin of events, and the filters that choose among them. */
	struct recordings *recordings;
	const struct filters *filters;
};

/* The records and facts that a sink takes, by its options. */
struct sink_wants {
	/*
	 * Events of the recording. A sink without events() needs them in pipe mode only, where
	 * facts about the recording are stored between them.
	 */
	bool samples;
	bool records; /* records of state, as events */
	bool defects; /* each kind, as an event, when it is first met */
	bool results; /* records that schema_is_shown() selects; `records` includes them */
	/*
	 * Each record as it is stored, also those without an event. Known before the recording is
	 * opened. The sink takes events by record(), not by events().
	 */
	bool raw_records;
	bool all_records; /* no filter drops a record of state */
	/*
	 * Records become lines, and only the filter of cpus drops them. The sink takes events by
	 * record(), too.
	 */
	bool record_lines;
	/* With record_lines: samples that filters refuse, with that verdict. */
	bool refused_samples;
	/*
	 * Neither values nor tasks of samples: the sink prints their records by the view of their
	 * source.
	 */
	bool no_values;
	bool unordered; /* records in stored order. Known before the recording is opened */
	/*
	 * The output has facts about the recording. has_verdict: it reports whether events could be
	 * read, which must be known before finish().
	 */
	bool header, has_verdict;
};

/* The filters' verdict on an event. An event that a sink did not ask for does not reach it. */
enum verdict {
	VERDICT_REFUSED, /* sink_wants.refused_samples */
	VERDICT_WANTED
};

/*
 * A record as it is stored, and its events. State and filters handle an event when next() returns
 * it: a sink that writes before that call writes before a dlfilter does, and sees the state in
 * front of the record. Borrowed for the call.
 */
struct sink_record {
	struct recording *recording;
	const struct cut *cut;
	/*
	 * The next event: 1, 0 after the last, negative errno on failure. Valid until the next
	 * call. Events that a sink does not ask for are skipped.
	 */
	int (*next)(struct sink_record *r, const struct event **ret, enum verdict *ret_verdict);
};

struct sink {
	const struct sink_ops *ops;
	bool wrote_none; /* set by finish(): the output is a recording without events */
	/* Lines for sonde_session_notes(), set by finish(). The session takes them over. */
	struct outbuf notes;
};

struct text_provider_ops;

struct sink_ops {
	const char *name, *summary; /* name: the word of the session's key `format` */
	bool takes_several;         /* takes several recordings at a time */
	/*
	 * Its options: keys of the session's text form. A key that several sinks have has one form.
	 */
	const struct key *keys;
	size_t nr_keys, options_bytes;
	/*
	 * Checks values that have their own grammar, even if another sink is chosen. -EINVAL with a
	 * message. NULL if there are none.
	 */
	int (*check)(const struct sink_options *opts);
	struct sink_wants (*wants)(const struct sink_options *opts);
	/* Writes lines about options without effect. NULL if there are none. */
	void (*notes)(const struct sink_options *opts, struct outbuf *out);
	/* -EINVAL with a message for impossible options. Schemas known so far are available. */
	int (*open)(struct sink **ret, const struct sink_options *opts);
	/*
	 * Takes the next nr events. A negative result stops the session; -EPIPE if the reader of
	 * the output closed it. NULL if no event of a file is read.
	 */
	int (*events)(struct sink *s, const struct event *const *events, size_t nr);
	/*
	 * In place of events() for a sink that wants raw_records or record_lines: once for each
	 * record, also for one without events.
	 */
	int (*record)(struct sink *s, struct sink_record *r);
	/* True if the sink needs no more events of this recording. NULL if it always does. */
	bool (*is_done)(const struct sink *s);
	/*
	 * Writes the buffered output; a failure fails the session. complete: no event is missing at
	 * the end.
	 */
	int (*finish)(struct sink *s, bool complete);
	/* Writes the buffered output before the end, before a step that may take long. */
	int (*flush)(struct sink *s);
	void (*close)(struct sink *s);
	/*
	 * Text about the input's format, for the text sink (sinks/text/provider.h). NULL if there
	 * is none.
	 */
	const struct text_provider_ops *text_provider;
};

/* The member `events` of a sink that takes one event at a time. */
static inline __attribute__((always_inline)) int sink_each(
	struct sink *s, const struct event *const *events, size_t nr,
	int (*event)(struct sink *s, const struct event *ev))
{
	int r = 0;

	for (size_t i = 0; i < nr && r >= 0; i++)
		r = event(s, events[i]);
	return r;
}

/* All sinks, in the order of table.def. */
#define SINK(name, word, folder, command) SINK_##name,
enum {
#include "sinks/table.def"
	NR_SINKS
};
#undef SINK
extern const struct sink_ops *const sinks[NR_SINKS];
extern const char *const sink_names[]; /* NULL-terminated */

#define SINK(name, word, folder, command) extern const struct sink_ops name##_sink_ops;
#include "sinks/table.def"
#undef SINK

#endif
