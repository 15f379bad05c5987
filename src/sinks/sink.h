/* SPDX-License-Identifier: MIT */
/* A sink: where events go. session.c opens it and pushes one event after the other. */
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
	const char *name, *summary;
	/* -EINVAL with a message for options that cannot be. Schemas known by then are in the session. */
	int (*open)(struct sink **ret, const struct sink_options *opts);
	/* One event. <0: stop; -EPIPE: the reader of the output closed it. */
	int (*event)(struct sink *s, const struct event *ev);
	/* Writes what is buffered; its failure is the run's. */
	int (*finish)(struct sink *s);
	int (*flush)(
		struct sink *s); /* the same in the midst of a run: what comes next may take long */
	void (*close)(struct sink *s);
};

extern const struct sink_ops text_sink_ops;

#endif
