/* SPDX-License-Identifier: MIT */
/* The module `sonde`: opens recordings and iterates over their events. */

#include "cpython.h"

#include <signal.h>
#include <string.h>

#include "aggregate.h"
#include "column.h"
#include "columns.h"
#include "event.h"
#include "event_sample.h"
#include "filter.h"
#include "lazy.h"
#include "live.h"
#include "needs.h"
#include "profile.h"
#include "run_type.h"
#include "schema.h"
#include "session_type.h"
#include "stack.h"

static PyObject *module_session_from(PyObject *module, PyObject *text)
{
	PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape"),
		 *session = NULL;
	const char *chars;

	if (!bytes)
		return NULL;
	chars = PyBytes_AsString(bytes);
	if (strlen(chars) != (size_t)PyBytes_Size(bytes))
		PyErr_SetString(PyExc_ValueError, "a session's text must not contain a NUL");
	else
		session = session_new(module, PyModule_GetState(module), chars, NULL);
	Py_DECREF(bytes);
	return session;
}

static PyObject *module_session(PyObject *module, PyObject *text)
{
	if (!PyUnicode_Check(text)) {
		PyErr_SetString(PyExc_TypeError, "session() takes str: key=value lines");
		return NULL;
	}
	return module_session_from(module, text);
}

/*
 * Makes the line key=value. True and False become 1 and 0, a sequence is joined by commas, and '_'
 * in a key becomes '-'.
 */
static PyObject *module_line_of(PyObject *key, PyObject *value)
{
	PyObject *text, *name, *line = NULL;

	if (PyBool_Check(value))
		text = PyUnicode_FromString(value == Py_True ? "1" : "0");
	else if (PyList_Check(value) || PyTuple_Check(value)) {
		PyObject *comma = PyUnicode_FromString(","), *parts = PyList_New(0);

		for (Py_ssize_t i = 0; parts && i < PySequence_Size(value); i++) {
			PyObject *item = PySequence_GetItem(value, i),
				 *part = item ? PyObject_Str(item) : NULL;

			Py_XDECREF(item);
			if (!part || PyList_Append(parts, part) < 0)
				Py_CLEAR(parts);
			Py_XDECREF(part);
		}
		text = comma && parts ? PyUnicode_Join(comma, parts) : NULL;
		Py_XDECREF(comma);
		Py_XDECREF(parts);
	} else
		text = PyObject_Str(value);
	name = PyObject_CallMethod(key, "replace", "ss", "_", "-");
	if (text && name) {
		if (PyUnicode_FindChar(text, '\n', 0, PyUnicode_GetLength(text), 1) >= 0)
			PyErr_Format(PyExc_ValueError, "%U: a value must not contain a line break",
				     name);
		else
			line = PyUnicode_FromFormat("%U=%U\n", name, text);
	}
	Py_XDECREF(text);
	Py_XDECREF(name);
	return line;
}

/* Joins the lines of keyword arguments. */
static PyObject *module_join_keys(PyObject *kw)
{
	PyObject *lines = PyList_New(0), *empty = PyUnicode_FromString(""), *text = NULL;
	PyObject *key, *value;
	Py_ssize_t pos = 0;
	int r = lines && empty ? 0 : -1;

	while (r >= 0 && kw && PyDict_Next(kw, &pos, &key, &value)) {
		PyObject *line = module_line_of(key, value);

		r = line ? PyList_Append(lines, line) : -1;
		Py_XDECREF(line);
	}
	if (r >= 0)
		text = PyUnicode_Join(empty, lines);
	Py_XDECREF(lines);
	Py_XDECREF(empty);
	return text;
}

/* profile(session, **settings) */
static PyObject *module_profile(PyObject *module, PyObject *args, PyObject *kw)
{
	struct module_state *m = PyModule_GetState(module);
	PyObject *session, *text, *bytes, *rows = NULL;

	if (!PyArg_ParseTuple(args, "O!", m->session, &session))
		return NULL;
	text = module_join_keys(kw);
	bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape") : NULL;
	if (bytes)
		rows = profile_of_session(module, (struct py_session *)session,
					  PyBytes_AsString(bytes));
	Py_XDECREF(bytes);
	Py_XDECREF(text);
	return rows;
}

/* Raises UnknownEvent: _unknown_event(name, names) */
static PyObject *module_unknown_event(PyObject *module, PyObject *args)
{
	PyObject *name, *names;

	if (!PyArg_ParseTuple(args, "UO!", &name, &PyList_Type, &names))
		return NULL;
	return module_unknown(PyModule_GetState(module), name, NULL, names);
}

