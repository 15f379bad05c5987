/* SPDX-License-Identifier: MIT */
/* The type Session: an open recording, iterated event by event. */
#include "session_type.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include <structmember.h>

#include "aggregate.h"
#include "count.h"
#include "filter.h"
#include "live.h"
#include "schema.h"

static void session_type_dealloc(struct py_session *s)
{
	PyTypeObject *type = Py_TYPE((PyObject *)s);

	if (s->weak)
		PyObject_ClearWeakRefs((PyObject *)s);
	for (size_t i = 0; i < s->nr_schemas; i++)
		session_info_free(s->schemas[i]);
	free(s->schemas);
	values_free(s->v);
	PyObject_Free(s->spare);
	if (s->live) {
		Py_DECREF((PyObject *)s->live);
	} else {
		Py_BEGIN_ALLOW_THREADS
		sonde_session_close(s->s);
		Py_END_ALLOW_THREADS
	}
	Py_XDECREF(s->module);
	PyObject_Free(s);
	Py_DECREF(type);
}

static PyObject *session_type_next(struct py_session *s)
{
	int r;

	if (s->at < s->nr_batch && s->owner == PyThread_get_thread_ident())
		return session_lend(s, s->batch[s->at++]);
	if (session_check(s) < 0 || session_keep_batch(s) < 0)
		return NULL;
	s->owner = PyThread_get_thread_ident();
	if (s->at == s->nr_batch && s->is_polled) {
		s->owner = 0;
		return NULL;
	}
	if (s->at == s->nr_batch) {
		r = session_fill(s);
		if (r <= 0) {
			s->owner = 0;
			return NULL;
		}
	}
	return session_lend(s, s->batch[s->at++]);
}

static PyObject *session_type_iter(PyObject *self)
{
	Py_INCREF(self);
	return self;
}

static PyObject *session_type_close(struct py_session *s, PyObject *unused)
{
	(void)unused;
	if (!s->s)
		Py_RETURN_NONE;
	if (session_check(s) < 0 || session_keep_lent(s) < 0)
		return NULL;
	if (s->live)
		live_end(s->live);
	else
		sonde_session_close(s->s);
	s->s = NULL;
	s->owner = 0;
	Py_RETURN_NONE;
}

/* _poll() -> True: events have come, False: at the end, None: nothing came for some time */
static PyObject *session_type_poll(struct py_session *s, PyObject *unused)
{
	int r;

	(void)unused;
	if (session_check(s) < 0 || session_keep_batch(s) < 0)
		return NULL;
	s->is_polled = true;
	if (s->at < s->nr_batch)
		Py_RETURN_TRUE;
	r = session_fill_once(s);
	if (r < 0)
		return NULL;
	if (r == SESSION_AGAIN)
		Py_RETURN_NONE;
	return PyBool_FromLong(r);
}

/* _wake_at(ns): _poll() and _pour() return at this time of CLOCK_MONOTONIC; 0: never */
static PyObject *session_type_wake_at(struct py_session *s, PyObject *arg)
{
	const unsigned long long ns = PyLong_AsUnsignedLongLong(arg);

	if (PyErr_Occurred())
		return NULL;
	s->wake_ns = ns;
	Py_RETURN_NONE;
}

static PyObject *session_type_enter(PyObject *self, PyObject *unused)
{
	(void)unused;
	Py_INCREF(self);
	return self;
}

static PyObject *session_type_exit(struct py_session *s, PyObject *args)
{
	(void)args;
	return session_type_close(s, NULL);
}

/* Also called by signal handlers, and by other threads while one waits in next(). */
static PyObject *session_type_stop(struct py_session *s, PyObject *unused)
{
	(void)unused;
	if (s->s)
		sonde_session_stop(s->s);
	Py_RETURN_NONE;
}

static PyObject *session_type_info(struct py_session *s, PyObject *arg)
{
	PyObject *utf8 = PyUnicode_AsUTF8String(arg);
	const char *value;

	if (!utf8)
		return NULL;
	if (session_check(s) < 0) {
		Py_DECREF(utf8);
		return NULL;
	}
	value = sonde_session_info(s->s, PyBytes_AsString(utf8));
	Py_DECREF(utf8);
	if (!value)
		Py_RETURN_NONE;
	return text_object(value, strlen(value));
}

static PyObject *session_type_schemas(struct py_session *s, void *unused)
{
	PyObject *list;
	size_t nr;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	nr = sonde_session_schemas(s->s);
	list = PyList_New((Py_ssize_t)nr);
	for (size_t i = 0; list && i < nr; i++) {
		struct schema_info *info = session_schema(s, (uint32_t)i);
		PyObject *o = info ? schema_new(s, info) : NULL;

		if (!o) {
			Py_CLEAR(list);
			break;
		}
		PyList_SetItem(list, (Py_ssize_t)i, o);
	}
	return list;
}

