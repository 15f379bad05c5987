/* SPDX-License-Identifier: MIT */
/* The type Run: a run as the launcher of perf scripts sees it. */
#ifndef SONDE_PY_RUN_TYPE_H
#define SONDE_PY_RUN_TYPE_H

#include "cpython.h"

PyTypeObject *run_type_new(PyObject *module);
PyObject *run_create(PyObject *module, PyObject *args, PyObject *kw);

#endif
