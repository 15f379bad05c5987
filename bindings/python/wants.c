/* SPDX-License-Identifier: MIT */
#include "wants.h"

#include "values.h"

#include <string.h>

#include "prelude/wants.h"

static PyObject *wants_bytes(PyObject *name)
{
	if (!PyUnicode_Check(name)) {
		PyErr_SetString(PyExc_TypeError, "an event's name is a str");
		return NULL;
	}
	return PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape");
}

static PyObject *wants_ask(PyObject *name, bool (*is)(const char *name))
{
	PyObject *bytes = wants_bytes(name);
	bool yes;

	if (!bytes)
		return NULL;
	yes = is(PyBytes_AsString(bytes));
	Py_DECREF(bytes);
	return PyBool_FromLong(yes);
}

PyObject *wants_is_glob(PyObject *module, PyObject *name)
{
	(void)module;
	return wants_ask(name, prelude_is_glob);
}

PyObject *wants_is_tracepoint(PyObject *module, PyObject *name)
{
	(void)module;
	return wants_ask(name, prelude_is_tracepoint);
}

static int wants_append(PyObject *list, PyObject *o)
{
	const int r = o ? PyList_Append(list, o) : -1;

	Py_XDECREF(o);
	return r;
}

PyObject *wants_tracepoints(PyObject *module, PyObject *unused)
{
	char **names = prelude_tracepoints();
	PyObject *list = names ? PyList_New(0) : PyErr_NoMemory();

	(void)module;
	(void)unused;
	for (size_t i = 0; list && names[i]; i++)
		if (wants_append(list, text_object(names[i], strlen(names[i]))) < 0)
			Py_CLEAR(list);
	prelude_tracepoints_free(names);
	return list;
}

/* Returns -1 with an exception. */
static int wants_add(struct prelude_wants *w, PyObject *pair)
{
	PyObject *name, *condition, *name_bytes = NULL, *bytes = NULL;
	int r = -1;

	if (!PyArg_ParseTuple(pair, "OO", &name, &condition))
		return -1;
	name_bytes = wants_bytes(name);
	if (name_bytes && condition != Py_None)
		bytes = wants_bytes(condition);
	if (!PyErr_Occurred()) {
		r = prelude_wants_add(w, PyBytes_AsString(name_bytes),
				      bytes ? PyBytes_AsString(bytes) : NULL);
		if (r < 0)
			PyErr_NoMemory();
	}
	Py_XDECREF(name_bytes);
	Py_XDECREF(bytes);
	return r;
}

static PyObject *wants_list(const struct prelude_wants *w)
{
	PyObject *list = PyList_New(0);
	const struct prelude_want *want;

	for (size_t i = 0; list && (want = prelude_wants_at(w, i)); i++) {
		PyObject *name = text_object(want->name, strlen(want->name)),
			 *condition = want->condition ? text_object(want->condition,
								    strlen(want->condition))
						      : Py_BuildValue("");

		if (wants_append(list,
				 name && condition ? PyTuple_Pack(2, name, condition) : NULL) < 0)
			Py_CLEAR(list);
		Py_XDECREF(name);
		Py_XDECREF(condition);
	}
	return list;
}

PyObject *wants_merged(PyObject *module, PyObject *wanted)
{
	struct prelude_wants *w;
	PyObject *list = NULL;
	int r = 0;

	(void)module;
	if (!PyList_Check(wanted)) {
		PyErr_SetString(PyExc_TypeError, "a list is needed");
		return NULL;
	}
	w = prelude_wants_new();
	if (!w)
		return PyErr_NoMemory();
	for (Py_ssize_t i = 0; !r && i < PyList_Size(wanted); i++)
		r = wants_add(w, PyList_GetItem(wanted, i));
	if (!r && prelude_wants_merge(w) < 0)
		PyErr_NoMemory();
	else if (!r)
		list = wants_list(w);
	prelude_wants_free(w);
	return list;
}
