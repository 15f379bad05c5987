/* SPDX-License-Identifier: MIT */
/* The types Schema and Field: what an event type looks like. */
#ifndef SONDE_PY_SCHEMA_H
#define SONDE_PY_SCHEMA_H

#include "session.h"

PyTypeObject *schema_type_new(PyObject *module);
PyTypeObject *schema_field_type_new(void);
PyObject *schema_new(struct py_session *s, struct schema_info *info);
/*
 * The names of a field's value by the flags or symbols of the print format: "S|D". NULL with an
 * exception; "" if the value has none.
 */
PyObject *schema_value_names(struct schema_info *info, size_t i, uint64_t value);

#endif
