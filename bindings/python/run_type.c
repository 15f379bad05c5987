/* SPDX-License-Identifier: MIT */
/* The type Run: a run as the launcher of perf scripts sees it. */
#include "run_type.h"

#include <string.h>

#include "keys.h"
#include "run.h"

static void run_dealloc(struct python_run *r)
{
	PyTypeObject *type = Py_TYPE((PyObject *)r);

	run_done(r);
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
	for (size_t i = 0; i < 4; i++)
		Py_XDECREF(r->defines[i]);
	keys_free(r->keys);
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
	struct python_run *r;
	int eager;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "O!O!OOOp|O", names, m->session, &session,
					 &PyDict_Type, &main, &how_read, &misfits, &is_traced,
					 &eager, &before_waiting))
		return NULL;
	if (session_check((struct py_session *)session) < 0)
		return NULL;
	r = PyObject_New(struct python_run, m->run);
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
	r->base.s = r->session->s;
	r->v = r->session->v;
	r->base.rules = r->v->rules;
	r->base.redefines = r->base.rules->defines_before_each_event;
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
	r->context = context_new(r->base.s, &r->current);
	if (!r->unhandled || !r->code_word || !r->no_values || !r->defines[0] || !r->defines[1] ||
	    !r->defines[2] || !r->defines[3] || !r->keys || !r->context) {
		Py_DECREF((PyObject *)r);
		return PyErr_NoMemory();
	}
	return (PyObject *)r;
}

static PyObject *run_run(struct python_run *r, PyObject *unused)
{
	int code;

	if (r->running || session_check(r->session) < 0) {
		if (r->running)
			PyErr_SetString(PyExc_RuntimeError, "the script's run has already started");
		return NULL;
	}
	r->running = true;
	r->session->busy = true; /* until the script's run ends */
	code = run_events(r);
	r->session->busy = false;
	if (code < 0)
		return NULL;
	Py_RETURN_NONE;
}

/* ---- what the launcher asks ------------------------------------------------------------------ */

static PyObject *run_describe(struct python_run *r, PyObject *unused)
{
	char line[4096];
	int len;

	(void)unused;
	if (!r->base.ev)
		Py_RETURN_NONE;
	len = prelude_describe(r->session->s, r->base.ev, line, sizeof(line));
	return text_object(line, len < 0 ? 0 : (size_t)len);
}

static PyObject *run_context(struct python_run *r, void *unused)
{
	(void)unused;
	Py_INCREF(r->context);
	return r->context;
}

static PyObject *run_is_idle(struct python_run *r, void *unused)
{
	(void)unused;
	return PyBool_FromLong(r->base.has_passed_over && !r->base.has_called && !r->db);
}

static PyObject *run_met(struct python_run *r, void *unused)
{
	PyObject *names = PySet_New(NULL);

	(void)unused;
	for (size_t i = 0; names && i < r->base.nr_slots; i++) {
		const struct script_slot *slot = r->base.slots[i];

		if (slot && slot->kind <= SONDE_SAMPLE &&
		    PySet_Add(names, ((const struct slot *)slot)->name) < 0)
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
	{ "is_idle", (getter)run_is_idle, NULL,
	  "bool: there were samples, but no function of the script was called", NULL },
	{ "met", (getter)run_met, NULL,
	  "set of str: handlers of events that occurred; and those that the script has for other "
	  "events",
	  NULL },
	{ NULL }
};

PyTypeObject *run_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc, "A perf script's run over a session; for the launcher." },
		{ Py_tp_dealloc, run_dealloc },
		{ Py_tp_methods, methods },
		{ Py_tp_getset, getset },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Run", sizeof(struct python_run), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
