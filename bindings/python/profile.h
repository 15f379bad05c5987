/* SPDX-License-Identifier: MIT */
/* sonde.profile(): the rows of a profile as dicts. */
#ifndef SONDE_PY_PROFILE_H
#define SONDE_PY_PROFILE_H

#include "session.h"

/* A list of dicts, one for each row. settings: the text of sonde_profile_new(). */
PyObject *profile_rows(struct py_session *s, const char *settings);

#endif
