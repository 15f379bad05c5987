/* SPDX-License-Identifier: MIT */
/* Session: an open recording, iterated event by event. */
#include "session.h"

#include <stddef.h>
#include <string.h>

int session_check(struct py_session *s)
{
	if (s->s && !s->busy)
		return 0;
	PyErr_SetString(PyExc_ValueError, s->s ? "the session is being read by another thread"
					       : "the session is closed");
	return -1;
}

PyObject *session_new(PyObject *module, struct module_state *m, const char *text)
{
	struct py_session *s = PyObject_New(struct py_session, m->session);
	int r;

	if (!s)
		return NULL;
	memset((char *)s + sizeof(PyObject), 0, sizeof(*s) - sizeof(PyObject));
	Py_INCREF(module);
	s->module = module;
	s->m = m;
	Py_BEGIN_ALLOW_THREADS
	r = sonde_session_open(&s->s, text, NULL);
	Py_END_ALLOW_THREADS
	if (r < 0) {
		s->s = NULL;
		module_error(m, r);
		Py_DECREF((PyObject *)s);
		return NULL;
	}
	s->v = values_new(s->s);
	if (!s->v) {
		Py_DECREF((PyObject *)s);
		return NULL;
	}
	return (PyObject *)s;
}

/*
 * The bytes of an Event are borrowed from the library until the session advances. If the Event
 * still exists then (a loop variable, a list or a Frame holds it), it gets its own copy. Later
 * queries are answered for the Event's time.
 */
int session_keep_lent(struct py_session *s)
{
	struct py_event *e = s->borrowed;

	if (!e)
		return 0;
	e->own = sonde_event_dup(e->ev);
	if (!e->own) {
		PyErr_NoMemory();
		return -1;
	}
	e->ev = e->own;
	s->borrowed = NULL;
	return 0;
}

static void session_info_free(struct schema_info *info)
{
	if (!info)
		return;
	Py_XDECREF(info->name);
	Py_XDECREF(info->keys);
	free(info->convs);
	free(info);
}

static void session_dealloc(struct py_session *s)
{
	PyTypeObject *type = Py_TYPE((PyObject *)s);

	for (size_t i = 0; i < s->nr_schemas; i++)
		session_info_free(s->schemas[i]);
	free(s->schemas);
	values_free(s->v);
	sonde_session_close(s->s);
	Py_XDECREF(s->module);
	PyObject_Free(s);
	Py_DECREF(type);
}

static struct schema_info *session_info_new(const struct sonde_schema *sc,
					    const struct sonde_rules *rules)
{
	struct schema_info *info = calloc(1, sizeof(*info));
	const struct sonde_field *fields;

	if (!info)
		return (struct schema_info *)PyErr_NoMemory();
	fields = sonde_schema_fields(sc, &info->nr_fields);
	info->sc = sc;
	info->convs = calloc(info->nr_fields + 1, sizeof(*info->convs));
	info->keys = PyTuple_New((Py_ssize_t)info->nr_fields);
	info->name = name_object(sonde_schema_name(sc));
	if (!info->convs || !info->keys || !info->name)
		goto fail;
	for (size_t i = 0; i < info->nr_fields; i++) {
		PyObject *key = name_object(fields[i].name);

		conv_init(&info->convs[i], &fields[i], rules);
		if (!key || PyTuple_SetItem(info->keys, (Py_ssize_t)i, key) < 0)
			goto fail;
	}
	return info;
fail:
	if (!PyErr_Occurred())
		PyErr_NoMemory();
	session_info_free(info);
	return NULL;
}

struct schema_info *session_schema(struct py_session *s, uint32_t id)
{
	const struct sonde_schema *sc;

