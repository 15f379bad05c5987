/* SPDX-License-Identifier: MIT */
/* Event, Schema, Frame: views of memory borrowed from the library; each holds its owner. */
#include "event.h"

#include <string.h>

#include "session.h"

struct py_frame {
	PyObject_HEAD
	struct py_event *event; /* owned; the location of an address depends on the event's time */
	uint64_t ip;
	uint32_t cpumode;
};

/* ---- Event ----------------------------------------------------------------------------------- */

static void event_dealloc(struct py_event *e)
{
	PyTypeObject *type = Py_TYPE((PyObject *)e);

	if (e->session && e->session->borrowed == e)
		e->session->borrowed = NULL;
	sonde_event_free(e->own);
	Py_XDECREF((PyObject *)e->session);
	PyObject_Free(e);
	Py_DECREF(type);
}

static PyObject *event_field_value(struct py_event *e, size_t i)
{
	return values_field(e->session->v, &e->info->convs[i], e->ev);
}

/* The index of a field by its name; -1 if there is none. */
static Py_ssize_t event_field_find(struct py_event *e, PyObject *name)
{
	for (size_t i = 0; i < e->info->nr_fields; i++) {
		PyObject *key = PyTuple_GetItem(e->info->keys, (Py_ssize_t)i);

		if (key == name || !PyUnicode_Compare(key, name))
			return (Py_ssize_t)i;
	}
	return -1;
}

static PyObject *event_getattro(PyObject *self, PyObject *name)
{
	PyObject *value = PyObject_GenericGetAttr(self, name);
	Py_ssize_t i;

	if (value || !PyErr_ExceptionMatches(PyExc_AttributeError) || !PyUnicode_Check(name))
		return value;
	i = event_field_find((struct py_event *)self, name);
	if (i < 0)
		return NULL;
	PyErr_Clear();
	return event_field_value((struct py_event *)self, (size_t)i);
}

static PyObject *event_getitem(struct py_event *e, PyObject *key)
{
	Py_ssize_t i;

	if (PyUnicode_Check(key)) {
		i = event_field_find(e, key);
		if (i >= 0)
			return event_field_value(e, (size_t)i);
		PyErr_SetObject(PyExc_KeyError, key);
		return NULL;
	}
	i = PyNumber_AsSsize_t(key, PyExc_IndexError);
	if (i == -1 && PyErr_Occurred())
		return NULL;
	if (i < 0)
		i += (Py_ssize_t)e->info->nr_fields;
	if (i < 0 || (size_t)i >= e->info->nr_fields) {
		PyErr_Format(PyExc_IndexError, "the event has %zu fields", e->info->nr_fields);
		return NULL;
	}
	return event_field_value(e, (size_t)i);
}

static int event_contains(struct py_event *e, PyObject *key)
{
	return PyUnicode_Check(key) && event_field_find(e, key) >= 0;
}

static PyObject *event_keys(struct py_event *e, PyObject *unused)
{
	(void)unused;
	return PySequence_List(e->info->keys);
}

static PyObject *event_fields(struct py_event *e, void *unused)
{
	PyObject *d = PyDict_New();

	(void)unused;
	for (size_t i = 0; d && i < e->info->nr_fields; i++)
		if (dict_take(d, PyTuple_GetItem(e->info->keys, (Py_ssize_t)i),
			      event_field_value(e, i)) < 0)
			Py_CLEAR(d);
	return d;
}

static PyObject *event_name(struct py_event *e, void *unused)
{
	(void)unused;
	Py_INCREF(e->info->name);
	return e->info->name;
}

static PyObject *event_time(struct py_event *e, void *unused)
{
	(void)unused;
	if (e->ev->time_ns == SONDE_NO_TIME)
		Py_RETURN_NONE;
	return u64_object(e->ev->time_ns);
}

static PyObject *event_cpu(struct py_event *e, void *unused)
{
	(void)unused;
	return PyLong_FromLong(e->ev->cpu);
}

static PyObject *event_pid(struct py_event *e, void *unused)
{
	(void)unused;
	return PyLong_FromLong(e->ev->pid);
}

static PyObject *event_tid(struct py_event *e, void *unused)
{
	(void)unused;
	return PyLong_FromLong(e->ev->tid);
}

static PyObject *event_comm(struct py_event *e, void *unused)
{
	(void)unused;
	return values_comm(e->session->v, e->ev->comm);
}

static PyObject *event_text(struct py_event *e, void *unused)
{
	size_t len;
	const char *text = sonde_event_text(e->ev, &len);

	(void)unused;
	return text ? text_object(text, len) : PyErr_NoMemory();
}

static PyObject *event_raw(struct py_event *e, void *unused)
{
	(void)unused;
	return PyBytes_FromStringAndSize((const char *)e->ev->bytes,
					 e->ev->bytes ? (Py_ssize_t)e->ev->bytes_len : 0);
}

static PyObject *event_late(struct py_event *e, void *unused)
{
	(void)unused;
	return PyBool_FromLong(e->ev->flags & SONDE_EVENT_LATE);
}