/* Defect(name, severity, count, advice, first) */
static PyObject *session_type_defect(struct py_session *s, const struct sonde_defect *d)
{
	static const char *const severities[] = { "info", "loss", "error" };
	PyObject *const values[] = {
		PyUnicode_FromString(d->name),
		PyUnicode_FromString(
			severities[d->severity <= SONDE_ERROR ? d->severity : SONDE_ERROR]),
		u64_object(d->count),
		PyUnicode_FromString(d->advice),
		text_object(d->first, strlen(d->first)),
	};

	return sequence_object(s->m->defect, values, sizeof(values) / sizeof(values[0]));
}

PyTypeObject *session_defect_type_new(void)
{
	static PyStructSequence_Field members[] = {
		{ "name", "str: 'lost-events', 'truncated', ... See docs/defects.md" },
		{ "severity",
		  "str: info (explains something), loss (results miss something), error "
		  "(part of the input could not be understood)" },
		{ "count", "int: occurrences; for lost-events the number of events" },
		{ "advice", "str: the meaning of the defect and the remedy" },
		{ "first", "str: place of the first occurrence, or ''" },
		{ NULL, NULL },
	};
	static PyStructSequence_Desc desc = {
		"sonde.Defect",
		"A loss or a damage of the input that users of results should know.", members, 5
	};

	return PyStructSequence_NewType(&desc);
}

