/* SPDX-License-Identifier: MIT */
#include "live.h"

#include <string.h>

#include "prelude/record_line.h"

/* ---- opening --------------------------------------------------------------------------------- */

/* What the library is given, and the objects that own its texts. */
struct live_args {
	struct sonde_record_event *events;
	size_t nr_events;
	PyObject *owners; /* list of bytes */
};

/* The text of a str as the library takes it; NULL for None, or with an exception. */
static const char *live_text(struct live_args *a, PyObject *o)
{
	PyObject *bytes;
	const char *text = NULL;

	if (o == Py_None)
		return NULL;
	bytes = PyUnicode_AsEncodedString(o, "utf-8", "surrogateescape");
	if (bytes && PyList_Append(a->owners, bytes) == 0)
		text = PyBytes_AsString(bytes);
	Py_XDECREF(bytes); /* the list has it */
	if (text && strlen(text) != (size_t)PyBytes_Size(bytes)) {
		PyErr_SetString(PyExc_ValueError, "a value must not contain a NUL");
		return NULL;
	}
	return text;
}

static int live_take_events(struct live_args *a, PyObject *events)
{
	const Py_ssize_t n = PySequence_Size(events);

	if (n < 0)
		return -1;
	a->events = calloc((size_t)n + 1, sizeof(*a->events));
	if (!a->events) {
		PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *item = PySequence_GetItem(events, i);
		struct sonde_record_event *e = &a->events[i];

		if (!item)
			return -1;
		if (PyTuple_Check(item) && PyTuple_Size(item) == 3) {
			e->events = live_text(a, PyTuple_GetItem(item, 0));
			e->filter = live_text(a, PyTuple_GetItem(item, 1));
			e->cgroup = live_text(a, PyTuple_GetItem(item, 2));
		} else {
			PyErr_SetString(PyExc_TypeError, "an event is (events, filter, cgroup)");
		}
		Py_DECREF(item);
		if (PyErr_Occurred())
			return -1;
	}
	a->nr_events = (size_t)n;
	return 0;
}

static int live_take_command(struct py_live *live, PyObject *command)
{
	const Py_ssize_t n = command == Py_None ? 0 : PySequence_Size(command);

	if (n <= 0)
		return (int)n;
	live->command = calloc((size_t)n + 1, sizeof(*live->command));
	if (!live->command) {
		PyErr_NoMemory();
		return -1;
	}
	for (Py_ssize_t i = 0; i < n; i++) {
		PyObject *word = PySequence_GetItem(command, i), *bytes = NULL;

		if (word && PyUnicode_FSConverter(word, &bytes)) {
			live->command[i] = strdup(PyBytes_AsString(bytes));
			if (!live->command[i])
				PyErr_NoMemory();
		}
		Py_XDECREF(bytes);
		Py_XDECREF(word);
		if (!live->command[i])
			return -1;
	}
	return 0;
}

static struct py_live *live_new(PyObject *module, struct module_state *m)
{
	struct py_live *live = PyObject_New(struct py_live, m->live);

	if (!live)
		return NULL;
	Py_INCREF(module);
	live->module = module;
	live->l = NULL;
	live->command = NULL;
	live->has_session = false;
	return live;
}

PyObject *live_open(PyObject *module, PyObject *args)
{
	struct module_state *m = PyModule_GetState(module);
	PyObject *events, *settings, *command, *output, *sudo;
	struct live_args a = { 0 };
	struct py_live *live;
	unsigned int latency;
	int broker_fd, r = -1;

	if (!PyArg_ParseTuple(args, "OUOIOOi", &events, &settings, &command, &latency, &output,
			      &sudo, &broker_fd))
		return NULL;
	live = live_new(module, m);
	a.owners = live ? PyList_New(0) : NULL;
	if (a.owners && live_take_events(&a, events) == 0 &&
	    live_take_command(live, command) == 0) {
		const struct sonde_record_options record = {
			.size = sizeof(record),
			.events = a.events,
			.nr_events = a.nr_events,
			.settings = live_text(&a, settings),
			.command = (const char *const *)live->command,
		};
		const struct sonde_live_options opts = {
			.size = sizeof(opts),
			.latency_ms = latency,
			.record = &record,
			.output = live_text(&a, output),
			.sudo = live_text(&a, sudo),
			.broker_fd = broker_fd,
		};

		if (!PyErr_Occurred()) {
			Py_BEGIN_ALLOW_THREADS
			r = sonde_live_open(&live->l, &opts);
			Py_END_ALLOW_THREADS
			if (r < 0)
				module_error(m, r);
		}
	}
	free(a.events);
	Py_XDECREF(a.owners);
	if (r < 0 && live)
		Py_CLEAR(live);
	return (PyObject *)live;
}

