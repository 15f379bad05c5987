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
};

struct py_session {
	PyObject_HEAD
	PyObject *module; /* keeps the types alive */
	struct module_state *m;
	struct sonde_session *s; /* NULL after close() */
	struct values *v;
	/* The existing Event whose bytes are the library's; borrowed; NULL if none. */
	struct py_event *borrowed;
	struct schema_info **schemas; /* by id */
	size_t nr_schemas;
	bool busy; /* the session is being read without the interpreter lock */
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
};

PyObject *session_new(PyObject *module, struct module_state *m, const char *text);
struct schema_info *session_schema(struct py_session *s, uint32_t id); /* NULL with an exception */
int session_check(struct py_session *s); /* -1 with an exception if closed */
/*
 * Called before the session advances: gives an Event that is still held its own copy. Returns -1
 * with an exception.
 */
int session_keep_lent(struct py_session *s);
PyTypeObject *session_type_new(PyObject *module);

#endif
