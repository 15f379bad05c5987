/* SPDX-License-Identifier: MIT */
/* Dicts and lists that are built when first read; README.md states what must hold of them. */
#ifndef SONDE_PY_LAZY_H
#define SONDE_PY_LAZY_H

#include "script.h"

/*
 * Behind the dict or list that it belongs to. It stands for an event only while that event's
 * handler is being called: between calls the plan's own one rests, and is to whoever finds it an
 * ordinary one without values.
 */
struct lazy {
	struct run *run; /* whose current event it stands for; NULL: it is an ordinary one now */
	enum lazy_kind kind;
	bool rests;      /* kept by its plan, and nobody has read it since */
	bool by_key;     /* tells single values without being built */
	PyObject *inner; /* its "sample", lent by the plan; NULL: an ordinary dict */
};

static inline void lazy_rest(struct lazy *l)
{
	l->run = NULL;
	l->rests = true;
}

static inline void lazy_wake(struct lazy *l, struct run *r)
{
	l->rests = false;
	l->run = r;
}

PyTypeObject *lazy_dict_type_new(size_t *ret_off);
PyTypeObject *lazy_list_type_new(size_t *ret_off);
PyObject *lazy_new(struct run *r, enum lazy_kind kind);
struct lazy *lazy_of(struct module_state *m, PyObject *o); /* NULL: not one of ours */
int lazy_fill(PyObject *o, struct lazy *l);                /* makes it an ordinary one */
void lazy_forget_read_keys(struct run *r, struct slot *slot); /* after the call */

#endif
