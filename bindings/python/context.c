/* SPDX-License-Identifier: MIT */
/*
 * The module perf_trace_context: questions that a handler may ask about the current event, through
 * its `context` argument. Every context means the current event. Outside of an event the functions
 * raise; perf crashes there.
 */
#include "context.h"

#include <errno.h>
#include <stdio.h>

#include "prelude/prelude.h"
#include "values.h"

/* Its address distinguishes our capsules from those of others, which have no name either. */
static char mark;

static void context_free(PyObject *capsule)
{
	free(PyCapsule_GetPointer(capsule, NULL));
}

PyObject *context_new(struct sonde_session *s, struct perf_context **ret)
{
	struct perf_context *c = calloc(1, sizeof(*c));
	PyObject *capsule = c ? PyCapsule_New(c, NULL, context_free) : NULL;

	if (!capsule) {
		free(c);
		return c ? NULL : PyErr_NoMemory();
	}
	if (PyCapsule_SetContext(capsule, &mark)) {
		Py_DECREF(capsule);
		return NULL;
	}
	c->s = s;
	c->rules = sonde_session_rules(s);
	c->itrace_is_set = strstr(sonde_session_print(s), "\nitrace=") != NULL;
	*ret = c;
	return capsule;
}

static struct perf_context *context_of(PyObject *capsule)
{
	struct perf_context *c = PyCapsule_GetPointer(capsule, NULL);

	if (c && PyCapsule_GetContext(capsule) != &mark) {
		PyErr_SetString(PyExc_ValueError, "this is not the context of an event");
		return NULL;
	}
	return c;
}

/*
 * Returns the argument of functions that take only the context. NULL with an exception if it is
 * another object or if there is no current event.
 */
static struct perf_context *context_arg(PyObject *args)
{
	struct perf_context *c;
	PyObject *capsule;

	if (!PyArg_UnpackTuple(args, "context", 1, 1, &capsule))
		return NULL;
	c = context_of(capsule);
	if (c && !c->ev) {
		PyErr_SetString(PyExc_RuntimeError,
				"there is no current event: only handlers may ask this");
		return NULL;
	}
	return c;
}

/* ---- fields that all tracepoints have -------------------------------------------------------- */

static PyObject *context_value(PyObject *args, enum prelude_context which)
{
	struct perf_context *c = context_arg(args);

	return c ? PyLong_FromLong(prelude_context_value(c->s, c->ev, which)) : NULL;
}

static PyObject *context_common_pc(PyObject *module, PyObject *args)
{
	(void)module;
	return context_value(args, PRELUDE_PC);
}

static PyObject *context_common_flags(PyObject *module, PyObject *args)
{
	(void)module;
	return context_value(args, PRELUDE_FLAGS);
}

static PyObject *context_common_lock_depth(PyObject *module, PyObject *args)
{
	(void)module;
	return context_value(args, PRELUDE_LOCK_DEPTH);
}

/* ---- the code at the sample's address -------------------------------------------------------- */

/* Returns the code at the event's address; unknown if it has no address. */
static struct sonde_code context_code_of(const struct perf_context *c, unsigned parts)
{
	struct sonde_code code = { 0 };
	struct sonde_sample sample;

	if (sonde_event_sample(c->ev, &sample) < 0 || !sample.ip ||
	    sonde_event_code(c->ev, sample.ip, c->ev->cpumode, parts, &code) < 0)
		return (struct sonde_code){ 0 };
	/* perf's addr2line prints this for an address without a known line. */
	if (code.file && !code.line && !strcmp(code.file, "??"))
		code.file = NULL;
	return code;
}

static PyObject *context_text_or_none(const char *text, size_t len)
{
	if (text)
		return text_object(text, len);
	Py_RETURN_NONE;
}

static PyObject *context_file_of(const struct sonde_code *code)
{
	return context_text_or_none(code->file, code->file ? strlen(code->file) : 0);
}

static PyObject *context_perf_sample_insn(PyObject *module, PyObject *args)
{
	struct perf_context *c = context_arg(args);
	struct sonde_code code;

	(void)module;
	if (!c)
		return NULL;
	code = context_code_of(c, SONDE_CODE_INSN);
	if (!code.insn_len)
		Py_RETURN_NONE;
	return PyBytes_FromStringAndSize((const char *)code.insn, (Py_ssize_t)code.insn_len);
}

static PyObject *context_perf_sample_srcline(PyObject *module, PyObject *args)
{
	struct perf_context *c = context_arg(args);
	struct sonde_code code;

	(void)module;
	if (!c)
		return NULL;
	code = context_code_of(c, SONDE_CODE_LINE);
	return Py_BuildValue("(NI)", context_file_of(&code), (unsigned int)code.line);
}

static PyObject *context_perf_sample_srccode(PyObject *module, PyObject *args)
{
	struct perf_context *c = context_arg(args);
	struct sonde_code code;

	(void)module;
	if (!c)
		return NULL;
	code = context_code_of(c, SONDE_CODE_LINE | SONDE_CODE_TEXT);
	return Py_BuildValue("(NIN)", context_file_of(&code), (unsigned int)code.line,
			     context_text_or_none(code.text, code.text_len));
}

/* ---- settings -------------------------------------------------------------------------------- */

