/* SPDX-License-Identifier: MIT */
/* The types and exceptions of one import of the module. */
#ifndef SONDE_PY_MODULE_STATE_H
#define SONDE_PY_MODULE_STATE_H

#include "cpython.h"

struct module_state {
	PyObject *error; /* sonde.Error */
	PyTypeObject *session, *event, *frame, *schema, *run, *profile, *lazy_dict, *lazy_list;
	size_t lazy_dict_off, lazy_list_off; /* offset of struct lazy in their instances */
};

/* Sets sonde.Error (MemoryError for -ENOMEM) from the library's causes; returns NULL. */
PyObject *module_error(struct module_state *m, int code);

#endif
