/* SPDX-License-Identifier: MIT */
/*
 * Handlers of records: context_switch, throttle, stat__EVENT, trace_lost, ... (prelude/records.c
 * has the table). They are few compared with samples, so only the binding of each function is kept.
 */
#include "pysonde.h"

#define MAX_CALLEES 64

/* How one function is called for one callback. */
struct callee {
	const struct prelude_callback *callback;
	PyObject *func, *code; /* owned; code NULL when it has none */
	struct prelude_bind bind;
};

/* What was said of one kind of defect. */
struct told {
	const char *name; /* lent by the library: one text for each kind */
	uint64_t count;
};

struct records {
	struct callee callees[MAX_CALLEES];
	size_t nr_callees;
	struct told told[64];
	size_t nr_told;
	uint64_t lost; /* events, in the records that told of losses */
};

static struct records *records_of(struct run *r)
{
	if (!r->records)
		r->records = calloc(1, sizeof(*r->records));
	return r->records ? r->records : (struct records *)PyErr_NoMemory();
}

static void forget_callees(struct records *c)
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
	forget_callees(c);
	free(c);
}

/* ---- calling ----------------------------------------------------------------------------------------------------- */

static const struct callee *callee_new(struct run *r, const struct prelude_callback *cb,
				       PyObject *func, PyObject *code)
{
	struct records *c = r->records;
	struct callee new = { .callback = cb };
	struct signature sig;

	if (signature_init(&sig, func, code) < 0) {
		signature_done(&sig);
		return NULL;
	}
	if (prelude_callback_bind(cb, &sig.callee, r->compat, &new.bind) < 0) {
		signature_done(&sig);
		PyErr_NoMemory();
		return NULL;
	}
	signature_done(&sig);
	if (c->nr_callees == MAX_CALLEES)
		forget_callees(c);
	Py_INCREF(func);
	Py_XINCREF(code);
	new.func = func;
	new.code = code;
	c->callees[c->nr_callees] = new;
	return &c->callees[c->nr_callees++];
}

static const struct callee *callee_get(struct run *r, const struct prelude_callback *cb,
				       PyObject *func)
{
	const struct records *c = r->records;
	PyObject *code = attribute_of(func, "__code__");
	const struct callee *found = NULL;

	for (size_t i = 0; i < c->nr_callees && !found; i++)
		if (c->callees[i].func == func && c->callees[i].code == code &&
		    c->callees[i].callback == cb)
			found = &c->callees[i];
	if (!found)
		found = callee_new(r, cb, func, code);
	Py_XDECREF(code);
	return found;
}

static PyObject *object_of(const struct prelude_record_value *v)
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

static PyObject *arguments(const struct prelude_bind *b, const struct prelude_record_value *values)
{
	PyObject *args = PyTuple_New((Py_ssize_t)b->nr);

	for (size_t i = 0; args && i < b->nr; i++) {
		PyObject *o = Py_None;

		if (b->slots[i].arg == PRELUDE_FIELD)
			o = object_of(&values[b->slots[i].field]);
		else
			Py_INCREF(o);
		if (!o || PyTuple_SetItem(args, (Py_ssize_t)i, o) < 0)
			Py_CLEAR(args);
	}
	return args;
}

static int call(struct run *r, const struct prelude_callback *cb, PyObject *func,
		const struct prelude_record_value *values)
{
	const struct callee *callee = records_of(r) ? callee_get(r, cb, func) : NULL;
	PyObject *args = callee ? arguments(&callee->bind, values) : NULL, *result = NULL;

	if (args) {
		Py_INCREF(func);
		result = PyObject_Call(func, args, NULL);
		Py_DECREF(func);
		Py_DECREF(args);
		run_handler_ran(r);
		r->has_called |= cb != prelude_trace_lost && cb != prelude_trace_defect;
	}
	Py_XDECREF(result);
	return result ? 0 : -1;
}

