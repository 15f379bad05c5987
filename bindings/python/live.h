/* SPDX-License-Identifier: MIT */
/* The type Live: a recorder in this process, whose events a Session reads. */
#ifndef SONDE_PY_LIVE_H
#define SONDE_PY_LIVE_H

#include "session.h"

PyTypeObject *live_type_new(PyObject *module);
/*
 * _live(events, settings, command, latency_ms, output, sudo, broker_fd). events: a sequence of
 * (events, filter, cgroup), two of which are None. The last two are those of sonde_live_options.
 */
PyObject *live_open(PyObject *module, PyObject *args);
/* _record_line(events, settings, command, output): the `sonde record` line that does the same. */
PyObject *live_record_line(PyObject *module, PyObject *args);
/* Ends the recording and its session. */
void live_end(struct py_live *live);

#endif
