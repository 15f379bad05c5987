/* SPDX-License-Identifier: MIT */
/*
 * The event loop for perf scripts: next event -> slot of its type -> the handler that __main__ has now -> its plan -> call.
 *
 * Which function is current is looked up before each call, because the contract lets a script replace its handlers. The
 * interpreter lock is given up once per batch, and signals are looked at then.
 */
#include "fastdict.h"

#include <linux/perf_event.h>
#include <string.h>

#if !defined(Py_LIMITED_API) && PY_VERSION_HEX < 0x030c0000
#define DICT_VERSION(d) (((PyDictObject *)(d))->ma_version_tag) /* changes whenever the dict does */
#endif

/* ---- making and freeing ------------------------------------------------------------------------------------------ */

static void slot_free(struct slot *slot)
{
	if (!slot)
		return;
	plan_free_all(slot);
	Py_XDECREF(slot->name);
	for (size_t i = 0; slot->keys && i < slot->nr_fields; i++)
		Py_XDECREF(slot->keys[i]);
	free(slot->keys);
	free(slot->convs);
	Py_XDECREF(slot->fields);
	Py_XDECREF(slot->kept_fields.dict);
	shapes_free(slot);
	free(slot);
}

static void run_dealloc(struct run *r)
{
	PyTypeObject *type = Py_TYPE((PyObject *)r);

	for (size_t i = 0; i < r->nr_slots; i++)
		slot_free(r->slots[i]);
	free(r->slots);
	if (r->current)
		r->current->ev = NULL;
	Py_XDECREF(r->context);
	Py_XDECREF(r->main);
	Py_XDECREF(r->how_read);
	Py_XDECREF(r->misfits);
	Py_XDECREF(r->is_traced);
	Py_XDECREF(r->before_waiting);
	Py_XDECREF(r->code_word);
	Py_XDECREF(r->unhandled);
	Py_XDECREF(r->no_values);
	dbexport_free(r->db);
	records_free(r->records);
	for (size_t i = 0; i < 4; i++)
		Py_XDECREF(r->defines[i]);
	keys_free(r->keys);
	nodes_free(r->nodes);
	Py_XDECREF((PyObject *)r->session);
	Py_XDECREF(r->module);
	PyObject_Free(r);
	Py_DECREF(type);
}

PyObject *run_create(PyObject *module, PyObject *args, PyObject *kw)
{
	static char *names[] = { "session",   "main",  "how_read",       "misfits",
				 "is_traced", "eager", "before_waiting", NULL };
	struct module_state *m = PyModule_GetState(module);
	PyObject *session, *main, *how_read, *misfits, *is_traced, *before_waiting = Py_None;
	struct run *r;
	int eager;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "O!O!OOOp|O", names, m->session, &session,
					 &PyDict_Type, &main, &how_read, &misfits, &is_traced,
					 &eager, &before_waiting))
		return NULL;
	if (session_check((struct py_session *)session) < 0)
		return NULL;
	r = PyObject_New(struct run, m->run);
	if (!r)
		return NULL;
	memset((char *)r + sizeof(PyObject), 0, sizeof(*r) - sizeof(PyObject));
	Py_INCREF(module);
	Py_INCREF(session);
	Py_INCREF(main);
	Py_INCREF(how_read);
	Py_INCREF(misfits);
	Py_INCREF(is_traced);
	Py_INCREF(before_waiting);
	r->module = module;
	r->m = m;
	r->session = (struct py_session *)session;
	r->s = r->session->s;
	r->v = r->session->v;
	r->compat = r->v->compat;
	r->main = main;
	r->how_read = how_read;
	r->misfits = misfits;
	r->is_traced = is_traced;
	r->before_waiting = before_waiting;
	r->eager = eager;
	r->unhandled = PyUnicode_InternFromString(PRELUDE_UNHANDLED);
	r->code_word = PyUnicode_InternFromString("__code__");
	for (size_t i = 0; i < 4; i++)
		r->defines[i] = PyUnicode_InternFromString(prelude_define_names[i]);
	r->no_values = Py_BuildValue("(iii)", 0, 0, 0);
	r->keys = keys_new();
	r->context = context_new(r->s, &r->current);
	if (!r->unhandled || !r->code_word || !r->no_values || !r->defines[0] || !r->defines[1] ||
	    !r->defines[2] || !r->defines[3] || !r->keys || !r->context) {
		Py_DECREF((PyObject *)r);
		return PyErr_NoMemory();
	}
	return (PyObject *)r;
}

