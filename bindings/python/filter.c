/* SPDX-License-Identifier: MIT */
#include "filter.h"

#include "event.h"

#include <string.h>

struct py_filter {
	SESSION_CHILD_HEAD
	struct sonde_filter *f;
	int is_named;
};

PyObject *filter_of_session(struct py_session *s, PyObject *args)
{
	struct py_filter *filter;
	struct sonde_filter *f;
	PyObject *text, *bytes;
	int is_named, r;

	if (!PyArg_ParseTuple(args, "Up", &text, &is_named) || session_check(s) < 0)
		return NULL;
	bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
	if (!bytes)
		return NULL;
	r = sonde_filter_new(&f, s->s, PyBytes_AsString(bytes));
	Py_DECREF(bytes);
	if (r < 0)
		return module_error(s->m, r);
	filter = (struct py_filter *)session_child_new(s, s->m->filter);
	if (!filter) {
		sonde_filter_free(f);
		return NULL;
	}
	filter->f = f;
	filter->is_named = is_named;
	return (PyObject *)filter;
}

static void filter_dealloc(struct py_filter *filter)
{
	sonde_filter_free(filter->f);
	session_child_free((struct py_session_child *)filter);
}

static PyObject *filter_call(struct py_filter *filter, PyObject *args, PyObject *kw)
{
	struct py_event *e;
	int r;

	(void)kw;
	if (!PyArg_ParseTuple(args, "O!", filter->session->m->event, &e))
		return NULL;
	if (session_check_event(e) < 0)
		return NULL;
	r = sonde_filter_matches(filter->f, e->ev, filter->is_named);
	return r < 0 ? module_error(filter->session->m, r) : PyBool_FromLong(r);
}

PyTypeObject *filter_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc, "A condition: filter(event) -> bool." },
		{ Py_tp_dealloc, filter_dealloc },
		{ Py_tp_call, filter_call },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde._Filter", sizeof(struct py_filter), 0,
				    Py_TPFLAGS_DEFAULT, slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
