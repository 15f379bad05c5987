/* SPDX-License-Identifier: MIT */
/* The type Sample. */
#ifndef SONDE_PY_EVENT_SAMPLE_H
#define SONDE_PY_EVENT_SAMPLE_H

#include "session.h"

PyTypeObject *event_sample_type_new(void);
/* The getter of Event.sample: None for a record of state. NULL with an exception. */
/* The frozenset of the names of PERF_SAMPLE_* bits. */
PyObject *event_sample_present(uint64_t present);
PyObject *event_sample(struct py_event *e, void *unused);

#endif