/* ---- event types ------------------------------------------------------------------------------------------------- */

static struct slot *slot_new(struct run *r, const struct sonde_schema *sc)
{
	struct slot *slot = calloc(1, sizeof(*slot));
	const struct sonde_field *fields, *pid;
	char name[512];
	size_t len;

	if (!slot)
		return (struct slot *)PyErr_NoMemory();
	slot->sc = sc;
	slot->kind = sonde_schema_kind(sc);
	prelude_sampled_init(&slot->sampled, sc, r->compat);
	slot->has_callchain =
		!sonde_schema_attr(sc, &len) || slot->sampled.sample_type & PERF_SAMPLE_CALLCHAIN;
	slot->callback = prelude_callback_of(sc);
	if (slot->kind != SONDE_TRACEPOINT) { /* nothing is told of their fields */
		slot->defined = true;
		slot->name = PyUnicode_InternFromString(slot->callback && slot->callback->name
								? slot->callback->name
								: PRELUDE_PROCESS_EVENT);
		if (!slot->name)
			goto fail;
		return slot;
	}
	if (prelude_handler_name(sc, "__", name, sizeof(name)) < 0) {
		PyErr_Format(PyExc_ValueError, "the name of event %s is too long",
			     sonde_schema_name(sc));
		goto fail;
	}
	slot->name = name_object(name);
	fields = prelude_fields(sc, &slot->nr_fields);
	slot->convs = calloc(slot->nr_fields + 1, sizeof(*slot->convs));
	slot->keys = calloc(slot->nr_fields + 1, sizeof(*slot->keys));
	if (!slot->name || !slot->convs || !slot->keys) {
		PyErr_NoMemory();
		goto fail;
	}
	for (size_t i = 0; i < slot->nr_fields; i++) {
		conv_init(&slot->convs[i], &fields[i], r->compat);
		slot->keys[i] = name_object(fields[i].name);
		if (!slot->keys[i])
			goto fail;
	}
	pid = sonde_schema_field(sc, "common_pid");
	if (pid)
		conv_init(&slot->pid, pid, SONDE_COMPAT_NONE);
	else
		slot->pid.kind = CONV_ZERO;
	return slot;
fail:
	slot_free(slot);
	return NULL;
}

static struct slot *slot_add(struct run *r, uint32_t id)
{
	const struct sonde_schema *sc = sonde_session_schema(r->s, id);

	if (!sc) {
		PyErr_Format(PyExc_RuntimeError,
			     "an event has schema %u, which its session does not know", id);
		return NULL;
	}
	if (id >= r->nr_slots) {
		size_t nr = sonde_session_schemas(r->s);
		struct slot **bigger;

		if (nr <= id)
			nr = (size_t)id + 1;
		bigger = realloc(r->slots, nr * sizeof(*bigger));
		if (!bigger)
			return (struct slot *)PyErr_NoMemory();
		memset(bigger + r->nr_slots, 0, (nr - r->nr_slots) * sizeof(*bigger));
		r->slots = bigger;
		r->nr_slots = nr;
	}
	r->slots[id] = slot_new(r, sc);
	return r->slots[id];
}

/* ---- what is told before the first event of a type --------------------------------------------------------------- */

static int call_define(struct run *r, struct slot *slot, const struct sonde_define *d)
{
	PyObject *func = PyDict_GetItemWithError(r->main, r->defines[d->kind]), *result = NULL;

	if (!func)
		return PyErr_Occurred() ? -1 : 0;
	if (!PyCallable_Check(func))
		return 0;
	Py_INCREF(func);
	switch ((enum sonde_define_kind)d->kind) {
	case SONDE_DEFINE_FLAG_FIELD:
		result = PyObject_CallFunction(func, "Oss", slot->name, d->field, d->text);
		break;
	case SONDE_DEFINE_SYMBOLIC_FIELD:
		result = PyObject_CallFunction(func, "Os", slot->name, d->field);
		break;
	case SONDE_DEFINE_FLAG_VALUE:
	case SONDE_DEFINE_SYMBOLIC_VALUE:
		/* perf hands the number over as a signed one */
		result = r->compat ? PyObject_CallFunction(func, "OsLs", slot->name, d->field,
							   (long long)d->value, d->text)
				   : PyObject_CallFunction(func, "OsKs", slot->name, d->field,
							   (unsigned long long)d->value, d->text);
		break;
	}
	Py_DECREF(func);
	Py_XDECREF(result);
	return result ? 0 : -1;
}

