/* SPDX-License-Identifier: MIT */
/* Dicts and lists that are built when they are first read; README.md states their invariants. */
#ifndef SONDE_PY_LAZY_H
#define SONDE_PY_LAZY_H

#include "script.h"

/*
 * Is stored after the dict or list that it belongs to. It represents an event only during the call
 * of that event's handler. Between calls a plan's object is at rest: code that finds it sees an
 * ordinary dict or list without values.
 */
struct lazy {
	/* The run whose current event it represents; NULL if the object is now an ordinary one. */
	struct python_run *run;
	enum lazy_kind kind;
	bool rests;  /* kept by its plan, and not read since then */
	bool by_key; /* single values are returned without building the object */
	/* the object's "sample", borrowed from the plan; NULL if that is an ordinary dict */
	PyObject *inner;
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
struct lazy *lazy_of(struct module_state *m, PyObject *o);           /* NULL if o is not lazy */
int lazy_fill(PyObject *o, struct lazy *l);                          /* makes o an ordinary one */
void lazy_forget_read_keys(struct python_run *r, struct slot *slot); /* after the call */

#endif
