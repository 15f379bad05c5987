/* SPDX-License-Identifier: MIT */
/*
 * Text for one input format only: its header, lists and dumps of its records, metrics of its
 * counters. The sink folder for that format provides it (sink_ops.text_provider), so that the text
 * sink includes nothing of the format. There is one provider, which refuses these options for other
 * formats. With a second provider, the source would have to choose.
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
struct text_provider; /* the provider's state during a run */

/* The columns in front of the text of a record's line. */
struct text_record_head {
	/* the event type whose columns are shown; NULL if there is no head */
	const struct sonde_schema *schema;
	struct event event; /* a copy of the record's event, with the record's ids */
	/* The task whose name is shown; pid and tid of `event` may be different. */
	int32_t pid, tid;
};

struct text_provider_ops {
	/* `opts` are the text sink's options. */
	int (*open)(struct text_provider **ret, const struct sink_options *opts);
	void (*close)(struct text_provider *p); /* NULL is fine */
	/*
	 * Called for each recording. -EINVAL with a message if the recording does not have the
	 * requested text.
	 */
	int (*recording)(struct text_provider *p, const struct recording *rec);
	/* Called for each schema, in the order of ids, when its lines are made. */
	int (*schema)(struct text_provider *p, const struct sonde_schema *sc);
	/* Prints the text of --header. -EINVAL with a message if the recording has no header. */
	int (*header)(struct recording *rec, const struct text_options *o, struct outbuf *out);

	/*
	 * Reads a record as it is stored, for its line and for the dump. The caller zeroes *ret.
	 * Fails with -ENOMEM only.
	 */
	int (*read)(const struct sink_record *record, struct event *ret);
	/* True if a dump can be in time order; `first` is the recording's first event type. */
	bool (*dump_is_ordered)(const struct text_provider *p, const struct sonde_schema *first);
	/*
	 * Prints the dump in front of the line of a record from read(); the record is in the file
	 * `path`.
	 */
	void (*dump)(const struct text_provider *p, const struct event *ev, const char *path,
		     struct outbuf *out);
	/* Prints the lines of the dump that precede an event's line. */
	void (*dump_thread)(const struct event *ev, struct outbuf *out);
	/* True if a record has a line; *ret is filled then. is_raw: the record is from read(). */
	bool (*is_shown)(const struct line_options *o, const struct event *ev, bool is_raw,
			 struct text_record_head *ret);
	/* Prints the line after its head. */
	void (*record)(const struct event *ev, bool in_dump, struct outbuf *out);
	/*
	 * Prints a record that contains the recorder's results, like counts. False for any other
	 * record.
	 */
	bool (*result)(struct text_provider *p, const struct event *ev, struct outbuf *out);
	/* The misc column's letters after those of the cpu mode, at most two. */
	const char *(*misc)(const struct event *ev);

	/* Takes a sample's count for the metric column. True if its group is now complete. */
	bool (*metric_count)(struct text_provider *p, uint32_t schema, int32_t cpu,
			     uint64_t period);
	/*
	 * Prints the i-th metric of the complete group of a schema. Returns how many times the head
	 * is written; 0 if there is no metric for this i (there may be further ones); -1 after the
	 * last.
	 */
	int (*metric)(struct text_provider *p, uint32_t schema, int32_t cpu, unsigned i,
		      struct outbuf *out);
};

#endif
