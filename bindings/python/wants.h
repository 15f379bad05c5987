/* SPDX-License-Identifier: MIT */
/* prelude/wants.h for Python: what a program of handlers records. */
#ifndef SONDE_PY_WANTS_H
#define SONDE_PY_WANTS_H

#include "cpython.h"

/* _tracepoints(): list of str, as far as this user may read them. */
PyObject *wants_tracepoints(PyObject *module, PyObject *unused);
PyObject *wants_is_glob(PyObject *module, PyObject *name);
PyObject *wants_is_tracepoint(PyObject *module, PyObject *name);
/* _wants(wanted): list of (name, condition or None) -> the same with each event once. */
PyObject *wants_merged(PyObject *module, PyObject *wanted);

#endif
