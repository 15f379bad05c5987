/* SPDX-License-Identifier: MIT */
/*
 * Text that only one kind of input has: its header, lists and dumps of its records, metrics of its
 * counters. The folder of sinks that prints such an input provides it (sink_ops.text_provider), so
 * that the text sink includes nothing of it. There is one provider, which refuses options about
 * other inputs. A second one would have to be chosen by the source.
 */
#ifndef SONDE_SINKS_TEXT_PROVIDER_H
#define SONDE_SINKS_TEXT_PROVIDER_H

#include "base/outbuf.h"
#include "model/event.h"

struct line_options;
struct recording;
struct sink_options;
struct sink_record;
struct text_options;
struct text_provider; /* what a provider keeps for a run */

/* The columns in front of the text of a record's line. */
struct text_record_head {
	const struct sonde_schema *schema; /* of the event whose columns it has; NULL: no head */
	struct event event;                /* a copy of the record's with the record's ids */
	/* The task whose name is shown; pid and tid of `event` need not be it. */
	int32_t pid, tid;
};

struct text_provider_ops {
	/* opts are those of the text sink. */
	int (*open)(struct text_provider **ret, const struct sink_options *opts);
	void (*close)(struct text_provider *p); /* NULL is fine */
	/* Each recording: -EINVAL with a message if options ask for text that it does not have. */
	int (*recording)(struct text_provider *p, const struct recording *rec);
	/* Each schema, in the order of ids, when its lines are made. */
	int (*schema)(struct text_provider *p, const struct sonde_schema *sc);
	/* --header. -EINVAL with a message for recordings without one. */
	int (*header)(struct recording *rec, const struct text_options *o, struct outbuf *out);

	/*
	 * A record as it is stored, for its line and for the dump; *ret begins as zeros. -ENOMEM
	 * only.
	 */
	int (*read)(const struct sink_record *record, struct event *ret);
	/* True if a dump can be in the order of time; first: the recording's first event type. */
	bool (*dump_is_ordered)(const struct text_provider *p, const struct sonde_schema *first);
	/* In front of the line of a record that read() gave, of the file `path`. */
	void (*dump)(const struct text_provider *p, const struct event *ev, const char *path,
		     struct outbuf *out);
	/* In front of the line of an event. */
	void (*dump_thread)(const struct event *ev, struct outbuf *out);
	/* True if a record has a line; then it fills *ret. is_raw: the record is from read(). */
	bool (*is_shown)(const struct line_options *o, const struct event *ev, bool is_raw,
			 struct text_record_head *ret);
	/* The line from behind its head. */
	void (*record)(const struct event *ev, bool in_dump, struct outbuf *out);
	/* A record with results of the recorder, as counts; false if it is another record. */
	bool (*result)(struct text_provider *p, const struct event *ev, struct outbuf *out);
	/* At most two letters that the column of misc has behind those of the cpu mode. */
	const char *(*misc)(const struct event *ev);

	/* A sample's count for the column of metrics. True: its group is complete. */
	bool (*metric_count)(struct text_provider *p, uint32_t schema, int32_t cpu,
			     uint64_t period);
	/*
	 * The i-th metric of the complete group that a schema is in: how often its head is written,
	 * 0 if there is none for this i (there may be further ones), -1 behind the last.
	 */
	int (*metric)(struct text_provider *p, uint32_t schema, int32_t cpu, unsigned i,
		      struct outbuf *out);
};

#endif
