/* SPDX-License-Identifier: MIT */
/*
 * Python's part of the loop over a script's events (prelude/loop.h): finds the current handler in
 * __main__, then its plan, then calls it.
 *
 * The function is looked up before each call, because the contract lets a script replace its
 * handlers. The interpreter lock is released once per batch, and signals are handled then.
 */
#include "fastdict.h"

#include "run.h"

#include <stddef.h>
#include <string.h>

#include "dbexport.h"
#include "dicts.h"
#include "plan.h"
#include "records.h"
#include "sample.h"

#if !defined(Py_LIMITED_API) && PY_VERSION_HEX < 0x030c0000
/* Changes whenever the dict changes. */
#define DICT_VERSION(d) (((PyDictObject *)(d))->ma_version_tag)
#endif

static const struct script_lang lang;

static inline struct python_run *run_of(struct script_run *base)
{
	return (struct python_run *)((char *)base - offsetof(struct python_run, base));
}

static inline struct slot *run_slot_of(struct script_slot *base)
{
	return (struct slot *)base;
}

/* ---- event types ----------------------------------------------------------------------------- */

static int run_slot_init(struct script_run *base, struct script_slot *s)
{
	struct slot *slot = run_slot_of(s);
	const struct sonde_field *fields, *pid;
	char name[512];

	prelude_sampled_init(&slot->sampled, s->sc, base->rules);
	if (s->kind != SONDE_TRACEPOINT) {
		slot->name = PyUnicode_InternFromString(s->callback && s->callback->name
								? s->callback->name
								: PRELUDE_PROCESS_EVENT);
		return slot->name ? 0 : -1;
	}
	if (prelude_handler_name(s->sc, lang.separator, name, sizeof(name)) < 0) {
		PyErr_Format(PyExc_ValueError, "the name of event %s is too long",
			     sonde_schema_name(s->sc));
		return -1;
	}
	slot->name = name_object(name);
	fields = prelude_fields(s->sc, &slot->nr_fields);
	slot->convs = calloc(slot->nr_fields + 1, sizeof(*slot->convs));
	slot->keys = calloc(slot->nr_fields + 1, sizeof(*slot->keys));
	if (!slot->name || !slot->convs || !slot->keys) {
		PyErr_NoMemory();
		return -1;
	}
	for (size_t i = 0; i < slot->nr_fields; i++) {
		conv_init(&slot->convs[i], &fields[i], base->rules);
		slot->keys[i] = name_object(fields[i].name);
		if (!slot->keys[i])
			return -1;
	}
	pid = sonde_schema_field(s->sc, "common_pid");
	if (pid)
		conv_init(&slot->pid, pid, sonde_rules_get(0));
	else
		slot->pid.kind = prelude_pid_is_thread(s->sc) ? CONV_THREAD : CONV_ZERO;
	return 0;
}

static void run_slot_done(struct script_run *r, struct script_slot *s)
{
	struct slot *slot = run_slot_of(s);

	(void)r;
	plan_free_all(slot);
	Py_XDECREF(slot->name);
	for (size_t i = 0; slot->keys && i < slot->nr_fields; i++)
		Py_XDECREF(slot->keys[i]);
	free(slot->keys);
	free(slot->convs);
	Py_XDECREF(slot->fields);
	Py_XDECREF(slot->kept_fields.dict);
	shapes_free(slot);
}

/* ---- functions of the script ----------------------------------------------------------------- */

static int run_define(struct script_run *base, struct script_slot *s, const struct sonde_define *d)
{
	struct python_run *r = run_of(base);
	struct slot *slot = run_slot_of(s);
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
		result = base->rules->signed_defines || prelude_define_signed(s->sc, d, base->rules)
				 ? PyObject_CallFunction(func, "OsLs", slot->name, d->field,
							 (long long)d->value, d->text)
				 : PyObject_CallFunction(func, "OsKs", slot->name, d->field,
							 (unsigned long long)d->value, d->text);
		break;
	}
	Py_DECREF(func);
	Py_XDECREF(result);
	return result ? 0 : -1;
}

/*
 * Returns the function of that name in __main__, borrowed. NULL if there is none, or with an
 * exception.
 */
static PyObject *run_callable_named(struct python_run *r, PyObject *name)
{
	PyObject *func = PyDict_GetItemWithError(r->main, name);

	return func && PyCallable_Check(func) ? func : NULL;
}

