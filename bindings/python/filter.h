/* SPDX-License-Identifier: MIT */
/* The type _Filter: a condition, called with an event. */
#ifndef SONDE_PY_FILTER_H
#define SONDE_PY_FILTER_H

#include "session.h"

PyTypeObject *filter_type_new(PyObject *module);
/* session._filter(text, is_named) */
PyObject *filter_of_session(struct py_session *s, PyObject *args);

#endif