static PyObject *event_schema(struct py_event *e, void *unused)
{
	struct py_schema *o = PyObject_New(struct py_schema, e->session->m->schema);

	(void)unused;
	if (!o)
		return NULL;
	Py_INCREF((PyObject *)e->session);
	o->session = e->session;
	o->info = e->info;
	return (PyObject *)o;
}

static PyObject *event_callchain(struct py_event *e, void *unused)
{
	const struct sonde_frame *frames;
	int nr = sonde_event_callchain(e->ev, &frames);
	PyObject *list;

	(void)unused;
	if (nr < 0)
		return module_error(e->session->m, nr);
	list = PyList_New(nr);
	for (int i = 0; list && i < nr; i++) {
		struct py_frame *f = PyObject_New(struct py_frame, e->session->m->frame);

		if (!f) {
			Py_CLEAR(list);
			break;
		}
		Py_INCREF((PyObject *)e);
		f->event = e;
		f->ip = frames[i].ip;
		f->cpumode = frames[i].cpumode;
		PyList_SetItem(list, i, (PyObject *)f);
	}
	return list;
}

static PyObject *event_repr(struct py_event *e)
{
	if (e->ev->time_ns == SONDE_NO_TIME)
		return PyUnicode_FromFormat("<sonde.Event %U>", e->info->name);
	return PyUnicode_FromFormat("<sonde.Event %U time_ns=%llu cpu=%d tid=%d>", e->info->name,
				    (unsigned long long)e->ev->time_ns, (int)e->ev->cpu,
				    (int)e->ev->tid);
}

static PyMethodDef event_methods[] = {
	{ "keys", (PyCFunction)event_keys, METH_NOARGS,
	  "keys() -> list of str\n\nThe fields' names, in the order of the format." },
	{ NULL }
};

static PyGetSetDef event_getset[] = {
	{ "name", (getter)event_name, NULL, "str: 'sched:sched_switch', 'cpu-clock'", NULL },
	{ "time_ns", (getter)event_time, NULL, "int or None: nanoseconds of the recording's clock",
	  NULL },
	{ "cpu", (getter)event_cpu, NULL, "int: -1 when not recorded", NULL },
	{ "pid", (getter)event_pid, NULL, "int: process, -1 when not recorded", NULL },
	{ "tid", (getter)event_tid, NULL, "int: thread, -1 when not recorded", NULL },
	{ "comm", (getter)event_comm, NULL, "str: the thread's name at the event's time", NULL },
	{ "fields", (getter)event_fields, NULL,
	  "dict of str to int, str or bytearray: all fields, common_* too", NULL },
	{ "text", (getter)event_text, NULL, "str: the event by its print format", NULL },
	{ "raw", (getter)event_raw, NULL, "bytes: the payload that the fields describe", NULL },
	{ "late", (getter)event_late, NULL, "bool: older than an event delivered before it", NULL },
	{ "schema", (getter)event_schema, NULL, "Schema: its type", NULL },
	{ "callchain", (getter)event_callchain, NULL, "list of Frame, innermost first", NULL },
	{ NULL }
};

PyTypeObject *event_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_doc,
		  "One event. Fields are read as event.next_pid, event['next_pid'] or "
		  "event[8]; where a field has the\n"
		  "name of an attribute below, use the index. Numbers keep their sign, "
		  "text is str, other arrays\n"
		  "are bytearray. An event may be kept: its values stay those of its time." },
		{ Py_tp_dealloc, event_dealloc },
		{ Py_tp_repr, event_repr },
		{ Py_tp_getattro, event_getattro },
		{ Py_mp_subscript, event_getitem },
		{ Py_sq_contains, event_contains },
		{ Py_tp_methods, event_methods },
		{ Py_tp_getset, event_getset },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Event", sizeof(struct py_event), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}

/* ---- Schema ---------------------------------------------------------------------------------- */

static void event_schema_dealloc(struct py_schema *o)
{
	PyTypeObject *type = Py_TYPE((PyObject *)o);

	Py_XDECREF((PyObject *)o->session);
	PyObject_Free(o);
	Py_DECREF(type);
}

static PyObject *event_schema_name(struct py_schema *o, void *unused)
{
	(void)unused;
	Py_INCREF(o->info->name);
	return o->info->name;
}

static PyObject *event_schema_fields(struct py_schema *o, void *unused)
{
	(void)unused;
	Py_INCREF(o->info->keys);
	return o->info->keys;
}

/* Returns the library's schema; the session must still be open. */
static const struct sonde_schema *event_schema_of(struct py_schema *o)
{
	return session_check(o->session) < 0 ? NULL : o->info->sc;
}

static PyObject *event_schema_id(struct py_schema *o, void *unused)
{
	const struct sonde_schema *sc = event_schema_of(o);

	(void)unused;
	return sc ? PyLong_FromUnsignedLong(sonde_schema_id(sc)) : NULL;
}

static PyObject *event_schema_family(struct py_schema *o, void *unused)
{
	const struct sonde_schema *sc = event_schema_of(o);

	(void)unused;
	return sc ? PyLong_FromUnsignedLong(sonde_schema_family(sc)) : NULL;
}