	if (id < s->nr_schemas && s->schemas[id])
		return s->schemas[id];
	sc = sonde_session_schema(s->s, id);
	if (!sc) {
		PyErr_Format(PyExc_IndexError, "no schema %u yet", (unsigned int)id);
		return NULL;
	}
	if (id >= s->nr_schemas) {
		size_t nr = sonde_session_schemas(s->s);
		struct schema_info **bigger = realloc(s->schemas, nr * sizeof(*bigger));

		if (!bigger)
			return (struct schema_info *)PyErr_NoMemory();
		memset(bigger + s->nr_schemas, 0, (nr - s->nr_schemas) * sizeof(*bigger));
		s->schemas = bigger;
		s->nr_schemas = nr;
	}
	s->schemas[id] = session_info_new(sc, s->v->rules);
	return s->schemas[id];
}

static PyObject *session_next(struct py_session *s)
{
	const struct sonde_event *ev = NULL;
	struct schema_info *info;
	struct py_event *e;
	int r;

	if (session_check(s) < 0 || session_keep_lent(s) < 0)
		return NULL;
	while (!(r = sonde_session_next_pending(s->s, &ev))) {
		s->busy = true;
		Py_BEGIN_ALLOW_THREADS
		r = sonde_session_fill(s->s);
		Py_END_ALLOW_THREADS
		s->busy = false;
		if (PyErr_CheckSignals() < 0)
			return NULL;
		if (r <= 0) {
			/* The recording ended; one more defect may still be reported. */
			r = r < 0 ? r : sonde_session_next(s->s, &ev);
			break;
		}
	}
	if (r < 0)
		return module_error(s->m, r);
	if (!r)
		return NULL;
	info = session_schema(s, ev->schema);
	if (!info)
		return NULL;
	e = PyObject_New(struct py_event, s->m->event);
	if (!e)
		return NULL;
	Py_INCREF((PyObject *)s);
	e->session = s;
	e->info = info;
	e->ev = ev;
	e->own = NULL;
	s->borrowed = e;
	return (PyObject *)e;
}

static PyObject *session_iter(PyObject *self)
{
	Py_INCREF(self);
	return self;
}

static PyObject *session_close(struct py_session *s, PyObject *unused)
{
	(void)unused;
	if (!s->s)
		Py_RETURN_NONE;
	if (session_check(s) < 0 || session_keep_lent(s) < 0)
		return NULL;
	sonde_session_close(s->s);
	s->s = NULL;
	Py_RETURN_NONE;
}

static PyObject *session_enter(PyObject *self, PyObject *unused)
{
	(void)unused;
	Py_INCREF(self);
	return self;
}

static PyObject *session_exit(struct py_session *s, PyObject *args)
{
	(void)args;
	return session_close(s, NULL);
}

/* Also called by signal handlers, and by other threads while one waits in next(). */
static PyObject *session_stop(struct py_session *s, PyObject *unused)
{
	(void)unused;
	if (s->s)
		sonde_session_stop(s->s);
	Py_RETURN_NONE;
}

static PyObject *session_info(struct py_session *s, PyObject *arg)
{
	PyObject *utf8 = PyUnicode_AsUTF8String(arg);
	const char *value;

	if (!utf8)
		return NULL;
	if (session_check(s) < 0) {
		Py_DECREF(utf8);
		return NULL;
	}
	value = sonde_session_info(s->s, PyBytes_AsString(utf8));
	Py_DECREF(utf8);
	if (!value)
		Py_RETURN_NONE;
	return text_object(value, strlen(value));
}

static PyObject *session_schemas(struct py_session *s, void *unused)
{
	PyObject *list;
	size_t nr;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	nr = sonde_session_schemas(s->s);
	list = PyList_New((Py_ssize_t)nr);
	for (size_t i = 0; list && i < nr; i++) {
		struct schema_info *info = session_schema(s, (uint32_t)i);
		struct py_schema *o = info ? PyObject_New(struct py_schema, s->m->schema) : NULL;

		if (!o) {
			Py_CLEAR(list);
			break;
		}
		Py_INCREF((PyObject *)s);
		o->session = s;
		o->info = info;
		PyList_SetItem(list, (Py_ssize_t)i, (PyObject *)o);
	}
	return list;
}

