/* SPDX-License-Identifier: MIT */
/* Dicts and lists that are built when they are first read; README.md states their invariants. */
#ifndef SONDE_PY_LAZY_H
#define SONDE_PY_LAZY_H

#include "script.h"

/*
 * Follows the dict or list that it belongs to. It represents an event only during the call of that
 * event's handler. Between calls the one of a plan is at rest: whoever finds it sees an ordinary
 * dict or list without values.
 */
struct lazy {
	/* it represents the current event of this run; NULL if it is now an ordinary one */
	struct python_run *run;
	enum lazy_kind kind;
	bool rests;      /* kept by its plan, and not read since */
	bool by_key;     /* returns single values without being built */
	PyObject *inner; /* its "sample", borrowed from the plan; NULL: an ordinary dict */
};

static inline void lazy_rest(struct lazy *l)
{
	l->run = NULL;
	l->rests = true;
}

static inline void lazy_wake(struct lazy *l, struct python_run *r)
{
	l->rests = false;
	l->run = r;
}

PyTypeObject *lazy_dict_type_new(size_t *ret_off);
PyTypeObject *lazy_list_type_new(size_t *ret_off);
PyObject *lazy_new(struct python_run *r, enum lazy_kind kind);
struct lazy *lazy_of(struct module_state *m, PyObject *o);           /* NULL: not one of ours */
int lazy_fill(PyObject *o, struct lazy *l);                          /* makes it an ordinary one */
void lazy_forget_read_keys(struct python_run *r, struct slot *slot); /* after the call */

#endif
