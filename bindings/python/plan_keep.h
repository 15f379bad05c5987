/* SPDX-License-Identifier: MIT */
/*
 * Arguments that a plan keeps from event to event: lazy dicts and lists, and the empty call chain.
 * An event reuses the object of the previous event if the script neither holds nor built nor
 * changed it.
 *
 *	plan_keeps_ready(r, keeps, nr, stack)       before the call: objects go into the stack
 *	... the caller calls the handler with the stack ...
 *	plan_keeps_release(keeps, nr, stack, ...)   after it: objects that are held become ordinary
 */
#ifndef SONDE_PY_PLAN_KEEP_H
#define SONDE_PY_PLAN_KEEP_H

#include "lazy.h"

/* The answer of leave_out.py about an argument. */
enum reading {
	READ_AT_ONCE, /* any use is possible: the argument is built before the call */
	READ_NEVER,
	READ_BY_KEY,   /* only single keys with constant names are read */
	READ_BY_KEYS_2 /* as READ_BY_KEY, and also single keys of the dict under "sample" */
};

struct plan_keep {
	enum lazy_kind kind; /* 0 for an empty list */
	enum reading reading;
	uint32_t at;             /* index in the stack */
	struct lazy *lazy;       /* state of the object in the stack; NULL if there is none */
	PyObject *inner;         /* the object's "sample", owned; NULL if there is none */
	struct lazy *inner_lazy; /* state of inner */
	/* the script built the object, although single keys were expected */
	bool was_built;
};

/*
 * Handle one keep, whose object is at o, in the cases that the inline functions below do not
 * handle.
 */
int plan_keep_ready(struct python_run *r, struct plan_keep *k, PyObject **o);
int plan_keep_release(struct plan_keep *k, PyObject **o);

/* Returns 0, or -1 with an exception. */
static inline int plan_keeps_ready(struct python_run *r, struct plan_keep *keeps, size_t nr,
				   PyObject **stack)
{
	for (struct plan_keep *k = keeps, *end = k + nr; k < end; k++) {
		PyObject **o = &stack[k->at];

		if (__builtin_expect(*o && k->kind && !k->inner && ONLY_MINE(*o) && k->lazy->rests,
				     1))
			lazy_wake(k->lazy, r);
		else if (plan_keep_ready(r, k, o) < 0)
			return -1;
	}
	return 0;
}

/* Returns 0, or -1 with an exception. Sets *ret_built if a keep's was_built is now set. */
static inline int plan_keeps_release(struct plan_keep *keeps, size_t nr, PyObject **stack,
				     bool *ret_built)
{
	int code = 0;

	for (struct plan_keep *k = keeps + nr; k-- > keeps;) {
		PyObject **o = &stack[k->at];

		if (__builtin_expect(*o && k->kind && !k->inner && ONLY_MINE(*o) && k->lazy->run,
				     1)) {
			lazy_rest(k->lazy);
			continue;
		}
		if (!*o)
			continue;
		code |= plan_keep_release(k, o);
		*ret_built = *ret_built || k->was_built;
	}
	return code;
}

void plan_keep_done(struct plan_keep *k); /* the object in the stack belongs to the plan */

#endif
