/* SPDX-License-Identifier: MIT */
/* The types Session, Defect and Pair. */
#ifndef SONDE_PY_SESSION_TYPE_H
#define SONDE_PY_SESSION_TYPE_H

#include "session.h"

PyTypeObject *session_type_new(PyObject *module);
PyTypeObject *session_defect_type_new(void);
PyTypeObject *session_pair_type_new(void);

#endif
