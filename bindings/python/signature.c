/* SPDX-License-Identifier: MIT */
/* What binding needs to know of a Python function: its parameters. */
#include "pysonde.h"

/* An attribute, or NULL without an exception where there is none. */
PyObject *attribute_of(PyObject *o, const char *name)
{
	PyObject *value = PyObject_GetAttrString(o, name);

	if (!value)
		PyErr_Clear();
	return value;
}

static long int_attribute(PyObject *o, const char *name)
{
	PyObject *value = attribute_of(o, name);
	long n = value ? PyLong_AsLong(value) : 0;

	Py_XDECREF(value);
	if (n == -1 && PyErr_Occurred()) {
		PyErr_Clear();
		n = 0;
	}
	return n;
}

size_t signature_defaults(PyObject *func)
{
	PyObject *defaults = attribute_of(func, "__defaults__");
	size_t nr = defaults && PyTuple_Check(defaults) ? (size_t)PyTuple_Size(defaults) : 0;

	Py_XDECREF(defaults);
	return nr;
}

#define CODE_VARARGS 0x04

void signature_done(struct signature *sig)
{
	Py_XDECREF(sig->texts);
	free(sig->names);
}

static int signature_names(struct signature *sig, PyObject *varnames, Py_ssize_t from,
			   Py_ssize_t to)
{
	sig->names = calloc((size_t)to + 1, sizeof(*sig->names));
	sig->texts = PyList_New(0);
	if (!sig->names || !sig->texts) {
		PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = from; i < to; i++) {
		PyObject *text = PyUnicode_AsUTF8String(PyTuple_GetItem(varnames, i));
		int code = text ? PyList_Append(sig->texts, text) : -1;

		if (!code)
			sig->names[sig->callee.nr_names++] = PyBytes_AsString(text);
		Py_XDECREF(text);
		if (code < 0)
			return -1;
	}
	sig->callee.names = sig->names;
	sig->callee.has_names = true;
	return 0;
}

int signature_init(struct signature *sig, PyObject *func, PyObject *code)
{
	PyObject *varnames, *bound;
	Py_ssize_t nr;
	int result = 0;

	*sig = (struct signature){ 0 };
	if (!code)
		return 0;
	varnames = attribute_of(code, "co_varnames");
	nr = int_attribute(code, "co_argcount");
	bound = attribute_of(func, "__func__");
	if (varnames && PyTuple_Check(varnames) && nr >= 0 && nr <= PyTuple_Size(varnames)) {
		sig->callee.bound = bound != NULL;
		sig->callee.nr_defaults = signature_defaults(func);
		sig->callee.rest = int_attribute(code, "co_flags") & CODE_VARARGS;
		result = signature_names(sig, varnames, bound && nr > 0, nr);
	}
	Py_XDECREF(bound);
	Py_XDECREF(varnames);
	return result;
}
