/* SPDX-License-Identifier: MIT */
/* The types Columns (a reader) and Batch, and Arrow's capsules. */
#ifndef SONDE_PY_COLUMNS_H
#define SONDE_PY_COLUMNS_H

#include "arrow.h"
#include "session.h"

PyTypeObject *columns_type_new(PyObject *module);
PyTypeObject *columns_batch_type_new(PyObject *module);
/* columns(session, event, fields, flags, rows): an iterator over Batches; flags: SONDE_COLUMNS_* */
PyObject *columns_open(PyObject *module, PyObject *args);
/* _stream(batches): a capsule with a new stream of a tuple of Batches; _schema(batch). */
PyObject *columns_new_stream(PyObject *module, PyObject *args);
PyObject *columns_new_schema(PyObject *module, PyObject *args);

/* The batch of item i of a tuple of Batches; borrowed. */
struct arrow_batch *columns_batch_of(PyObject *batches, Py_ssize_t i);
/* Capsules that own their structs; NULL with an exception. column -1: all columns. */
PyObject *columns_schema_capsule(const struct ArrowSchema *from);
PyObject *columns_array_capsules(struct arrow_batch *b, const struct ArrowSchema *schema,
				 const struct ArrowArray *array); /* (schema, array) */
PyObject *columns_stream_capsule(PyObject *batches, int64_t column);

#endif
