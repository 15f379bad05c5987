/* SPDX-License-Identifier: MIT */
/* The types Event and Fields. */
#ifndef SONDE_PY_EVENT_H
#define SONDE_PY_EVENT_H

#include "session.h"

PyTypeObject *event_type_new(PyObject *module);
PyTypeObject *event_fields_type_new(PyObject *module); /* Event.f */
/*
 * The value of field i of an event: int, float, str, list of int (arrays), bytes (other structs) or
 * dict (nested). A new reference; NULL with an exception.
 */
PyObject *event_value(struct py_event *e, size_t i);

#endif