/* Raises UnknownField: _unknown_field(name, event, names) */
static PyObject *module_unknown_field(PyObject *module, PyObject *args)
{
	PyObject *name, *event, *names;

	if (!PyArg_ParseTuple(args, "UUO!", &name, &event, &PyList_Type, &names))
		return NULL;
	return module_unknown(PyModule_GetState(module), name, event, names);
}

static PyObject *module_wipe_progress(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	sonde_progress_wipe(1);
	Py_RETURN_NONE;
}

/*
 * Python runs signal handlers only after the recording was opened, and unpacking it may take long.
 */
static PyObject *module_wipe_at_interrupt(PyObject *module, PyObject *unused)
{
	(void)module;
	(void)unused;
	signal(SIGINT, sonde_progress_signal);
	Py_RETURN_NONE;
}

static PyObject *module_nearest(PyObject *module, PyObject *args)
{
	struct sonde_nearest n = { .size = sizeof(n) };
	const char *meant;
	PyObject *names;

	(void)module;
	if (!PyArg_ParseTuple(args, "yO!", &n.wanted, &PyList_Type, &names))
		return NULL;
	for (Py_ssize_t i = 0; i < PyList_Size(names); i++) {
		const char *name = PyBytes_AsString(PyList_GetItem(names, i));

		if (!name)
			return NULL;
		sonde_nearest_offer(&n, name);
	}
	meant = prelude_meant(&n);
	if (!meant)
		Py_RETURN_NONE;
	return PyBytes_FromString(meant);
}

/* For the launcher: names and values of the rules of a session's text. */
static PyObject *module_rules(PyObject *module, PyObject *args)
{
	const struct sonde_rules *rules;
	const char *text;
	PyObject *dict;

	if (!PyArg_ParseTuple(args, "y", &text))
		return NULL;
	rules = prelude_rules_of_text(text);
	dict = PyDict_New();
	for (const struct prelude_rule *r = prelude_rules; dict && r->name; r++)
		if (dict_take_str(dict, r->name,
				  PyLong_FromUnsignedLong(prelude_rule_value(rules, r))) < 0)
			Py_CLEAR(dict);
	return dict;
}

static PyMethodDef functions[] = {
	{ "session", module_session, METH_O,
	  "session(text) -> Session\n\nOpens a session from its text form: key=value lines as in "
	  "Session.text. Raises\nOptionError for a wrong key or value, and like open() if the "
	  "input "
	  "cannot be read." },
	{ "profile", (PyCFunction)(void (*)(void))module_profile, METH_VARARGS | METH_KEYWORDS,
	  "profile(session, **settings) -> Profile: sonde.profile() of a Session." },
	{ "_columns", columns_open, METH_VARARGS,
	  "_columns(session, event, fields, flags, rows) -> Columns" },
	{ "_column", column_new, METH_VARARGS, "_column(batches, index) -> Column" },
	{ "_stream", columns_new_stream, METH_VARARGS, "_stream(batches) -> capsule" },
	{ "_schema", columns_new_schema, METH_VARARGS, "_schema(batch) -> capsule" },
	{ "_unknown_event", module_unknown_event, METH_VARARGS, "Raises UnknownEvent." },
	{ "_unknown_field", module_unknown_field, METH_VARARGS, "Raises UnknownField." },
	{ "_run", (PyCFunction)(void (*)(void))run_create, METH_VARARGS | METH_KEYWORDS,
	  "For the launcher of perf scripts." },
	{ "_rules", module_rules, METH_VARARGS, "perf's rules for a session's text." },
	{ "_wipe_progress", module_wipe_progress, METH_NOARGS,
	  "Wipes the progress line for good." },
	{ "_wipe_at_interrupt", module_wipe_at_interrupt, METH_NOARGS,
	  "Ctrl-C wipes the line, and ends the process." },
	{ "_live", live_open, METH_VARARGS,
	  "_live(events, settings, command, latency_ms, output) -> Live: opens events; see "
	  "sonde.record()." },
	{ "_record_line", live_record_line, METH_VARARGS,
	  "_record_line(events, settings, command, output) -> str: as `sonde record` takes it." },
	NEEDS_FUNCTIONS,
	{ "_nearest", module_nearest, METH_VARARGS,
	  "The name of a list that was probably meant, or None; all are bytes." },
	{ NULL }
};

static int module_add(PyObject *module, const char *name, PyObject *o)
{
	if (!o)
		return -1;
	Py_INCREF(o);
	if (PyModule_AddObject(module, name, o) < 0) {
		Py_DECREF(o);
		return -1;
	}
	return 0;
}

