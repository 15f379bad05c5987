/* SPDX-License-Identifier: MIT */
/* Session.count(): numbers of events by keys, without an object per event. */
#ifndef SONDE_PY_COUNT_H
#define SONDE_PY_COUNT_H

#include "session.h"

/* count(by=()): by is a tuple of str. */
PyObject *count_of_session(struct py_session *s, PyObject *args);

#endif
