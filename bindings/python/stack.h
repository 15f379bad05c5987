/* SPDX-License-Identifier: MIT */
/* The types Stack and Frame: call chains. */
#ifndef SONDE_PY_STACK_H
#define SONDE_PY_STACK_H

#include "session.h"

PyTypeObject *stack_type_new(PyObject *module);
PyTypeObject *stack_frame_type_new(PyObject *module);
/* The call chain of an event. NULL with an exception. */
PyObject *stack_of_event(struct py_event *e);

#endif
