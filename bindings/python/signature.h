/* SPDX-License-Identifier: MIT */
/* What binding needs to know of a function. */
#ifndef SONDE_PY_SIGNATURE_H
#define SONDE_PY_SIGNATURE_H

#include "cpython.h"
#include "prelude/prelude.h"

struct signature {
	struct prelude_callee callee;
	PyObject *texts; /* owned: list of bytes, which lend the names' text */
	const char **names;
	struct prelude_keyword *keywords;
};
/* code: its __code__, NULL when it has none. -1 with an exception; signature_done() in any case. */
int signature_init(struct signature *sig, PyObject *func, PyObject *code);
void signature_done(struct signature *sig);
size_t signature_defaults(PyObject *func);
/* An attribute, or NULL without an exception where there is none. */
PyObject *attribute_of(PyObject *o, const char *name);

#endif
