/* SPDX-License-Identifier: MIT */
/*
 * Handlers of records: context_switch, throttle, stat__EVENT, trace_lost, ... (the table is in
 * prelude/records.c). Records are few compared with samples, so only the binding of each function
 * is kept.
 */
#include "records.h"

#include "signature.h"

#define MAX_CALLEES 64

/* How one function is called as one callback. */
struct callee {
	const struct prelude_callback *callback;
	PyObject *func, *code; /* owned; code is NULL if the function has none */
	struct prelude_bind bind;
};

struct records {
	struct callee callees[MAX_CALLEES];
	size_t nr_callees;
};

static struct records *records_of(struct python_run *r)
{
	if (!r->records)
		r->records = calloc(1, sizeof(*r->records));
	return r->records ? r->records : (struct records *)PyErr_NoMemory();
}

static void records_forget_callees(struct records *c)
{
	for (size_t i = 0; i < c->nr_callees; i++) {
		Py_XDECREF(c->callees[i].func);
		Py_XDECREF(c->callees[i].code);
		prelude_bind_done(&c->callees[i].bind);
	}
	c->nr_callees = 0;
}

void records_free(struct records *c)
{
	if (!c)
		return;
	records_forget_callees(c);
	free(c);
}

/* ---- calling --------------------------------------------------------------------------------- */

static const struct callee *records_callee_new(struct python_run *r,
					       const struct prelude_callback *cb, PyObject *func,
					       PyObject *code)
{
	struct records *c = r->records;
	struct callee new = { .callback = cb };
	struct signature sig;

	if (signature_init(&sig, func, code) < 0) {
		signature_done(&sig);
		return NULL;
	}
	if (prelude_callback_bind(cb, &sig.callee, r->base.rules, &new.bind) < 0) {
		signature_done(&sig);
		PyErr_NoMemory();
		return NULL;
	}
	signature_done(&sig);
	if (c->nr_callees == MAX_CALLEES)
		records_forget_callees(c);
	Py_INCREF(func);
	Py_XINCREF(code);
	new.func = func;
	new.code = code;
	c->callees[c->nr_callees] = new;
	return &c->callees[c->nr_callees++];
}

static const struct callee *records_callee_get(struct python_run *r,
					       const struct prelude_callback *cb, PyObject *func)
{
	const struct records *c = r->records;
	PyObject *code = attribute_of(func, "__code__");
	const struct callee *found = NULL;

	for (size_t i = 0; i < c->nr_callees && !found; i++)
		if (c->callees[i].func == func && c->callees[i].code == code &&
		    c->callees[i].callback == cb)
			found = &c->callees[i];
	if (!found)
		found = records_callee_new(r, cb, func, code);
	Py_XDECREF(code);
	return found;
}

static PyObject *records_object_of(const struct prelude_record_value *v)
{
	switch (v->kind) {
	case PRELUDE_RECORD_INT:
		return PyLong_FromLongLong(v->i);
	case PRELUDE_RECORD_UINT:
		return u64_object(v->u);
	case PRELUDE_RECORD_BOOL:
		return PyBool_FromLong(v->i != 0);
	case PRELUDE_RECORD_TEXT:
		return text_object(v->text, v->len);
	}
	return NULL;
}

static PyObject *records_arguments(const struct prelude_bind *b,
				   const struct prelude_record_value *values)
{
	PyObject *args = PyTuple_New((Py_ssize_t)b->nr);

	for (size_t i = 0; args && i < b->nr; i++) {
		PyObject *o = Py_None;

		if (b->slots[i].arg == PRELUDE_FIELD)
			o = records_object_of(&values[b->slots[i].field]);
		else
			Py_INCREF(o);
		if (!o || PyTuple_SetItem(args, (Py_ssize_t)i, o) < 0)
			Py_CLEAR(args);
	}
	return args;
}

int records_call(struct python_run *r, const struct prelude_callback *cb, PyObject *func,
		 const struct prelude_record_value *values)
{
	const struct callee *callee = records_of(r) ? records_callee_get(r, cb, func) : NULL;
	PyObject *args = callee ? records_arguments(&callee->bind, values) : NULL, *result = NULL;

	if (args) {
		Py_INCREF(func);
		result = PyObject_Call(func, args, NULL);
		Py_DECREF(func);
		Py_DECREF(args);
	}
	Py_XDECREF(result);
	return result ? 0 : -1;
}