static int run_find_function(struct script_run *base, const struct script_slot *s, const char *name,
			     void **ret)
{
	PyObject *key, *func = NULL;

	if (s) {
		func = run_callable_named(run_of(base), ((const struct slot *)s)->name);
	} else {
		key = text_object(name, strlen(name));
		func = key ? run_callable_named(run_of(base), key) : NULL;
		Py_XDECREF(key);
	}
	*ret = func;
	return func ? 1 : PyErr_Occurred() ? -1 : 0;
}

static int run_bind(struct script_run *base, struct script_slot *s, void *function)
{
	PyObject *func = function;
	const struct plan *p;

	Py_INCREF(func);
	p = plan_get(run_of(base), run_slot_of(s), func, false);
	Py_DECREF(func);
	return p ? 0 : -1;
}

static int run_call_callback(struct script_run *base, const struct prelude_callback *cb,
			     void *function, const struct prelude_record_value *values)
{
	return records_call(run_of(base), cb, function, values);
}

#ifdef DICT_VERSION
/* Returns the value, callable or not, that has the name of a handler of these events; borrowed. */
static PyObject *run_name_taken(struct python_run *r, struct slot *slot)
{
	PyObject *o = PyDict_GetItemWithError(r->main, slot->name);

	if (!o && slot->base.kind == SONDE_TRACEPOINT)
		o = PyDict_GetItemWithError(r->main, r->unhandled);
	PyErr_Clear();
	return o;
}
#endif

