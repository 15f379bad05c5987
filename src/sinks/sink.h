/* SPDX-License-Identifier: MIT */
/* A sink: where events go. write.c opens it and pushes arrays of events. */
#ifndef SONDE_SINKS_SINK_H
#define SONDE_SINKS_SINK_H

#include "base/keys.h"
#include "compat/rules.h"
#include "filters/filters.h"
#include "model/event.h"
#include "recording/recording.h"

struct sink_options {
	/* Both are lent as long as the session. */
	const void *own;   /* the sink's options, as its keys filled them */
	const char *input; /* of several the first */
	unsigned nr_inputs;
	/* What of a session's options is shown as well: */
	const struct rules *rules;
	enum clock_shown clock;
	bool reltime, callchain;
	bool unsorted;
	bool all_events;  /* events=all */
	bool on_terminal; /* a pager shows on one what is written */
	/* Of open() alone: */
	int fd; /* where output is written; stays the caller's */
	/* Where events come from, and what chooses among them. */
	struct recordings *recordings;
	const struct filters *filters;
};

/* What a sink takes of a run, as its options say. */
struct sink_wants {
	/*
	 * Events of the recording. A sink without events() needs none but in pipe mode, where what
	 * the recording says of itself is stored between them.
	 */
	bool samples;
	bool records; /* of state, as events */
	bool defects; /* each kind, as an event, when it is first met */
	bool results; /* records that schema_is_shown() names; `records` includes them */
	/*
	 * Each record as it is stored, also those that give no event. Known before the recording is
	 * opened. The sink takes events by record(), not by events().
	 */
	bool raw_records;
	bool all_records; /* no filter keeps a record of state from the sink */
	/*
	 * Records become lines, and pass all filters but that of cpus. The sink takes events by
	 * record(), too.
	 */
	bool record_lines;
	bool refused_samples; /* with record_lines: those that filters refuse, with that verdict */
	bool unordered;       /* records as they are stored. Known before the recording is opened */
	/*
	 * The output is made of what the recording says of itself. has_verdict: it says whether
	 * events could be read, so that must be known before finish().
	 */
	bool header, has_verdict;
};

/* The filters' verdict on an event. An event that a sink did not ask for does not reach it. */
enum verdict {
	VERDICT_REFUSED, /* sink_wants.refused_samples */
	VERDICT_WANTED
};

/*
 * A record as it is stored, and its events. Each meets state and filters when it is asked for: what
 * a sink writes before that is written before a dlfilter writes, and sees the state that the record
 * found. Borrowed for the call.
 */
struct sink_record {
	struct recording *recording;
	const struct cut *cut;
	/*
	 * The next event: 1, 0 behind the last, negative errno on failure. Valid until the next
	 * call. Events that a sink does not ask for are passed over behind it.
	 */
	int (*next)(struct sink_record *r, const struct event **ret, enum verdict *ret_verdict);
};

struct sink {
	const struct sink_ops *ops;
	bool wrote_none; /* set by finish(): the output is a recording without events */
};

struct text_parts_ops;

struct sink_ops {
	const char *name, *summary; /* name: of the session's key `format` */
	bool takes_several;         /* recordings at a time */
	/*
	 * Its options: keys of the session's text form. A key of several sinks has one form in all.
	 */
	const struct key *keys;
	size_t nr_keys, options_bytes;
	/*
	 * Values with a grammar of their own, asked whichever sink is chosen: -EINVAL with a
	 * message. NULL if there are none.
	 */
	int (*check)(const struct sink_options *opts);
	struct sink_wants (*wants)(const struct sink_options *opts);
	/* Lines about options that say nothing, or less than they seem to. NULL: never any. */
	void (*notes)(const struct sink_options *opts, struct outbuf *out);
	/* -EINVAL with a message for options that cannot be. Schemas known by then are there. */
	int (*open)(struct sink **ret, const struct sink_options *opts);
	/*
	 * The next nr events. <0: stop; -EPIPE: the reader of the output closed it. NULL: no event
	 * of a file is read.
	 */
	int (*events)(struct sink *s, const struct event *const *events, size_t nr);
	/*
	 * In place of events() for a sink that wants raw_records or record_lines: once for each
	 * record, also for one without events.
	 */
	int (*record)(struct sink *s, struct sink_record *r);
	/* It will do without events, as the recording turned out. NULL: never. */
	bool (*is_done)(const struct sink *s);
	/*
	 * Writes what is buffered; its failure is the run's. complete: no event is missing at the
	 * end.
	 */
	int (*finish)(struct sink *s, bool complete);
	/* The same in the midst of a run: what comes next may take long. */
	int (*flush)(struct sink *s);
	void (*close)(struct sink *s);
	/*
	 * Parts of text about the inside of the input that this sink writes; the text sink asks for
	 * them (sinks/text/parts.h). NULL if there are none.
	 */
	const struct text_parts_ops *text_parts;
};

/* The member `events` of a sink that takes one at a time. */
static inline __attribute__((always_inline)) int
sink_each(struct sink *s, const struct event *const *events, size_t nr,
	  int (*event)(struct sink *s, const struct event *ev))
{
	int r = 0;

	for (size_t i = 0; i < nr && r >= 0; i++)
		r = event(s, events[i]);
	return r;
}

/* All there are, in the order of their names: table.def. What an input's events can be written as. */
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