static PyObject *session_defects(struct py_session *s, void *unused)
{
	static const char *const severities[] = { "info", "data_loss", "error" };
	const struct sonde_defect *d;
	PyObject *list;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	list = PyList_New(0);
	for (size_t i = 0; list && (d = sonde_session_defect(s->s, i)); i++) {
		PyObject *first = text_object(d->first, strlen(d->first)), *item = NULL;

		if (first)
			item = Py_BuildValue(
				"{s:s,s:s,s:K,s:s,s:N}", "name", d->name, "severity",
				severities[d->severity <= SONDE_ERROR ? d->severity : SONDE_ERROR],
				"count", (unsigned long long)d->count, "advice", d->advice, "first",
				first);

		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

static PyObject *session_defects_line(struct py_session *s, void *unused)
{
	const char *line;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	line = sonde_session_defects_line(s->s);
	return text_object(line, strlen(line));
}

static PyObject *session_filters_line(struct py_session *s, void *unused)
{
	const char *line;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	line = sonde_session_filters_line(s->s);
	return text_object(line, strlen(line));
}

static PyObject *session_text(struct py_session *s, void *unused)
{
	const char *text;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	text = sonde_session_print(s->s);
	return text ? text_object(text, strlen(text)) : PyErr_NoMemory();
}

static PyMethodDef methods[] = {
	{ "close", (PyCFunction)session_close, METH_NOARGS,
	  "close()\n\nEnds reading and releases the recording. Events already delivered stay "
	  "valid." },
	{ "stop", (PyCFunction)session_stop, METH_NOARGS,
	  "stop()\n\nIteration ends at the next event. May be called from another thread." },
	{ "info", (PyCFunction)session_info, METH_O,
	  "info(key) -> str or None\n\nA fact from the recording's header: hostname, osrelease, "
	  "version, arch, cmdline,\n"
	  "cpudesc, nrcpus-online, nrcpus-available, cpu-sockets (of each cpu), "
	  "branch-stacks (1: the header says so),\n"
	  "byte-order (little, big), long-bytes, form (file, pipe)." },
	{ "__enter__", session_enter, METH_NOARGS, NULL },
	{ "__exit__", (PyCFunction)session_exit, METH_VARARGS, NULL },
	{ NULL }
};

static PyGetSetDef getset[] = {
	{ "schemas", (getter)session_schemas, NULL,
	  "list of Schema: the event types seen so far, by id. A pipe may add some while it is "
	  "read.",
	  NULL },
	{ "defects", (getter)session_defects, NULL,
	  "list of dict(name, severity, count, advice, first): defects of the input, as far as it "
	  "was read.",
	  NULL },
	{ "defects_line", (getter)session_defects_line, NULL,
	  "str: the defects in one line, '' when there are none.", NULL },
	{ "filters_line", (getter)session_filters_line, NULL,
	  "str: what the recording contains if the filters let no event through; otherwise ''.",
	  NULL },
	{ "text", (getter)session_text, NULL,
	  "str: the session as key=value lines, complete; sonde.session() takes it.", NULL },
	{ NULL }
};

PyTypeObject *session_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_doc,
		  "An open recording. Iterating gives its events in time order, once.\n\n"
		  "Made by sonde.open() or sonde.session(). A context manager: leaving it closes "
		  "the session.\n"
		  "Iterating raises sonde.Error if the recording cannot be read further." },
		{ Py_tp_dealloc, session_dealloc },
		{ Py_tp_iter, session_iter },
		{ Py_tp_iternext, session_next },
		{ Py_tp_methods, methods },
		{ Py_tp_getset, getset },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Session", sizeof(struct py_session), 0,
				    Py_TPFLAGS_DEFAULT, slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
