/* SPDX-License-Identifier: MIT */
#include "needs.h"

#include "module_state.h"
#include "session.h"
#include "values.h"

#include <string.h>

#include "prelude/needs.h"
#include "prelude/record_line.h"

#define NEEDS_NAME "sonde._needs"

static PyObject *needs_bytes(PyObject *name)
{
	if (!PyUnicode_Check(name)) {
		PyErr_SetString(PyExc_TypeError, "an event's name is a str");
		return NULL;
	}
	return PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape");
}

static PyObject *needs_text(const char *text)
{
	return text_object(text, strlen(text));
}

/* Takes ownership of text; NULL: no memory. */
static PyObject *needs_owned_text(char *text)
{
	PyObject *o = text ? needs_text(text) : PyErr_NoMemory();

	free(text);
	return o;
}

static int needs_append(PyObject *list, PyObject *o)
{
	const int r = o ? PyList_Append(list, o) : -1;

	Py_XDECREF(o);
	return r;
}

/* ---- names ----------------------------------------------------------------------------------- */

static PyObject *needs_ask(PyObject *name, bool (*is)(const char *name))
{
	PyObject *bytes = needs_bytes(name);
	bool yes;

	if (!bytes)
		return NULL;
	yes = is(PyBytes_AsString(bytes));
	Py_DECREF(bytes);
	return PyBool_FromLong(yes);
}

PyObject *needs_is_glob(PyObject *module, PyObject *name)
{
	(void)module;
	return needs_ask(name, prelude_is_glob);
}

PyObject *needs_is_tracepoint(PyObject *module, PyObject *name)
{
	(void)module;
	return needs_ask(name, prelude_is_tracepoint);
}

PyObject *needs_names(PyObject *module, PyObject *args)
{
	PyObject *pattern, *name, *both[2];
	bool yes;

	(void)module;
	if (!PyArg_ParseTuple(args, "OO", &pattern, &name))
		return NULL;
	both[0] = needs_bytes(pattern);
	both[1] = both[0] ? needs_bytes(name) : NULL;
	yes = both[1] && prelude_names(PyBytes_AsString(both[0]), PyBytes_AsString(both[1]));
	Py_XDECREF(both[0]);
	Py_XDECREF(both[1]);
	return both[1] ? PyBool_FromLong(yes) : NULL;
}

PyObject *needs_words(PyObject *module, PyObject *list)
{
	PyObject *bytes = needs_bytes(list), *words = bytes ? PyList_New(0) : NULL;
	const char *text = words ? PyBytes_AsString(bytes) : NULL;

	(void)module;
	if (text && strlen(text) != (size_t)PyBytes_Size(bytes)) {
		/* A NUL is in it, which the caller refuses. */
		if (PyList_Append(words, list) < 0)
			Py_CLEAR(words);
		text = NULL;
	}
	while (text) {
		const size_t len = prelude_name_length(text);

		if (needs_append(words, text_object(text, len)) < 0)
			Py_CLEAR(words);
		text = words && text[len] ? text + len + 1 : NULL;
	}
	Py_XDECREF(bytes);
	return words;
}

PyObject *needs_each_occurrence(PyObject *module, PyObject *name)
{
	PyObject *bytes = needs_bytes(name), *ret;

	(void)module;
	if (!bytes)
		return NULL;
	ret = needs_owned_text(prelude_each_occurrence(PyBytes_AsString(bytes)));
	Py_DECREF(bytes);
	return ret;
}

PyObject *needs_clocked(PyObject *module, PyObject *name)
{
	PyObject *bytes = needs_bytes(name), *ret;

	(void)module;
	if (!bytes)
		return NULL;
	ret = needs_text(prelude_clocked(PyBytes_AsString(bytes)));
	Py_DECREF(bytes);
	return ret;
}

PyObject *needs_tracepoints(PyObject *module, PyObject *unused)
{
	char **names = prelude_tracepoints();
	PyObject *list = names ? PyList_New(0) : PyErr_NoMemory();

	(void)module;
	(void)unused;
	for (size_t i = 0; list && names[i]; i++)
		if (needs_append(list, needs_text(names[i])) < 0)
			Py_CLEAR(list);
	prelude_tracepoints_free(names);
	return list;
}

/* ---- a program ------------------------------------------------------------------------------- */

static void needs_free(PyObject *capsule)
{
	prelude_needs_free(PyCapsule_GetPointer(capsule, NEEDS_NAME));
}

static struct prelude_needs *needs_of(PyObject *capsule)
{
	return PyCapsule_GetPointer(capsule, NEEDS_NAME);
}

