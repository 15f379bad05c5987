/* SPDX-License-Identifier: MIT */
/* The types Event, Frame and Schema. */
#ifndef SONDE_PY_EVENT_H
#define SONDE_PY_EVENT_H

#include "cpython.h"

PyTypeObject *event_type_new(PyObject *module);
PyTypeObject *schema_type_new(PyObject *module);
PyTypeObject *frame_type_new(PyObject *module);

#endif