static PyObject *session_type_defects(struct py_session *s, void *unused)
{
	const struct sonde_defect *d;
	PyObject *list;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	list = PyList_New(0);
	for (size_t i = 0; list && (d = sonde_session_defect(s->s, i)); i++) {
		PyObject *item = session_type_defect(s, d);

		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

/* Pair(name, pairs, unmatched_starts, unmatched_stops, dropped, given_up) */
static PyObject *session_type_pair(struct py_session *s, const struct sonde_pair *p)
{
	PyObject *const values[] = {
		name_object(p->name),
		u64_object(p->pairs),
		u64_object(p->unmatched_starts),
		u64_object(p->unmatched_stops),
		u64_object(p->dropped),
		u64_object(p->given_up),
	};

	return sequence_object(s->m->pair, values, sizeof(values) / sizeof(values[0]));
}

PyTypeObject *session_pair_type_new(void)
{
	static PyStructSequence_Field members[] = {
		{ "name", "str: the name of the derived event" },
		{ "pairs", "int: events derived so far" },
		{ "unmatched_starts", "int: starts that have no stop yet" },
		{ "unmatched_stops", "int: stops that had no start" },
		{ "dropped", "int: pairs left out, because events were lost in between" },
		{ "given_up", "int: oldest starts given up, because too many had no stop" },
		{ NULL, NULL },
	};
	static PyStructSequence_Desc desc = { "sonde.Pair", "What became of a pair of events.",
					      members, 6 };

	return PyStructSequence_NewType(&desc);
}

static PyObject *session_type_pairs(struct py_session *s, void *unused)
{
	struct sonde_pair p = { .size = sizeof(p) };
	PyObject *list;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	list = PyList_New(0);
	for (size_t i = 0; list && sonde_session_pair(s->s, i, &p) > 0; i++) {
		PyObject *item = session_type_pair(s, &p);

		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

static PyObject *session_type_defects_line(struct py_session *s, void *unused)
{
	const char *line;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	line = sonde_session_defects_line(s->s);
	return text_object(line, strlen(line));
}

static PyObject *session_type_filters_line(struct py_session *s, void *unused)
{
	const char *line;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	line = sonde_session_filters_line(s->s);
	return text_object(line, strlen(line));
}

static PyObject *session_type_text(struct py_session *s, void *unused)
{
	const char *text;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	text = sonde_session_print(s->s);
	return text ? text_object(text, strlen(text)) : PyErr_NoMemory();
}

/* _write(fd): everything as the session's format says. */
static PyObject *session_type_write(struct py_session *s, PyObject *arg)
{
	long fd = PyLong_AsLong(arg);
	int r;

	if ((fd == -1 && PyErr_Occurred()) || session_check(s) < 0 || session_keep_lent(s) < 0)
		return NULL;
	s->busy = true;
	Py_BEGIN_ALLOW_THREADS
	r = sonde_session_write(s->s, (int)fd);
	Py_END_ALLOW_THREADS
	s->busy = false;
	if (r < 0 && r != -EPIPE) /* nobody reads the rest */
		return module_error(s->m, r);
	if (session_check_losses(s) < 0)
		return NULL;
	Py_RETURN_NONE;
}

/* (first, last): times of the events that count() or aggregations took. */
static PyObject *session_type_span(struct py_session *s, void *unused)
{
	(void)unused;
	if (s->first_ns == SONDE_NO_TIME)
		return Py_BuildValue("(OO)", Py_None, Py_None);
	return Py_BuildValue("(NN)", u64_object(s->first_ns), u64_object(s->last_ns));
}

static PyObject *session_type_raises_losses(struct py_session *s, void *unused)
{
	(void)unused;
	return PyBool_FromLong(s->raises_losses);
}

static int session_type_raise_losses(struct py_session *s, PyObject *value, void *unused)
{
	int r = value ? PyObject_IsTrue(value) : 0;

	(void)unused;
	if (r < 0)
		return -1;
	s->raises_losses = r;
	return 0;
}

static PyMethodDef methods[] = {
	{ "close", (PyCFunction)session_type_close, METH_NOARGS,
	  "close()\n\nEnds reading and releases the recording. Events already delivered stay "
	  "valid." },
	{ "stop", (PyCFunction)session_type_stop, METH_NOARGS,
	  "stop()\n\nIteration ends at the next event. May be called from another thread." },
	{ "info", (PyCFunction)session_type_info, METH_O,
	  "info(key) -> str or None\n\nA fact from the recording's header: hostname, osrelease, "
	  "version, arch, cmdline,\n"
	  "cpudesc, nrcpus-online, nrcpus-available, cpu-sockets (of each cpu), "
	  "branch-stacks (1: the header says so),\n"
	  "event-groups (1: the header describes groups of events),\n"
	  "byte-order (little, big), long-bytes, form (file, pipe)." },
	{ "count", (PyCFunction)count_of_session, METH_VARARGS,
	  "count(by=()) -> int or dict\n\nReads all further events and counts them: their number, "
	  "or "
	  "a dict of the values of the\nkeys to the number of events. Keys are name cpu pid tid "
	  "comm "
	  "index and names of fields. With\nseveral keys the dict's keys are tuples; a value that "
	  "an "
	  "event does not have is None." },
	{ "_aggregate", (PyCFunction)aggregate_of_session, METH_VARARGS,
	  "_aggregate(kind, events, field, by, where, linear, limit) -> _Aggregate" },
	{ "_pour", (PyCFunction)aggregate_pour, METH_VARARGS,
	  "_pour(aggregates, until) -> bool, None or int: as _poll(), after adding the events." },
	{ "_filter", (PyCFunction)filter_of_session, METH_VARARGS,
	  "_filter(text, is_named) -> _Filter: a condition, called with an event." },
	{ "_wake_at", (PyCFunction)session_type_wake_at, METH_O,
	  "_wake_at(ns): ends a wait of _poll() and _pour() at this time of the clock." },
	{ "_poll", (PyCFunction)session_type_poll, METH_NOARGS,
	  "_poll() -> bool or None: waits for the next batch; iterating then ends with it." },
	{ "_write", (PyCFunction)session_type_write, METH_O,
	  "_write(fd): the text of all events." },
	{ "__enter__", session_type_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)session_type_exit, METH_VARARGS, NULL },
	{ NULL }
};

static PyGetSetDef getset[] = {
	{ "schemas", (getter)session_type_schemas, NULL,
	  "list of Schema: the event types seen so far, by id. A pipe may add some while it is "
	  "read.",
	  NULL },
	{ "defects", (getter)session_type_defects, NULL,
	  "list of Defect: defects of the input, as far as it was read.", NULL },
	{ "pairs", (getter)session_type_pairs, NULL,
	  "list of Pair: the pairs of the key pair=, with their counts so far.", NULL },
	{ "defects_line", (getter)session_type_defects_line, NULL,
	  "str: the defects in one line, '' when there are none.", NULL },
	{ "filters_line", (getter)session_type_filters_line, NULL,
	  "str: what the recording contains if the filters let no event through; otherwise ''.",
	  NULL },
	{ "text", (getter)session_type_text, NULL,
	  "str: the session as key=value lines, complete; sonde.session() takes it.", NULL },
	{ "span", (getter)session_type_span, NULL,
	  "tuple: the times in ns of the first and the last event that count() counted; None if "
	  "none.",
	  NULL },
	{ "raises_losses", (getter)session_type_raises_losses, (setter)session_type_raise_losses,
	  "bool: raise LossError as soon as a loss is known.", NULL },
	{ NULL }
};

PyTypeObject *session_type_new(PyObject *module)
{
	static PyMemberDef members[] = { { "__weaklistoffset__", T_PYSSIZET,
					   offsetof(struct py_session, weak), READONLY, NULL },
					 { NULL } };
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc,
		  "An open recording. Iterating gives its events in time order, once.\n\n"
		  "Made by sonde.open() or sonde.session(). A context manager: leaving it closes "
		  "the session.\n"
		  "Iterating raises sonde.Error if the recording cannot be read further." },
		{ Py_tp_dealloc, session_type_dealloc },
		{ Py_tp_iter, session_type_iter },
		{ Py_tp_iternext, session_type_next },
		{ Py_tp_members, members },
		{ Py_tp_methods, methods },
		{ Py_tp_getset, getset },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Session", sizeof(struct py_session), 0,
				    Py_TPFLAGS_DEFAULT, slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