static PyObject *event_schema_kind(struct py_schema *o, void *unused)
{
	static const char *const kinds[] = { "tracepoint", "sample", "record", "defect" };
	const struct sonde_schema *sc = event_schema_of(o);

	(void)unused;
	return sc ? PyUnicode_FromString(kinds[sonde_schema_kind(sc)]) : NULL;
}

static PyObject *event_schema_types(struct py_schema *o, void *unused)
{
	const struct sonde_schema *sc = event_schema_of(o);
	PyObject *d = sc ? PyDict_New() : NULL;

	(void)unused;
	for (size_t i = 0; d && i < o->info->nr_fields; i++)
		if (dict_take(d, PyTuple_GetItem(o->info->keys, (Py_ssize_t)i),
			      name_object(o->info->convs[i].field->type)) < 0)
			Py_CLEAR(d);
	return d;
}

static PyObject *event_schema_repr(struct py_schema *o)
{
	return PyUnicode_FromFormat("<sonde.Schema %U>", o->info->name);
}

static PyGetSetDef schema_getset[] = {
	{ "name", (getter)event_schema_name, NULL, "str: 'sched:sched_switch', 'cpu-clock'", NULL },
	{ "id", (getter)event_schema_id, NULL, "int: dense per session, never reused", NULL },
	{ "family", (getter)event_schema_family, NULL, "int: id of the first schema of this name",
	  NULL },
	{ "kind", (getter)event_schema_kind, NULL, "str: tracepoint, sample, record or defect",
	  NULL },
	{ "fields", (getter)event_schema_fields, NULL,
	  "tuple of str: the fields' names, in the order of the format", NULL },
	{ "types", (getter)event_schema_types, NULL, "dict of str to str: field to its declaration",
	  NULL },
	{ NULL }
};

PyTypeObject *schema_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_doc, "An event type: its names and its fields." },
		{ Py_tp_dealloc, event_schema_dealloc },
		{ Py_tp_repr, event_schema_repr },
		{ Py_tp_getset, schema_getset },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Schema", sizeof(struct py_schema), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}

/* ---- Frame ----------------------------------------------------------------------------------- */

static void event_frame_dealloc(struct py_frame *f)
{
	PyTypeObject *type = Py_TYPE((PyObject *)f);

	Py_XDECREF((PyObject *)f->event);
	PyObject_Free(f);
	Py_DECREF(type);
}

static struct sonde_location event_frame_locate(struct py_frame *f)
{
	struct sonde_location loc = { .size = sizeof(loc) };

	if (sonde_event_locate(f->event->ev, f->ip, f->cpumode, &loc) < 0)
		loc = (struct sonde_location){ .size = sizeof(loc) };
	return loc;
}

static PyObject *event_frame_ip(struct py_frame *f, void *unused)
{
	(void)unused;
	return u64_object(f->ip);
}

static PyObject *event_frame_cpumode(struct py_frame *f, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(f->cpumode);
}

static PyObject *event_frame_sym(struct py_frame *f, void *unused)
{
	struct sonde_location loc = event_frame_locate(f);

	(void)unused;
	if (!loc.sym)
		Py_RETURN_NONE;
	return text_object(loc.sym, strlen(loc.sym));
}

static PyObject *event_frame_sym_off(struct py_frame *f, void *unused)
{
	struct sonde_location loc = event_frame_locate(f);

	(void)unused;
	if (!loc.sym)
		Py_RETURN_NONE;
	return u64_object(loc.sym_off);
}

static PyObject *event_frame_dso(struct py_frame *f, void *unused)
{
	struct sonde_location loc = event_frame_locate(f);

	(void)unused;
	if (!loc.dso)
		Py_RETURN_NONE;
	return text_object(loc.dso, strlen(loc.dso));
}

static PyObject *event_frame_repr(struct py_frame *f)
{
	struct sonde_location loc = event_frame_locate(f);
	char ip[24];

	PyOS_snprintf(ip, sizeof(ip), "0x%llx", (unsigned long long)f->ip);
	return PyUnicode_FromFormat("<sonde.Frame %s %s (%s)>", ip, loc.sym ? loc.sym : "[unknown]",
				    loc.dso ? loc.dso : "[unknown]");
}

static PyGetSetDef frame_getset[] = {
	{ "ip", (getter)event_frame_ip, NULL,
	  "int: the address; of callers, where the call returns to", NULL },
	{ "cpumode", (getter)event_frame_cpumode, NULL,
	  "int: 0 unknown 1 kernel 2 user 3 hypervisor 4 guest kernel 5 guest user", NULL },
	{ "sym", (getter)event_frame_sym, NULL, "str or None: the function's name", NULL },
	{ "sym_off", (getter)event_frame_sym_off, NULL, "int or None: bytes from its start", NULL },
	{ "dso", (getter)event_frame_dso, NULL, "str or None: the file mapped there", NULL },
	{ NULL }
};

PyTypeObject *frame_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_doc, "One step of a call chain, as of its event's time." },
		{ Py_tp_dealloc, event_frame_dealloc },
		{ Py_tp_repr, event_frame_repr },
		{ Py_tp_getset, frame_getset },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Frame", sizeof(struct py_frame), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
