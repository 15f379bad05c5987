/* SPDX-License-Identifier: MIT */
/* The type Column. */
#ifndef SONDE_PY_COLUMN_H
#define SONDE_PY_COLUMN_H

#include "session.h"

PyTypeObject *column_type_new(PyObject *module);
/* _column(batches, index): a Column of a tuple of Batches. */
PyObject *column_new(PyObject *module, PyObject *args);

#endif
