/* SPDX-License-Identifier: MIT */
/* Session: an iterable of Event. Data shared by the session and its events. */
#ifndef SONDE_PY_SESSION_H
#define SONDE_PY_SESSION_H

#include "module_state.h"
#include "values.h"

/* An event type as Python sees it; owned by the session. */
struct schema_info {
	const struct sonde_schema *sc;
	PyObject *name; /* "sched:sched_switch" */
	PyObject *keys; /* tuple of field names, in the order of the format, common_* too */
	struct conv *convs;
	size_t nr_fields;
	/*
	 * Attributes of Event by the address of their interned name: index of the field, or -1 for
	 * one of Event's own. A new name replaces the old one in its place.
	 */
	struct {
		PyObject *name; /* owned; NULL in an unused place */
		Py_ssize_t field;
	} attrs[64];
};

/* A recorder and its session, which are one object of the library. */
struct py_live {
	PyObject_HEAD
	PyObject *module;     /* keeps the types alive */
	struct sonde_live *l; /* NULL after close() */
	char **command;       /* owned, NULL-terminated: the library borrows it; NULL if none */
	bool has_session;     /* a Session has been opened, which ends both */
};

struct py_session {
	PyObject_HEAD
	PyObject *weak;   /* weak references to the session */
	PyObject *module; /* keeps the types alive */
	struct module_state *m;
	struct py_live *live;    /* owned; it has the session. NULL for recordings */
	struct sonde_session *s; /* NULL after close() */
	struct values *v;
	/* The batch being delivered; its events are borrowed from the library. */
	const struct sonde_event *const *batch;
	size_t nr_batch, at;
	/* Events of the batch that Python code holds: a list by `newer`, borrowed. */
	struct py_event *oldest, *newest;
	struct py_event *spare;       /* memory of an Event that nobody holds; NULL if none */
	struct schema_info **schemas; /* by id */
	size_t nr_schemas;
	unsigned long owner; /* the thread that iterates; 0 if none */
	bool busy;           /* the session is being read without the interpreter lock */
	bool raises_losses;  /* on_loss="raise" */
	uint64_t wake_ns;    /* a wait for events ends at this time of CLOCK_MONOTONIC; 0: never */
	bool is_polled;      /* iterating ends with the batch that _poll() has read */
	/* Times of what count() and aggregations took; SONDE_NO_TIME if nothing. */
	uint64_t first_ns, last_ns;
};

struct py_schema {
	PyObject_HEAD
	struct py_session *session; /* owned */
	struct schema_info *info;
};

struct py_event {
	PyObject_HEAD
	struct py_session *session; /* owned */
	struct schema_info *info;
	const struct sonde_event *ev; /* borrowed from the session, or `own` */
	/* A copy, made when the session advanced while the Event was still held. */
	struct sonde_event *own;
	struct py_event *older, *newer; /* see py_session.oldest */
};

/* live: has the recorder whose events are read; NULL for a recording. */
PyObject *session_new(PyObject *module, struct module_state *m, const char *text,
		      struct py_live *live);
struct schema_info *session_schema(struct py_session *s, uint32_t id); /* NULL with an exception */
int session_check(struct py_session *s); /* -1 with an exception if it cannot be used now */
/* Unlinks an Event whose bytes are the library's. */
void session_forget_lent(struct py_event *e);
/*
 * Called before other code reads from the session: gives each Event that is still held its own
 * copy, and gives undelivered events back. Returns -1 with an exception.
 */
int session_keep_lent(struct py_session *s);
/*
 * Reads the next batch without the interpreter lock. Returns 1 if there are events, 0 at the end,
 * -1 with an exception.
 */
int session_fill(struct py_session *s);
#define SESSION_AGAIN 2
/* The same, but SESSION_AGAIN if a signal came, or no event for some time (10 to 100 ms). */
int session_fill_once(struct py_session *s);
/* -1 with LossError if data was lost so far and the session raises losses. */
int session_check_losses(struct py_session *s);
/* A new Event for an event of the batch. */
PyObject *session_lend(struct py_session *s, const struct sonde_event *ev);
/* session_keep_lent() for callers that read the next batch themselves. */
int session_keep_batch(struct py_session *s);
/* -1 with an exception if another thread reads the event's session just now. */
int session_check_event(const struct py_event *e);
void session_info_free(struct schema_info *info);

/* What the library makes for a session, as an object that keeps the session: struct py_x begins so.
 */
#define SESSION_CHILD_HEAD \
	PyObject_HEAD      \
	struct py_session *session; /* owned */
struct py_session_child {
	SESSION_CHILD_HEAD
};
/* The size is that of the type. NULL with an exception. */
struct py_session_child *session_child_new(struct py_session *s, PyTypeObject *type);
/* For tp_dealloc: frees the object, after its own part was freed. */
void session_child_free(struct py_session_child *o);

#endif
