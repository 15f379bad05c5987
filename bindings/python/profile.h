/* SPDX-License-Identifier: MIT */
/* sonde.profile(): the rows of a profile as dicts, its call trees, sums and differences. */
#ifndef SONDE_PY_PROFILE_H
#define SONDE_PY_PROFILE_H

#include "session.h"

/* A Profile of all further samples. settings: the text of sonde_profile_new(). */
PyObject *profile_of_session(PyObject *module, struct py_session *s, const char *settings);
PyTypeObject *profile_type_new(PyObject *module);

#endif
