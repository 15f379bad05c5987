/* SPDX-License-Identifier: MIT */
/* The parameters of a Python function, as binding needs them. */
#include "signature.h"

/* An attribute, or NULL without an exception if there is none. */
PyObject *attribute_of(PyObject *o, const char *name)
{
	PyObject *value = PyObject_GetAttrString(o, name);

	if (!value)
		PyErr_Clear();
	return value;
}

static long signature_int_attribute(PyObject *o, const char *name)
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

#define CODE_VARARGS  0x04
#define CODE_KEYWORDS 0x08

void signature_done(struct signature *sig)
{
	Py_XDECREF(sig->texts);
	free(sig->names);
	free(sig->keywords);
}

/* The text of co_varnames[i], valid as long as the signature; NULL with an exception. */
static const char *signature_name_text(struct signature *sig, PyObject *varnames, Py_ssize_t i)
{
	PyObject *text = PyUnicode_AsUTF8String(PyTuple_GetItem(varnames, i));
	const char *name = text && !PyList_Append(sig->texts, text) ? PyBytes_AsString(text) : NULL;

	Py_XDECREF(text);
	return name;
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
		const char *name = signature_name_text(sig, varnames, i);

		if (!name)
			return -1;
		sig->names[sig->callee.nr_names++] = name;
	}
	sig->callee.names = sig->names;
	sig->callee.has_names = true;
	return 0;
}

/* Parameters after `*`: names from co_varnames, defaults from __kwdefaults__. */
static int signature_keywords(struct signature *sig, PyObject *func, PyObject *varnames,
			      Py_ssize_t from, Py_ssize_t to)
{
	PyObject *defaults = attribute_of(func, "__kwdefaults__");
	int code = 0;

	sig->keywords = calloc((size_t)(to - from) + 1, sizeof(*sig->keywords));
	if (!sig->keywords) {
		PyErr_NoMemory();
		code = -1;
	}
	for (Py_ssize_t i = from; !code && i < to; i++) {
		struct prelude_keyword *k = &sig->keywords[sig->callee.nr_keywords++];
		PyObject *name = PyTuple_GetItem(varnames, i);

		k->name = signature_name_text(sig, varnames, i);
		k->has_default = defaults && PyDict_Check(defaults) &&
				 PyDict_GetItemWithError(defaults, name);
		code = k->name && !PyErr_Occurred() ? 0 : -1;
	}
	sig->callee.keywords = sig->keywords;
	Py_XDECREF(defaults);
	return code;
}

int signature_init(struct signature *sig, PyObject *func, PyObject *code)
{
	PyObject *varnames, *bound;
	Py_ssize_t nr, nr_keywords;
	int result = 0;

	*sig = (struct signature){ 0 };
	if (!code)
		return 0;
	varnames = attribute_of(code, "co_varnames");
	nr = signature_int_attribute(code, "co_argcount");
	nr_keywords = signature_int_attribute(code, "co_kwonlyargcount");
	bound = attribute_of(func, "__func__");
	if (varnames && PyTuple_Check(varnames) && nr >= 0 && nr_keywords >= 0 &&
	    nr + nr_keywords <= PyTuple_Size(varnames)) {
		const long flags = signature_int_attribute(code, "co_flags"),
			   only = signature_int_attribute(code, "co_posonlyargcount");
		const bool has_self = bound && nr > 0;

		sig->callee.bound = bound != NULL;
		sig->callee.nr_defaults = signature_defaults(func);
		sig->callee.rest = flags & CODE_VARARGS;
		sig->callee.keywords_rest = flags & CODE_KEYWORDS;
		sig->callee.nr_positional_only = only > has_self ? (size_t)only - has_self : 0;
		result = signature_names(sig, varnames, has_self, nr);
		if (!result)
			result = signature_keywords(sig, func, varnames, nr, nr + nr_keywords);
	}
	Py_XDECREF(bound);
	Py_XDECREF(varnames);
	return result;
}