static int tell_defines(struct run *r, struct slot *slot)
{
	struct prelude_defines state = { 0 };
	size_t nr;
	const struct sonde_define *d = sonde_schema_defines(slot->sc, &nr);

	for (size_t i = 0; i < nr; i++) {
		if (d[i].kind > SONDE_DEFINE_SYMBOLIC_VALUE || !d[i].field || !d[i].text)
			continue;
		if (prelude_define_wanted(&state, &d[i], r->compat) &&
		    call_define(r, slot, &d[i]) < 0)
			return -1;
	}
	return 0;
}

/* perf 6.1 tells once per event type, perf 6.12 before each event. */
static int define(struct run *r, struct slot *slot)
{
	uint32_t family = sonde_schema_family(slot->sc);

	if (r->compat == SONDE_COMPAT_PERF_6_12)
		return tell_defines(r, slot);
	slot->defined = true;
	for (size_t i = 0; i < r->nr_slots; i++)
		if (r->slots[i] && r->slots[i] != slot && r->slots[i]->defined &&
		    sonde_schema_family(r->slots[i]->sc) == family)
			return 0;
	return tell_defines(r, slot);
}

/* ---- the loop ---------------------------------------------------------------------------------------------------- */

/* The function of that name in __main__, borrowed; NULL when there is none, or with an exception. */
static PyObject *callable_named(struct run *r, PyObject *name)
{
	PyObject *func = PyDict_GetItemWithError(r->main, name);

	return func && PyCallable_Check(func) ? func : NULL;
}

/* What stands under the name of a handler of these events, callable or not; borrowed. */
static PyObject *name_taken(struct run *r, struct slot *slot)
{
	PyObject *o = PyDict_GetItemWithError(r->main, slot->name);

	if (!o && slot->kind == SONDE_TRACEPOINT)
		o = PyDict_GetItemWithError(r->main, r->unhandled);
	PyErr_Clear();
	return o;
}

/* Sets slot->func and slot->plan to what __main__ says now. */
static int look_up(struct run *r, struct slot *slot)
{
	PyObject *func = callable_named(r, slot->name);
	bool unhandled = false;

	if (!func && slot->kind == SONDE_TRACEPOINT && !PyErr_Occurred()) {
		func = callable_named(r, r->unhandled);
		unhandled = true;
	}
	if (!func) {
		slot->func = NULL;
		return PyErr_Occurred() ? -1 : 0;
	}
	if (func == slot->func && plan_unhandled(slot->plan) == unhandled)
		return 0;
	slot->plan = plan_get(r, slot, func, unhandled);
	slot->func = slot->plan ? func : NULL;
	r->has_called = true;
	return slot->plan ? 0 : -1;
}

/*
 * Plans what the handlers that __main__ has are called with, for event types that came since the last time: what is wrong
 * with their parameters is reported before the first event.
 */
static int bind_handlers(struct run *r)
{
	const size_t nr = sonde_session_schemas(r->s);

	for (; r->nr_bound < nr; r->nr_bound++) {
		const struct sonde_schema *sc = sonde_session_schema(r->s, (uint32_t)r->nr_bound);
		struct slot *slot = r->nr_bound < r->nr_slots ? r->slots[r->nr_bound] : NULL;
		PyObject *name, *func;
		char text[512];

		if (!sc || sonde_schema_kind(sc) != SONDE_TRACEPOINT ||
		    prelude_handler_name(sc, "__", text, sizeof(text)) < 0)
			continue;
		name = name_object(text);
		func = name ? callable_named(r, name) : NULL;
		Py_XDECREF(name);
		if (func && (slot || (slot = slot_add(r, (uint32_t)r->nr_bound)))) {
			Py_INCREF(func);
			plan_get(r, slot, func, false);
			Py_DECREF(func);
		}
		if (PyErr_Occurred())
			return -1;
	}
	return 0;
}

void run_want_all(struct run *r)
{
	for (size_t i = 0; i < r->nr_slots; i++) {
		if (r->slots[i] && r->slots[i]->refused) {
			sonde_session_want(r->s, sonde_schema_id(r->slots[i]->sc), 1);
			r->slots[i]->refused = false;
		}
	}
	r->nr_refused = 0;
}

