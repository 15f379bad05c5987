/* SPDX-License-Identifier: MIT */
/* The parameters of a function, as binding needs them. */
#ifndef SONDE_PY_SIGNATURE_H
#define SONDE_PY_SIGNATURE_H

#include "cpython.h"
#include "prelude/prelude.h"

struct signature {
	struct prelude_callee callee;
	PyObject *texts; /* owned: list of bytes, which own the names' text */
	const char **names;
	struct prelude_keyword *keywords;
};
/*
 * code is func's __code__, NULL if it has none. Returns -1 with an exception; the caller calls
 * signature_done() in any case.
 */
int signature_init(struct signature *sig, PyObject *func, PyObject *code);
void signature_done(struct signature *sig);
size_t signature_defaults(PyObject *func);
/* Returns an attribute, or NULL without an exception if there is none. */
PyObject *attribute_of(PyObject *o, const char *name);

#endif
