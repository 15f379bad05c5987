/* SPDX-License-Identifier: MIT */
/* The dicts and lists of perf's contract: new references, for the current event. */
#ifndef SONDE_PY_DICTS_H
#define SONDE_PY_DICTS_H

#include "script.h"

void nodes_free(struct node *nodes);
PyObject *dict_fields(struct python_run *r);
/* Puts the keys of dict_fields() into dict, with values None. */
int dict_keys_put(struct python_run *r, PyObject *dict);
/*
 * One value of dict_fields(). NULL without an exception if the dict does not have that key, or if
 * only the complete dict can give the value.
 */
PyObject *dict_field(struct python_run *r, PyObject *key);
/* True if dict_field() may be used. */
bool dict_fields_by_key(const struct python_run *r, const struct slot *slot);
PyObject *list_callchain(struct python_run *r);
/* Takes the reference of a dict from dict_fields() after the call: the dict may be reused. */
void dict_fields_done(struct python_run *r, struct slot *slot, PyObject *dict);
/*
 * Removes the call chain, which is stored under key, from a kept dict, so that the dicts of its
 * frames may be reused.
 */
void chain_done(PyObject *dict, PyObject *key);

#endif