/* Sets slot->func and slot->plan from the current content of __main__. */
static int run_look_up(struct python_run *r, struct slot *slot)
{
	PyObject *func = run_callable_named(r, slot->name);
	bool unhandled = false;

	if (!func && slot->base.kind == SONDE_TRACEPOINT && !PyErr_Occurred()) {
		func = run_callable_named(r, r->unhandled);
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
	return slot->plan ? 0 : -1;
}

/*
 * Scripts that count in global variables change __main__'s dict with each event, but they rarely
 * change their handlers.
 */
static inline bool run_is_still_there(const struct python_run *r, const struct slot *slot)
{
#ifdef FASTDICT
	return slot->func && slot->main_at >= 0 &&
	       dict_value_at(r->main, slot->main_at, slot->name) == slot->func;
#else
	return false;
#endif
}

/* Records the place of a new function in __main__'s dict. */
static void run_note_place(const struct python_run *r, struct slot *slot)
{
#ifdef FASTDICT
	slot->main_at = -1;
	if (slot->func && !plan_unhandled(slot->plan))
		slot->main_at = dict_place_of(r->main, slot->name);
#endif
}

static int run_look_up_again(struct python_run *r, struct slot *slot)
{
	const PyObject *before = slot->func;
	int code = run_look_up(r, slot);

	if (!code && slot->func != before)
		run_note_place(r, slot);
	return code;
}

/* Makes a new plan, because the function's code is no longer that of its plan. */
static int run_plan_again(struct python_run *r, struct slot *slot)
{
	PyObject *func = slot->func;

	slot->func = NULL;
	slot->plan = plan_get(r, slot, func, plan_unhandled(slot->plan));
	if (!slot->plan)
		return -1;
	slot->func = func;
	return 0;
}

SCRIPT_HOT bool run_has_changed(struct script_run *base, struct script_slot *s)
{
	const struct python_run *r = run_of(base);
	struct slot *slot = run_slot_of(s);

#ifdef DICT_VERSION
	if ((!slot->looked_up || slot->version != DICT_VERSION(r->main)) &&
	    !run_is_still_there(r, slot))
		return true;
#else
	if (!run_is_still_there(r, slot))
		return true;
#endif
	return slot->func && !plan_holds(r, slot->plan);
}

static int run_find_handler(struct script_run *base, struct script_slot *s)
{
	struct python_run *r = run_of(base);
	struct slot *slot = run_slot_of(s);
#ifdef DICT_VERSION
	const uint64_t version = DICT_VERSION(r->main);
#endif

	if (run_look_up_again(r, slot) < 0)
		return -1;
#ifdef DICT_VERSION
	slot->version = version;
	slot->looked_up = slot->func || !run_name_taken(r, slot);
#endif
	if (!slot->func)
		return 0;
	return plan_holds(r, slot->plan) || !run_plan_again(r, slot) ? 1 : -1;
}

SCRIPT_HOT int run_make_args(struct script_run *base, struct script_slot *s)
{
	return plan_args(run_of(base), run_slot_of(s), run_slot_of(s)->plan);
}

SCRIPT_HOT int run_call(struct script_run *base, struct script_slot *s)
{
	return plan_call(run_of(base), run_slot_of(s), run_slot_of(s)->plan);
}

/*
 * A value under the handler's name that is not callable now may become callable without a change of
 * the dict.
 */
static void run_refused(struct script_run *base, struct script_slot *s)
{
#ifdef DICT_VERSION
	struct python_run *r = run_of(base);
	const bool is_known = !base->nr_refused || r->refused_version;

	r->refused_version =
		is_known && !run_name_taken(r, run_slot_of(s)) ? DICT_VERSION(r->main) : 0;
#else
	(void)base;
	(void)s;
#endif
}

SCRIPT_HOT bool run_may_want(struct script_run *base)
{
#ifdef DICT_VERSION
	const struct python_run *r = run_of(base);

	return r->refused_version != DICT_VERSION(r->main);
#else
	(void)base;
	return true;
#endif
}

/* ---- events ---------------------------------------------------------------------------------- */

static int run_failed(struct script_run *base, int code)
{
	module_error(run_of(base)->m, code);
	return -1;
}

SCRIPT_HOT int run_event(struct script_run *base, struct script_slot *s)
{
	struct python_run *r = run_of(base);

	r->nr_events++;
	r->ev_slot = run_slot_of(s);
	r->current->ev = base->ev;
	r->sample_read = r->sample_located = false;
	return r->db ? dbexport_event(r->db, base->ev) : 0;
}

/*
 * Drops plans that became invalid because a debugger started or ended, or a function got new code.
 */
static int run_drop_plans(struct python_run *r)
{
	PyObject *traced = PyObject_CallFunction(r->is_traced, NULL);
	const int eager_now = traced ? PyObject_IsTrue(traced) : -1;

	Py_XDECREF(traced);
	if (eager_now < 0)
		return -1;
	for (size_t i = 0; i < r->base.nr_slots; i++) {
		struct slot *slot = run_slot_of(r->base.slots[i]);

		if (slot &&
		    (eager_now != r->eager_now || (slot->plan && !plan_holds(r, slot->plan))))
			plan_free_all(slot);
	}
	r->eager_now = eager_now;
	return 0;
}

/* Waits for events without the interpreter lock, handles signals, notices debuggers. */
static int run_fill(struct script_run *base)
{
	struct python_run *r = run_of(base);
	int code;

	if (r->before_waiting != Py_None) {
		PyObject *done = PyObject_CallFunction(r->before_waiting, NULL);

		if (!done)
			return -1;
		Py_DECREF(done);
	}
	r->current->ev = NULL;
	Py_BEGIN_ALLOW_THREADS
	code = sonde_session_fill(base->s);
	Py_END_ALLOW_THREADS
	if (PyErr_CheckSignals() < 0)
		return -1;
	if (code < 0)
		return run_failed(base, code);
	return run_drop_plans(r) < 0 ? -1 : code;
}

static const struct script_lang lang = {
	.separator = "__",
	.slot_size = sizeof(struct slot),
	.slot_init = run_slot_init,
	.slot_done = run_slot_done,
	.find_function = run_find_function,
	.bind = run_bind,
	.define = run_define,
	.call_callback = run_call_callback,
	.fill = run_fill,
	.failed = run_failed,
	.event = run_event,
	.has_changed = run_has_changed,
	.find_handler = run_find_handler,
	.make_args = run_make_args,
	.call = run_call,
	.may_want = run_may_want,
	.refused = run_refused,
};

int run_events(struct python_run *r)
{
	int code;

	r->db = dbexport_begin(r);
	code = (r->db || !PyErr_Occurred()) && !script_begin(&r->base, &lang)
		       ? script_next(&r->base, &lang)
		       : -1;
	if (r->db && code >= 0)
		code = dbexport_end(r->db);
	r->current->ev = NULL;
	return code ? code : script_end(&r->base, &lang);
}

void run_done(struct python_run *r)
{
	script_done(&r->base, &lang);
	dbexport_free(r->db);
	records_free(r->records);
	nodes_free(r->nodes);
	free(r->near_nodes);
}