/* The function of that name in __main__, borrowed; NULL when there is none, or with an exception. */
static PyObject *handler(struct run *r, const char *name)
{
	PyObject *key = text_object(name, strlen(name));
	PyObject *func = key ? PyDict_GetItemWithError(r->main, key) : NULL;

	Py_XDECREF(key);
	return func && PyCallable_Check(func) ? func : NULL;
}

/* ---- defects and losses ------------------------------------------------------------------------------------------ */

/* Calls trace_defect, if there is one, for what the script does not know yet of this kind. */
static int tell_defect(struct run *r, const struct sonde_defect *d)
{
	struct prelude_record_value values[PRELUDE_CALLBACK_ARGS];
	struct records *c = records_of(r);
	PyObject *func = handler(r, prelude_trace_defect->name);
	size_t i = 0;

	if (!c || !func)
		return PyErr_Occurred() ? -1 : 0;
	while (i < c->nr_told && c->told[i].name != d->name)
		i++;
	if (i < c->nr_told ? c->told[i].count == d->count
			   : i == sizeof(c->told) / sizeof(c->told[0]))
		return 0;
	c->told[i] = (struct told){ d->name, d->count };
	c->nr_told += i == c->nr_told;
	prelude_defect_values(d, values);
	return call(r, prelude_trace_defect, func, values);
}

/* The defects met so far. A script may cause further ones, so each is asked for anew. */
static int tell_defects(struct run *r)
{
	const struct sonde_defect *d;

	for (size_t i = 0; (d = sonde_session_defect(r->s, i)); i++)
		if (tell_defect(r, d) < 0)
			return -1;
	return 0;
}

/*
 * The kernel tells losses by records, with their time, and newer ones again by sums at the end of the recording. Only what
 * those sums have more is left to tell, and when it was lost nobody knows.
 */
static int tell_rest_of_losses(struct run *r)
{
	struct prelude_record_value values[PRELUDE_CALLBACK_ARGS];
	uint64_t told = r->records ? r->records->lost : 0;
	const struct sonde_defect *d;
	PyObject *func = handler(r, prelude_trace_lost->name);

	for (size_t i = 0; func && (d = sonde_session_defect(r->s, i)); i++) {
		if (strcmp(d->name, "lost-events") != 0 || d->count <= told)
			continue;
		prelude_loss_values(d->count - told, values);
		return call(r, prelude_trace_lost, func, values);
	}
	return PyErr_Occurred() ? -1 : 0;
}

int records_end(struct run *r)
{
	return tell_rest_of_losses(r) < 0 ? -1 : tell_defects(r);
}

/* ---- records ----------------------------------------------------------------------------------------------------- */

static int count_loss(struct run *r, struct slot *slot)
{
	const struct sonde_field *f = sonde_schema_field(slot->sc, "lost");
	struct records *c = records_of(r);

	if (!c)
		return -1;
	c->lost += f ? sonde_event_u64(r->ev, f) : 0;
	return 0;
}

int records_call(struct run *r, struct slot *slot)
{
	struct prelude_record_value values[PRELUDE_CALLBACK_ARGS];
	const struct prelude_callback *cb = slot->callback;
	char name[512];
	PyObject *func;

	if (!cb) {
		sonde_session_want(r->s, sonde_schema_id(slot->sc), 0);
		return 0;
	}
	if (cb == prelude_trace_defect)
		return tell_defects(r);
	if (cb == prelude_trace_lost && count_loss(r, slot) < 0)
		return -1;
	if (cb->name) {
		func = PyDict_GetItemWithError(r->main, slot->name);
	} else {
		if (prelude_callback_name(cb, slot->sc, r->ev, name, sizeof(name)) < 0)
			return 0; /* no function has such a name */
		func = handler(r, name);
	}
	if (!func || !PyCallable_Check(func)) {
		/* The next event of this schema may be for another function (stat__EVENT); losses are summed up. */
		if (cb->name && cb != prelude_trace_lost && !PyErr_Occurred())
			run_refuse(r, slot, func);
		return PyErr_Occurred() ? -1 : 0;
	}
	prelude_callback_values(cb, slot->sc, r->ev, values);
	return call(r, cb, func, values);
}