PyObject *live_record_line(PyObject *module, PyObject *args)
{
	struct module_state *m = PyModule_GetState(module);
	PyObject *events, *settings, *command, *output, *ret = NULL;
	struct live_args a = { 0 };
	struct py_live *live;

	if (!PyArg_ParseTuple(args, "OUOO", &events, &settings, &command, &output))
		return NULL;
	live = live_new(module, m);
	a.owners = live ? PyList_New(0) : NULL;
	if (a.owners && live_take_events(&a, events) == 0 &&
	    live_take_command(live, command) == 0) {
		const struct sonde_record_options record = {
			.size = sizeof(record),
			.events = a.events,
			.nr_events = a.nr_events,
			.settings = live_text(&a, settings),
			.command = (const char *const *)live->command,
		};
		const char *name = live_text(&a, output);
		char *line = PyErr_Occurred() ? NULL : prelude_record_line(&record, name);

		if (line)
			ret = text_object(line, strlen(line));
		else if (!PyErr_Occurred())
			PyErr_NoMemory();
		free(line);
	}
	free(a.events);
	Py_XDECREF(a.owners);
	Py_XDECREF((PyObject *)live);
	return ret;
}

/* ---- the type -------------------------------------------------------------------------------- */

void live_end(struct py_live *live)
{
	struct sonde_live *l = live->l;

	live->l = NULL;
	Py_BEGIN_ALLOW_THREADS
	sonde_live_close(l);
	Py_END_ALLOW_THREADS
}

static void live_dealloc(struct py_live *live)
{
	PyTypeObject *type = Py_TYPE((PyObject *)live);

	live_end(live);
	for (size_t i = 0; live->command && live->command[i]; i++)
		free(live->command[i]);
	free(live->command);
	Py_XDECREF(live->module);
	PyObject_Free(live);
	Py_DECREF(type);
}

/* False, with an exception, after close(). */
static bool live_check(const struct py_live *live)
{
	if (!live->l)
		PyErr_SetString(PyExc_ValueError, "the live recording is closed");
	return live->l;
}

static struct module_state *live_state(const struct py_live *live)
{
	return PyModule_GetState(live->module);
}

static PyObject *live_session(struct py_live *live, PyObject *text)
{
	PyObject *bytes, *session;

	if (!live_check(live))
		return NULL;
	bytes = PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape");
	if (!bytes)
		return NULL;
	session = session_new(live->module, live_state(live), PyBytes_AsString(bytes), live);
	Py_DECREF(bytes);
	live->has_session |= session != NULL;
	return session;
}

static PyObject *live_start(struct py_live *live, PyObject *unused)
{
	int r;

	(void)unused;
	if (!live_check(live))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	r = sonde_live_start(live->l);
	Py_END_ALLOW_THREADS
	if (r < 0)
		return module_error(live_state(live), r);
	Py_RETURN_NONE;
}

/* Also called by signal handlers, and by other threads. */
static PyObject *live_stop(struct py_live *live, PyObject *unused)
{
	(void)unused;
	if (live->l)
		sonde_live_stop(live->l);
	Py_RETURN_NONE;
}

static PyObject *live_lines(struct py_live *live, PyObject *unused)
{
	PyObject *list = PyList_New(0);
	const char *text;
	int level;

	(void)unused;
	while (list && live->l && (text = sonde_live_line(live->l, &level))) {
		PyObject *line = Py_BuildValue("(iN)", level, text_object(text, strlen(text)));

		if (!line || PyList_Append(list, line) < 0)
			Py_CLEAR(list);
		Py_XDECREF(line);
	}
	return list;
}

static PyObject *live_result(struct py_live *live, PyObject *unused)
{
	struct sonde_record_result result = { .size = sizeof(result) };
	int r;

	(void)unused;
	if (!live_check(live))
		return NULL;
	Py_BEGIN_ALLOW_THREADS
	r = sonde_live_result(live->l, &result);
	Py_END_ALLOW_THREADS
	if (r < 0)
		return module_error(live_state(live), r);
	return Py_BuildValue("(iKK)", (int)result.exit_status, (unsigned long long)result.samples,
			     (unsigned long long)result.lost);
}

/* Once there is a session, closing that one ends both. */
static PyObject *live_close(struct py_live *live, PyObject *unused)
{
	(void)unused;
	if (live->has_session)
		live_stop(live, NULL);
	else
		live_end(live);
	Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
	{ "session", (PyCFunction)live_session, METH_O,
	  "session(text) -> Session: of the events, once." },
	{ "start", (PyCFunction)live_start, METH_NOARGS, "start(): begins to record." },
	{ "stop", (PyCFunction)live_stop, METH_NOARGS,
	  "stop(): ends the recording; the session delivers what was recorded." },
	{ "lines", (PyCFunction)live_lines, METH_NOARGS,
	  "lines() -> list of (level, text): new lines for the user. Level 0 is a warning." },
	{ "result", (PyCFunction)live_result, METH_NOARGS,
	  "result() -> (status of the command, samples, lost): waits for the end." },
	{ "close", (PyCFunction)live_close, METH_NOARGS, "close(): ends everything." },
	{ NULL }
};

PyTypeObject *live_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc, "A recorder in this process. Made by _live()." },
		{ Py_tp_dealloc, live_dealloc },
		{ Py_tp_methods, methods },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde._Live", sizeof(struct py_live), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
