/* SPDX-License-Identifier: MIT */
/* The type _Aggregate: events of a session counted by keys in C. */
#ifndef SONDE_PY_AGGREGATE_H
#define SONDE_PY_AGGREGATE_H

#include "session.h"

PyTypeObject *aggregate_type_new(PyObject *module);
/*
 * session._aggregate(kind, events, field, by, where, linear, limit): field, by and where may be
 * None; linear is (low, high, step) or None.
 */
PyObject *aggregate_of_session(struct py_session *s, PyObject *args);
/*
 * session._pour(tuple of _Aggregate, until) -> bool or None, as _poll(), or the time of the next
 * event if it is `until` (an int) or later: adds many batches to all.
 */
PyObject *aggregate_pour(struct py_session *s, PyObject *args);

#endif
