/* SPDX-License-Identifier: MIT */
/* The dicts and lists of perf's contract: new references, for the run's current event. */
#ifndef SONDE_PY_DICTS_H
#define SONDE_PY_DICTS_H

#include "script.h"

void nodes_free(struct node *nodes);
PyObject *dict_fields(struct python_run *r);
/* the keys of dict_fields(), with values None */
int dict_keys_put(struct python_run *r, PyObject *dict);
/*
 * One value of dict_fields(). NULL without an exception if it does not have that key, or if the
 * dict itself must be asked.
 */
PyObject *dict_field(struct python_run *r, PyObject *key);
/* true if dict_field() may be used */
bool dict_fields_by_key(const struct python_run *r, const struct slot *slot);
PyObject *list_callchain(struct python_run *r);
/* Takes the reference of a dict from dict_fields() after the call: the dict may be reused. */
void dict_fields_done(struct python_run *r, struct slot *slot, PyObject *dict);
/*
 * Removes the call chain, stored under key, from a kept dict: the dicts of its frames may then be
 * reused.
 */
void chain_done(PyObject *dict, PyObject *key);

#endif
