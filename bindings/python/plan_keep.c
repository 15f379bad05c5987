/* SPDX-License-Identifier: MIT */
/*
 * The objects that a plan reuses for later events. They are made before a call, and given up after
 * it if the script holds them.
 */
#include "plan_keep.h"

static inline bool plan_keep_list_is_empty(PyObject *list)
{
#ifndef Py_LIMITED_API
	return !PyList_GET_SIZE(list);
#else
	return !PyList_Size(list);
#endif
}

static int keep_make(struct python_run *r, struct plan_keep *k, PyObject **ret)
{
	*ret = k->kind ? lazy_new(r, k->kind) : PyList_New(0);
	if (!*ret)
		return -1;
	k->lazy = k->kind ? lazy_of(r->m, *ret) : NULL;
	if (k->reading < READ_BY_KEY)
		return 0;
	k->lazy->by_key = true;
	if (k->kind != LAZY_SAMPLE || k->reading < READ_BY_KEYS_2)
		return 0;
	k->inner = lazy_new(r, LAZY_SAMPLE_VALUES);
	if (!k->inner)
		return -1;
	k->inner_lazy = lazy_of(r->m, k->inner);
	k->inner_lazy->by_key = true;
	k->lazy->inner = k->inner;
	return 0;
}

/*
 * Between calls gc.get_objects() returns kept objects. An object that its caller holds or has read
 * is not reused.
 */
int plan_keep_ready(struct python_run *r, struct plan_keep *k, PyObject **o)
{
	if (*o) {
		if (!k->kind && ONLY_MINE(*o) && plan_keep_list_is_empty(*o))
			return 0;
		if (k->kind && ONLY_MINE(*o) && k->lazy->rests &&
		    (!k->inner || (ONLY_MINE(k->inner) && k->inner_lazy->rests))) {
			lazy_wake(k->lazy, r);
			if (k->inner)
				lazy_wake(k->inner_lazy, r);
			return 0;
		}
		k->lazy = k->inner_lazy = NULL;
		Py_CLEAR(k->inner);
		Py_CLEAR(*o);
	}
	return keep_make(r, k, o);
}

static int plan_keep_fill_if_held(PyObject *o, struct lazy *l)
{
	return o && l && !ONLY_MINE(o) ? lazy_fill(o, l) : 0;
}

static int plan_keep_let_go(struct plan_keep *k, PyObject **o)
{
	int code = plan_keep_fill_if_held(*o, k->lazy) |
		   plan_keep_fill_if_held(k->inner, k->inner_lazy);

	k->lazy = k->inner_lazy = NULL;
	Py_CLEAR(k->inner);
	Py_CLEAR(*o);
	return code;
}

/* True if nobody else holds the object and it was not built. */
static inline bool plan_keep_is_fresh(PyObject *o, const struct lazy *l)
{
	return ONLY_MINE(o) && l->run != NULL;
}

int plan_keep_release(struct plan_keep *k, PyObject **o)
{
	if (!k->kind ? ONLY_MINE(*o) && plan_keep_list_is_empty(*o)
		     : plan_keep_is_fresh(*o, k->lazy) &&
			       (!k->inner || plan_keep_is_fresh(k->inner, k->inner_lazy))) {
		if (k->kind)
			lazy_rest(k->lazy);
		if (k->inner)
			lazy_rest(k->inner_lazy);
		return 0;
	}
	k->was_built = k->reading >= READ_BY_KEY && !k->lazy->run;
	return plan_keep_let_go(k, o) < 0 ? -1 : 0;
}

void plan_keep_done(struct plan_keep *k)
{
	Py_XDECREF(k->inner);
}
