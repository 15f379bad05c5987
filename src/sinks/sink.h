/* SPDX-License-Identifier: MIT */
/* A sink: where events go. session_write.c opens it and pushes one event after the other. */
#ifndef SONDE_SINKS_SINK_H
#define SONDE_SINKS_SINK_H

#include "model/event.h"

struct sink_options {
	int fd;                        /* where output is written; stays the caller's */
	struct sonde_session *session; /* its opts say what is printed */
};

struct sink {
	const struct sink_ops *ops;
};

struct sink_ops {
	const char *name, *summary; /* name: of the session's key `format` */
	bool takes_several;         /* recordings at a time */
	bool takes_records;         /* events of records of state and defects, too */
	bool copies_records; /* each record as it is, before its events; no filter keeps one of state from it */
	bool lists_header; /* the output is made of what the recording says of itself */
	/*
	 * With lists_header: the output says whether events could be read, so that is known before
	 * finish().
	 */
	bool reports_complete;
	/* -EINVAL with a message for options that cannot be. Schemas known by then are in the session. */
	int (*open)(struct sink **ret, const struct sink_options *opts);
	/* One event. <0: stop; -EPIPE: the reader of the output closed it. NULL: of a file no events are read. */
	int (*event)(struct sink *s, const struct event *ev);
	/* It has seen enough, or will do without events. NULL: never. */
	bool (*is_done)(const struct sink *s);
	/* Writes what is buffered; its failure is the run's. complete: no event is missing at the end. */
	int (*finish)(struct sink *s, bool complete);
	int (*flush)(
		struct sink *s); /* the same in the midst of a run: what comes next may take long */
	void (*close)(struct sink *s);
};

/* sinks.c: all there are, in the order of their names; what an input's events can be written as. */
extern const struct sink_ops *const sinks[];
extern const char *const sink_names[]; /* NULL-terminated */

extern const struct sink_ops text_sink_ops, jsonl_sink_ops, evlist_sink_ops, evlist_json_sink_ops,
	buildids_sink_ops, buildids_json_sink_ops, info_sink_ops, info_json_sink_ops,
	perfdata_sink_ops;

#endif