void run_refuse(struct run *r, struct slot *slot, const PyObject *func)
{
	uint64_t version = 0;

#ifdef DICT_VERSION
	/* What stands there now and cannot be called may become so without a change of the dict. */
	if (!func && (!r->nr_refused || r->refused_version))
		version = DICT_VERSION(r->main);
#endif
	sonde_session_want(r->s, sonde_schema_id(slot->sc), 0);
	slot->refused = true;
	r->nr_refused++;
	r->refused_version = version;
}

void run_handler_ran(struct run *r)
{
	if (!r->nr_refused)
		return;
#ifdef DICT_VERSION
	if (r->refused_version == DICT_VERSION(r->main))
		return;
#endif
	run_want_all(r);
}

/* Scripts that count in global variables change __main__'s dict with each event, but hardly their handlers. */
static inline bool is_still_there(const struct run *r, const struct slot *slot)
{
#ifdef FASTDICT
	return slot->func && slot->main_at >= 0 &&
	       dict_value_at(r->main, slot->main_at, slot->name) == slot->func;
#else
	return false;
#endif
}

/* Another function than before: where it is. */
static void note_place(const struct run *r, struct slot *slot)
{
#ifdef FASTDICT
	slot->main_at = -1;
	if (slot->func && !plan_unhandled(slot->plan))
		slot->main_at = dict_place_of(r->main, slot->name);
#endif
}

static int look_up_again(struct run *r, struct slot *slot)
{
	const PyObject *before = slot->func;
	int code = look_up(r, slot);

	if (!code && slot->func != before)
		note_place(r, slot);
	return code;
}

static inline int dispatch(struct run *r, struct slot *slot)
{
#ifdef DICT_VERSION
	uint64_t version;
#endif
	int code;

	if (!slot->defined) {
		if (define(r, slot) < 0)
			return -1;
		run_handler_ran(r);
	}
#ifdef DICT_VERSION
	version = DICT_VERSION(r->main);
	if ((!slot->looked_up || slot->version != version) && !is_still_there(r, slot)) {
		if (look_up_again(r, slot) < 0)
			return -1;
		slot->version = version;
		slot->looked_up = slot->func || !name_taken(r, slot);
	}
#else
	if (!is_still_there(r, slot) && look_up_again(r, slot) < 0)
		return -1;
#endif
	if (!slot->func) {
		r->has_passed_over = true;
		/* perf 6.12 tells scripts of the flag tables before each event, handled or not. */
		if (r->compat == SONDE_COMPAT_PERF_6_12 && slot->kind == SONDE_TRACEPOINT)
			return 0;
		run_refuse(r, slot, name_taken(r, slot));
		return 0;
	}
	if (!plan_holds(r, slot->plan)) {
		PyObject *func = slot->func;

		slot->func = NULL;
		slot->plan = plan_get(r, slot, func, plan_unhandled(slot->plan));
		if (!slot->plan)
			return -1;
		slot->func = func;
	}
	code = plan_call(r, slot, slot->plan);
	run_handler_ran(r);
	return code;
}

/* Between batches: wait for events without the interpreter lock, see to signals, notice debuggers. */
static int next_batch(struct run *r)
{
	PyObject *traced;
	bool eager_now;
	int code, yes;

	if (r->before_waiting != Py_None) {
		PyObject *done = PyObject_CallFunction(r->before_waiting, NULL);

		if (!done)
			return -1;
		Py_DECREF(done);
	}
	run_want_all(r); /* other threads run while the lock is released */
	r->current->ev = NULL;
	Py_BEGIN_ALLOW_THREADS
	code = sonde_session_fill(r->s);
	Py_END_ALLOW_THREADS
	if (PyErr_CheckSignals() < 0)
		return -1;
	if (code < 0) {
		module_error(r->m, code);
		return -1;
	}
	if (bind_handlers(r) < 0)
		return -1;
	traced = PyObject_CallFunction(r->is_traced, NULL);
	yes = traced ? PyObject_IsTrue(traced) : -1;
	Py_XDECREF(traced);
	if (yes < 0)
		return -1;
	eager_now = yes;
	for (size_t i = 0; i < r->nr_slots; i++) {
		if (!r->slots[i])
			continue;
		if (eager_now != r->eager_now ||
		    (r->slots[i]->plan && !plan_holds(r, r->slots[i]->plan)))
			plan_free_all(r->slots[i]);
	}
	r->eager_now = eager_now;
	return code;
}

