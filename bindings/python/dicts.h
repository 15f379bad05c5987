/* SPDX-License-Identifier: MIT */
/* The dicts and lists of perf's contract: new references, for the run's current event. */
#ifndef SONDE_PY_DICTS_H
#define SONDE_PY_DICTS_H

#include "script.h"

void nodes_free(struct node *nodes);
PyObject *dict_fields(struct run *r);
int dict_keys_put(struct run *r, PyObject *dict); /* the keys of dict_fields(), their values None */
/*
 * One value of dict_fields(); NULL without an exception: it does not have that key, or is to be
 * asked itself.
 */
PyObject *dict_field(struct run *r, PyObject *key);
bool dict_fields_by_key(const struct run *r,
			const struct slot *slot); /* whether dict_field() may be used */
PyObject *list_callchain(struct run *r);
/* Takes the reference of what dict_fields() gave, after the call: it may serve again. */
void dict_fields_done(struct run *r, struct slot *slot, PyObject *dict);
/*
 * A dict that is kept lets go of its call chain, which is behind key: the frames' dicts may then
 * serve again.
 */
void chain_done(PyObject *dict, PyObject *key);

#endif
