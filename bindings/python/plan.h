/* SPDX-License-Identifier: MIT */
/* The arguments of a function for events of one type. */
#ifndef SONDE_PY_PLAN_H
#define SONDE_PY_PLAN_H

#include "script.h"

/* Finds or makes the plan for calling `func` with events of this slot. NULL with an exception. */
struct plan *plan_get(struct python_run *r, struct slot *slot, PyObject *func, bool unhandled);
/* The head of struct plan: the function that it was made for, and its code at that time. */
struct plan_of {
	PyObject *func, *code; /* owned; code is NULL if the function has none */
};

/* True if the plan is still valid for its function (whose __code__ may be replaced). */
#ifdef Py_LIMITED_API
bool plan_holds(const struct python_run *r, const struct plan *p);
#else
static inline bool plan_holds(const struct python_run *r, const struct plan *p)
{
	const struct plan_of *of = (const struct plan_of *)p;

	return !PyFunction_Check(of->func) || PyFunction_GET_CODE(of->func) == of->code;
}
#endif
bool plan_unhandled(const struct plan *p); /* true if made for trace_unhandled's arguments */
/*
 * plan_args() makes the arguments for the current event. plan_call() calls the function and takes
 * the arguments back. Both return 0, or -1 with an exception.
 */
int plan_args(struct python_run *r, struct slot *slot, struct plan *p);
int plan_call(struct python_run *r, struct slot *slot, struct plan *p);
void plan_free_all(struct slot *slot);

#endif