/* Returns -1 with an exception. */
static int needs_put(PyObject *module, struct prelude_needs *n, PyObject *pair)
{
	PyObject *what, *text, *both[2];
	int r = -1;

	if (!PyArg_ParseTuple(pair, "OO", &what, &text))
		return -1;
	both[0] = needs_bytes(what);
	both[1] = both[0] ? needs_bytes(text) : NULL;
	if (both[1]) {
		r = prelude_needs_put(n, PyBytes_AsString(both[0]), PyBytes_AsString(both[1]));
		if (r < 0)
			module_error(PyModule_GetState(module), r);
	}
	Py_XDECREF(both[0]);
	Py_XDECREF(both[1]);
	return r;
}

PyObject *needs_new(PyObject *module, PyObject *words)
{
	struct prelude_needs *n;
	PyObject *capsule;

	if (!PyList_Check(words)) {
		PyErr_SetString(PyExc_TypeError, "a list is needed");
		return NULL;
	}
	n = prelude_needs_new();
	if (!n)
		return PyErr_NoMemory();
	capsule = PyCapsule_New(n, NEEDS_NAME, needs_free);
	if (!capsule)
		prelude_needs_free(n);
	for (Py_ssize_t i = 0; capsule && i < PyList_Size(words); i++)
		if (needs_put(module, n, PyList_GetItem(words, i)) < 0)
			Py_CLEAR(capsule);
	return capsule;
}

PyObject *needs_learn(PyObject *module, PyObject *args)
{
	struct module_state *m = PyModule_GetState(module);
	struct py_session *s;
	PyObject *capsule;
	int r;

	if (!PyArg_ParseTuple(args, "OO!", &capsule, m->session, &s) || !needs_of(capsule) ||
	    session_check(s) < 0)
		return NULL;
	r = prelude_needs_learn(needs_of(capsule), s->s);
	if (r < 0)
		return module_error(m, r);
	Py_RETURN_NONE;
}

static PyObject *needs_list(const struct prelude_wants *w)
{
	PyObject *list = PyList_New(0);
	const struct prelude_want *want;

	for (size_t i = 0; list && (want = prelude_wants_at(w, i)); i++) {
		PyObject *name = needs_text(want->name);
		PyObject *condition =
			want->condition ? needs_text(want->condition) : Py_BuildValue("");

		if (needs_append(list,
				 name && condition ? PyTuple_Pack(2, name, condition) : NULL) < 0)
			Py_CLEAR(list);
		Py_XDECREF(name);
		Py_XDECREF(condition);
	}
	return list;
}

PyObject *needs_wants(PyObject *module, PyObject *capsule)
{
	struct prelude_needs *n = needs_of(capsule);
	struct prelude_wants *w;
	PyObject *list;
	int r;

	if (!n)
		return NULL;
	r = prelude_needs_wants(n, &w);
	if (r < 0)
		return module_error(PyModule_GetState(module), r);
	list = needs_list(w);
	prelude_wants_free(w);
	return list;
}

PyObject *needs_settings(PyObject *module, PyObject *capsule)
{
	struct prelude_needs *n = needs_of(capsule);

	(void)module;
	return n ? needs_owned_text(prelude_needs_settings(n)) : NULL;
}

PyObject *needs_lines(PyObject *module, PyObject *capsule)
{
	struct prelude_needs *n = needs_of(capsule);

	(void)module;
	return n ? needs_owned_text(prelude_needs_lines(n)) : NULL;
}

/* (what is wrong or None, other): takes ownership of other, which may be NULL with an exception. */
static PyObject *needs_result(PyObject *module, const struct prelude_needs *n, int r,
			      PyObject *other)
{
	PyObject *wrong = NULL, *ret;

	if (r < 0)
		module_error(PyModule_GetState(module), r);
	else if (other)
		wrong = r ? needs_text(prelude_needs_text(n)) : Py_BuildValue("");
	ret = wrong ? PyTuple_Pack(2, wrong, other) : NULL;
	Py_XDECREF(wrong);
	Py_XDECREF(other);
	return ret;
}

PyObject *needs_check_events(PyObject *module, PyObject *capsule)
{
	struct prelude_needs *n = needs_of(capsule);
	struct prelude_wants *w;
	bool may_read = false;
	int r;

	if (!n)
		return NULL;
	r = prelude_needs_wants(n, &w);
	if (r < 0)
		return module_error(PyModule_GetState(module), r);
	r = prelude_needs_check_events(n, w, &may_read);
	prelude_wants_free(w);
	return needs_result(module, n, r, PyBool_FromLong(may_read));
}

PyObject *needs_check_users(PyObject *module, PyObject *capsule)
{
	struct prelude_needs *n = needs_of(capsule);
	const char *line;
	PyObject *lines;
	int r;

	if (!n)
		return NULL;
	r = prelude_needs_check_users(n);
	lines = r < 0 ? NULL : PyList_New(0);
	while (lines && (line = prelude_needs_line(n)))
		if (needs_append(lines, needs_text(line)) < 0)
			Py_CLEAR(lines);
	return needs_result(module, n, r, lines);
}