static inline int serve(struct run *r, struct slot *slot)
{
	if (r->db) {
		int code = dbexport_event(r->db, r->ev);

		if (code > 0)
			run_handler_ran(r); /* those of tables */
		if (code)
			return code;
	}
	if (__builtin_expect(slot->kind <= SONDE_SAMPLE, 1))
		return dispatch(r, slot);
	return records_call(r, slot);
}

static int loop(struct run *r)
{
	const struct sonde_event *ev;
	struct slot *slot;
	int code;

	for (;;) {
		code = sonde_session_next_pending(r->s, &ev);
		if (code < 0) {
			module_error(r->m, code);
			return code;
		}
		if (!code) {
			code = next_batch(r);
			if (code <= 0)
				return code;
			continue;
		}
		slot = ev->schema < r->nr_slots ? r->slots[ev->schema] : NULL;
		if (!slot && !(slot = slot_add(r, ev->schema)))
			return -1;
		r->ev = ev;
		r->nr_events++;
		r->ev_slot = slot;
		r->current->ev = ev;
		r->sample_read = r->sample_located = false;
		if (serve(r, slot) < 0)
			return -1;
		r->ev = NULL;
	}
}

static PyObject *run_run(struct run *r, PyObject *unused)
{
	int code;

	(void)unused;
	if (r->running || session_check(r->session) < 0) {
		if (r->running)
			PyErr_SetString(PyExc_RuntimeError, "the run has begun");
		return NULL;
	}
	r->running = true;
	r->session->busy = true; /* ours until the end */
	r->db = dbexport_begin(r);
	code = (r->db || !PyErr_Occurred()) && !bind_handlers(r) ? loop(r) : -1;
	if (r->db && code >= 0)
		code = dbexport_end(r->db);
	r->current->ev = NULL;
	if (!code)
		code = records_end(r);
	r->session->busy = false;
	if (code < 0)
		return NULL;
	Py_RETURN_NONE;
}

/* ---- what the launcher asks -------------------------------------------------------------------------------------- */

static PyObject *run_describe(struct run *r, PyObject *unused)
{
	char line[4096];
	int len;

	(void)unused;
	if (!r->ev)
		Py_RETURN_NONE;
	len = prelude_describe(r->session->s, r->ev, line, sizeof(line));
	return text_object(line, len < 0 ? 0 : (size_t)len);
}

static PyObject *run_context(struct run *r, void *unused)
{
	(void)unused;
	Py_INCREF(r->context);
	return r->context;
}

static PyObject *run_compat(struct run *r, void *unused)
{
	(void)unused;
	return PyLong_FromLong(r->compat);
}

static PyObject *run_is_idle(struct run *r, void *unused)
{
	(void)unused;
	return PyBool_FromLong(r->has_passed_over && !r->has_called && !r->db);
}

static PyObject *run_met(struct run *r, void *unused)
{
	PyObject *names = PySet_New(NULL);

	(void)unused;
	for (size_t i = 0; names && i < r->nr_slots; i++) {
		const struct slot *slot = r->slots[i];

		if (slot && (slot->kind == SONDE_TRACEPOINT || slot->kind == SONDE_SAMPLE) &&
		    PySet_Add(names, slot->name) < 0)
			Py_CLEAR(names);
	}
	return names;
}

static PyMethodDef methods[] = {
	{ "run", (PyCFunction)run_run, METH_NOARGS,
	  "run()\n\nCalls the handlers in __main__ for all events." },
	{ "describe", (PyCFunction)run_describe, METH_NOARGS,
	  "describe() -> str or None\n\nThe event whose handler raised, in one line." },
	{ NULL }
};

static PyGetSetDef getset[] = {
	{ "context", (getter)run_context, NULL, "what handlers get as `context`", NULL },
	{ "compat", (getter)run_compat, NULL, "int: enum sonde_compat", NULL },
	{ "is_idle", (getter)run_is_idle, NULL,
	  "bool: samples came, and no function of the script was called", NULL },
	{ "met", (getter)run_met, NULL,
	  "set of str: handlers that events came for; and those that the script has for other "
	  "events",
	  NULL },
	{ NULL }
};

PyTypeObject *run_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_doc, "A perf script's run over a session; for the launcher." },
		{ Py_tp_dealloc, run_dealloc },
		{ Py_tp_methods, methods },
		{ Py_tp_getset, getset },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Run", sizeof(struct run), 0, Py_TPFLAGS_DEFAULT, slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