/* Returns 0, or the negative errno that perf returns for unknown options. */
static int context_check_itrace(const struct perf_context *c, const char *options)
{
	size_t room = strlen(options) + 64;
	char *lines = malloc(room), *parsed = NULL;
	int code;

	if (!lines)
		return -ENOMEM;
	PyOS_snprintf(lines, room, "compat=%s\nitrace=%s\n", c->rules->version, options);
	code = strchr(options, '\n') ? -EINVAL : sonde_session_parse(lines, &parsed);
	free(parsed);
	free(lines);
	return code;
}

/*
 * Hardware traces are not decoded, so the options have no effect; the result only shows if they are
 * valid.
 */
static PyObject *context_perf_set_itrace_options(PyObject *module, PyObject *args)
{
	PyObject *capsule, *options = NULL, *text;
	struct perf_context *c;
	int code;

	(void)module;
	if (!PyArg_UnpackTuple(args, "itrace_options", 1, 2, &capsule, &options))
		return NULL;
	c = context_of(capsule);
	if (!c)
		return NULL;
	if (c->itrace_is_set)
		return PyLong_FromLong(1);
	if (!options || !PyUnicode_Check(options)) {
		PyErr_SetString(PyExc_TypeError, "itrace_options: the options are a str");
		return NULL;
	}
	text = PyUnicode_AsUTF8String(options);
	if (!text)
		return NULL;
	code = context_check_itrace(c, PyBytes_AsString(text));
	Py_DECREF(text);
	if (code == -ENOMEM)
		return PyErr_NoMemory();
	c->itrace_is_set = true;
	if (code < 0)
		PySys_FormatStderr("Bad Instruction Tracing options '%U'\n", options);
	return PyLong_FromLong(code);
}

/* The launcher stored the names and values of the configuration files in the module. */
static PyObject *context_perf_config_get(PyObject *module, PyObject *args)
{
	PyObject *config, *value;
	const char *name;

	if (!PyArg_ParseTuple(args, "s", &name))
		return NULL;
	config = PyObject_GetAttrString(module, "_config");
	if (!config)
		return NULL;
	value = PyDict_Check(config) ? PyDict_GetItemString(config, name) : NULL;
	value = value ? value : Py_None;
	Py_INCREF(value);
	Py_DECREF(config);
	return value;
}

static PyMethodDef functions[] = {
	{ "common_pc", context_common_pc, METH_VARARGS,
	  "common_pc(context) -> int\n\nThe event's common_preempt_count: low four bits the "
	  "preemption depth, high four how\n"
	  "deep migration was disabled." },
	{ "common_flags", context_common_flags, METH_VARARGS,
	  "common_flags(context) -> int\n\nThe event's common_flags: 1 interrupts off, 4 to be "
	  "rescheduled, 8 hard\n"
	  "interrupt, 16 soft interrupt." },
	{ "common_lock_depth", context_common_lock_depth, METH_VARARGS,
	  "common_lock_depth(context) -> int\n\nThe event's common_lock_depth; 0 on kernels that "
	  "have none." },
	{ "perf_sample_insn", context_perf_sample_insn, METH_VARARGS,
	  "perf_sample_insn(context) -> bytes or None\n\nThe instruction at the sample's "
	  "address." },
	{ "perf_sample_srcline", context_perf_sample_srcline, METH_VARARGS,
	  "perf_sample_srcline(context) -> (file or None, line)\n\nThe source line at the sample's "
	  "address; 0: unknown." },
	{ "perf_sample_srccode", context_perf_sample_srccode, METH_VARARGS,
	  "perf_sample_srccode(context) -> (file or None, line, text or None)\n\nThe same, and the "
	  "text of that line." },
	{ "perf_set_itrace_options", context_perf_set_itrace_options, METH_VARARGS,
	  "perf_set_itrace_options(context, options) -> int\n\nReturns 0; 1 if options were set "
	  "before, also by --itrace; negative\nif they are wrong. Hardware traces are not "
	  "decoded." },
	{ "perf_config_get", context_perf_config_get, METH_VARARGS,
	  "perf_config_get(name) -> str or None\n\nThe value of a name in the configuration: "
	  "'annotate.objdump'." },
	{ NULL }
};

static int context_add(PyObject *module, const char *name, PyObject *value)
{
	if (!value || PyModule_AddObject(module, name, value) < 0) {
		Py_XDECREF(value);
		return -1;
	}
	return 0;
}

static int context_exec(PyObject *module)
{
	Py_INCREF(Py_None);
	return context_add(module, "perf_script_context", Py_None) < 0
		       ? -1
		       : context_add(module, "_config", PyDict_New());
}

static PyModuleDef_Slot slots[] = {
	{ Py_mod_exec, context_exec },
	SLOT_NEEDS_GIL{ 0, NULL },
};

static struct PyModuleDef def = {
	PyModuleDef_HEAD_INIT,
	.m_name = "perf_trace_context",
	.m_doc = "Functions for perf scripts about the current event.",
	.m_methods = functions,
	.m_slots = slots,
};

PyMODINIT_FUNC PyInit_perf_trace_context(void);

PyMODINIT_FUNC PyInit_perf_trace_context(void)
{
	return PyModuleDef_Init(&def);
}