static int module_exec(PyObject *module)
{
	struct module_state *m = PyModule_GetState(module);
	PyObject *version;
	int code;

	if (module_make_errors(module, m) < 0)
		return -1;
	m->session = session_type_new(module);
	m->event = event_type_new(module);
	m->schema = schema_type_new(module);
	m->fields = event_fields_type_new(module);
	m->frame = stack_frame_type_new(module);
	m->stack = stack_type_new(module);
	m->columns = columns_type_new(module);
	m->batch = columns_batch_type_new(module);
	m->column = column_type_new(module);
	m->field = schema_field_type_new();
	m->sample = event_sample_type_new();
	m->defect = session_defect_type_new();
	m->pair = session_pair_type_new();
	m->aggregate = aggregate_type_new(module);
	m->live = live_type_new(module);
	m->filter = filter_type_new(module);
	m->run = run_type_new(module);
	m->profile = profile_type_new(module);
	m->lazy_dict = lazy_dict_type_new(&m->lazy_dict_off);
	m->lazy_list = lazy_list_type_new(&m->lazy_list_off);
	if (!m->aggregate || !m->live || !m->filter || !m->run || !m->lazy_dict || !m->lazy_list ||
	    module_add(module, "Session", (PyObject *)m->session) < 0 ||
	    module_add(module, "Event", (PyObject *)m->event) < 0 ||
	    module_add(module, "Schema", (PyObject *)m->schema) < 0 ||
	    module_add(module, "Fields", (PyObject *)m->fields) < 0 ||
	    module_add(module, "Frame", (PyObject *)m->frame) < 0 ||
	    module_add(module, "Stack", (PyObject *)m->stack) < 0 || !m->columns || !m->batch ||
	    module_add(module, "Column", (PyObject *)m->column) < 0 ||
	    module_add(module, "Field", (PyObject *)m->field) < 0 ||
	    module_add(module, "Sample", (PyObject *)m->sample) < 0 ||
	    module_add(module, "Pair", (PyObject *)m->pair) < 0 ||
	    module_add(module, "Defect", (PyObject *)m->defect) < 0 ||
	    module_add(module, "Profile", (PyObject *)m->profile) < 0)
		return -1;
	version = PyUnicode_FromString(sonde_version());
	code = module_add(module, "__version__", version);
	Py_XDECREF(version);
	return code;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
	struct module_state *m = PyModule_GetState(module);

	if (!m)
		return 0;
#define X(member, name, base, doc) Py_VISIT(m->member);
	MODULE_ERRORS(X)
#undef X
	Py_VISIT(m->session);
	Py_VISIT(m->event);
	Py_VISIT(m->schema);
	Py_VISIT(m->fields);
	Py_VISIT(m->frame);
	Py_VISIT(m->stack);
	Py_VISIT(m->columns);
	Py_VISIT(m->batch);
	Py_VISIT(m->column);
	Py_VISIT(m->field);
	Py_VISIT(m->sample);
	Py_VISIT(m->defect);
	Py_VISIT(m->pair);
	Py_VISIT(m->aggregate);
	Py_VISIT(m->live);
	Py_VISIT(m->filter);
	Py_VISIT(m->run);
	Py_VISIT(m->profile);
	Py_VISIT(m->lazy_dict);
	Py_VISIT(m->lazy_list);
	return 0;
}

static int module_clear(PyObject *module)
{
	struct module_state *m = PyModule_GetState(module);

	if (!m)
		return 0;
#define X(member, name, base, doc) Py_CLEAR(m->member);
	MODULE_ERRORS(X)
#undef X
	Py_CLEAR(m->session);
	Py_CLEAR(m->event);
	Py_CLEAR(m->schema);
	Py_CLEAR(m->fields);
	Py_CLEAR(m->frame);
	Py_CLEAR(m->stack);
	Py_CLEAR(m->columns);
	Py_CLEAR(m->batch);
	Py_CLEAR(m->column);
	Py_CLEAR(m->field);
	Py_CLEAR(m->sample);
	Py_CLEAR(m->defect);
	Py_CLEAR(m->pair);
	Py_CLEAR(m->aggregate);
	Py_CLEAR(m->live);
	Py_CLEAR(m->filter);
	Py_CLEAR(m->run);
	Py_CLEAR(m->profile);
	Py_CLEAR(m->lazy_dict);
	Py_CLEAR(m->lazy_list);
	return 0;
}

static void module_free(void *module)
{
	module_clear(module);
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, module_exec },
	SLOT_NEEDS_GIL{ 0, NULL },
};

static struct PyModuleDef def = {
	PyModuleDef_HEAD_INIT,
	.m_name = "sonde._sonde",
	.m_doc = "The extension behind the package sonde.",
	.m_size = sizeof(struct module_state),
	.m_methods = functions,
	.m_slots = slots,
	.m_traverse = module_traverse,
	.m_clear = module_clear,
	.m_free = module_free,
};

PyMODINIT_FUNC PyInit__sonde(void);

PyMODINIT_FUNC PyInit__sonde(void)
{
	return PyModuleDef_Init(&def);
}
