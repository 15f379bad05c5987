/* SPDX-License-Identifier: MIT */
/*
 * The module perf_trace_context: what a handler may ask of the event at hand, through the `context` it was given. All
 * contexts mean the current event; outside of one the functions raise, where perf crashes.
 */
#include "pysonde.h"

static PyObject *common_field(PyObject *args, const char *name)
{
	const struct sonde_schema *sc;
	const struct sonde_field *f;
	struct perf_context *c;
	PyObject *context;

	if (!PyArg_UnpackTuple(args, "context", 1, 1, &context))
		return NULL;
	c = PyCapsule_GetPointer(context, NULL);
	if (!c)
		return NULL;
	if (!c->ev) {
		PyErr_SetString(PyExc_RuntimeError,
				"there is no current event: only handlers may ask this");
		return NULL;
	}
	sc = sonde_event_schema(c->s, c->ev);
	f = sc ? sonde_schema_field(sc, name) : NULL;
	return PyLong_FromLong(f ? (long)(int32_t)sonde_event_u64(c->ev, f) : 0);
}

static PyObject *common_pc(PyObject *module, PyObject *args)
{
	(void)module;
	return common_field(args, "common_preempt_count");
}

static PyObject *common_flags(PyObject *module, PyObject *args)
{
	(void)module;
	return common_field(args, "common_flags");
}

static PyObject *common_lock_depth(PyObject *module, PyObject *args)
{
	(void)module;
	return common_field(args, "common_lock_depth");
}

static PyMethodDef functions[] = {
	{ "common_pc", common_pc, METH_VARARGS,
	  "common_pc(context) -> int\n\nThe event's common_preempt_count: low four bits the "
	  "preemption depth, high four how\n"
	  "deep migration was disabled." },
	{ "common_flags", common_flags, METH_VARARGS,
	  "common_flags(context) -> int\n\nThe event's common_flags: 1 interrupts off, 4 to be "
	  "rescheduled, 8 hard\n"
	  "interrupt, 16 soft interrupt." },
	{ "common_lock_depth", common_lock_depth, METH_VARARGS,
	  "common_lock_depth(context) -> int\n\nThe event's common_lock_depth; 0 on kernels that "
	  "have none." },
	{ NULL }
};

static int exec(PyObject *module)
{
	Py_INCREF(Py_None);
	if (PyModule_AddObject(module, "perf_script_context", Py_None) < 0) {
		Py_DECREF(Py_None);
		return -1;
	}
	return 0;
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, exec },
	{ 0, NULL },
};

static struct PyModuleDef def = {
	PyModuleDef_HEAD_INIT,
	.m_name = "perf_trace_context",
	.m_doc = "What perf scripts may ask of the current event.",
	.m_methods = functions,
	.m_slots = slots,
};

PyMODINIT_FUNC PyInit_perf_trace_context(void);

PyMODINIT_FUNC PyInit_perf_trace_context(void)
{
	return PyModuleDef_Init(&def);
}
