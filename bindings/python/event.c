/* SPDX-License-Identifier: MIT */
/*
 * Event and its fields (Event.f): views of memory borrowed from the library. Each holds its owner.
 *
 * An attribute is one of Event's own or a field's; own ones win. Which one a name is, is looked up
 * once per event type and name, in schema_info.attrs.
 */
#include "event.h"

#include <string.h>

#include "event_sample.h"
#include "schema.h"
#include "stack.h"

struct py_fields {
	PyObject_HEAD
	struct py_event *event; /* owned */
};

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t event_element(const uint8_t *p, uint32_t width, bool is_swapped)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < width; i++)
		v |= (uint64_t)p[i] << 8 * (is_swapped ? width - 1 - i : i);
	return v;
}

/* Elements of an array as int. */
static PyObject *event_array(struct py_event *e, const struct sonde_field *f, const uint8_t *bytes,
			     size_t len)
{
	uint32_t width = f->elem_width;
	/* Big-endian if the recording is, or if the field says so. */
	const bool host_is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	bool is_big = f->byte_order == SONDE_ORDER_RECORDING
			      ? !(e->ev->flags & SONDE_EVENT_SWAPPED) == host_is_big
			      : f->byte_order == SONDE_ORDER_BIG;
	PyObject *list = PyList_New((Py_ssize_t)(len / width));

	for (size_t i = 0; list && i < len / width; i++) {
		uint64_t v = event_element(bytes + i * width, width, is_big);
		PyObject *item;

		if (f->is_signed && width < 8 && v >> (width * 8 - 1))
			v |= ~0ull << width * 8;
		item = f->is_signed ? PyLong_FromLongLong((int64_t)v) : u64_object(v);
		if (!item)
			Py_CLEAR(list);
		else
			PyList_SetItem(list, (Py_ssize_t)i, item);
	}
	return list;
}

static PyObject *event_text_value(struct py_event *e, const struct sonde_field *f)
{
	size_t len;
	const char *text = (const char *)sonde_event_bytes(e->ev, f, &len);

	return text_object(text ? text : "", text ? strnlen(text, len) : 0);
}

PyObject *event_value(struct py_event *e, size_t i)
{
	struct conv *c = &e->info->convs[i];
	const struct sonde_field *f = c->field;
	const uint8_t *bytes;
	size_t len;
	PyObject *value;

	if (f->kind == SONDE_FIELD_ARRAY && f->elem_width >= 1 && f->elem_width <= 8) {
		bytes = sonde_event_bytes(e->ev, f, &len);
		return event_array(e, f, bytes, bytes ? len : 0);
	}
	switch (c->kind) {
	case CONV_TEXT:
	case CONV_DYNAMIC_TEXT:
		return event_text_value(e, f);
	case CONV_ZERO: /* a struct: a script of perf gets 0 */
	case CONV_BYTES:
	case CONV_DYNAMIC_BYTES:
		if (f->is_text)
			return event_text_value(e, f);
		bytes = sonde_event_bytes(e->ev, f, &len);
		return PyBytes_FromStringAndSize((const char *)bytes, bytes ? (Py_ssize_t)len : 0);
	case CONV_COMM:
		value = field_object(e->session->v, c, e->ev);
		if (value && !PyUnicode_Check(value)) { /* unprintable */
			Py_DECREF(value);
			return event_text_value(e, f);
		}
		return value;
	default:
		return field_object(e->session->v, c, e->ev);
	}
}

/* The index of a field by its name; -1 if there is none. */
static Py_ssize_t event_find(struct py_event *e, PyObject *name)
{
	for (size_t i = 0; i < e->info->nr_fields; i++) {
		PyObject *key = PyTuple_GetItem(e->info->keys, (Py_ssize_t)i);

		if (key == name || !PyUnicode_Compare(key, name))
			return (Py_ssize_t)i;
	}
	return -1;
}

/* event_find() that raises: -1 with an exception. */
static Py_ssize_t event_need(struct py_event *e, PyObject *name)
{
	Py_ssize_t i;

	if (!PyUnicode_Check(name)) {
		PyErr_SetString(PyExc_TypeError, "a field's name is a str");
		return -1;
	}
	i = event_find(e, name);
	if (i < 0)
		module_unknown(e->session->m, name, e->info->name, e->info->keys);
	return i;
}

/* ---- attributes ------------------------------------------------------------------------------ */

/* "__class__". "__probe_ip" and "__syscall_nr" are names of fields. */
static bool event_is_dunder(PyObject *name)
{
	const Py_ssize_t len = PyUnicode_GetLength(name);

	return len > 4 && PyUnicode_ReadChar(name, 0) == '_' &&
	       PyUnicode_ReadChar(name, 1) == '_' && PyUnicode_ReadChar(name, len - 1) == '_' &&
	       PyUnicode_ReadChar(name, len - 2) == '_';
}

/* 1 if a name is an attribute of Event itself, 0 if not, -1 with an exception. */
static int event_is_own(struct py_event *e, PyObject *name)
{
	PyObject *dict;
	int r;

	if (event_is_dunder(name))
		return 1;
	dict = PyObject_GetAttrString((PyObject *)e->session->m->event, "__dict__");
	r = dict ? PySequence_Contains(dict, name) : -1;
	Py_XDECREF(dict);
	return r;
}

static PyObject *event_new_attr(struct py_event *e, PyObject *name, size_t place)
{
	int is_own = event_is_own(e, name);
	Py_ssize_t field = -1;

	if (is_own < 0)
		return NULL;
	if (!is_own && (field = event_need(e, name)) < 0)
		return NULL;
	Py_INCREF(name);
	Py_XDECREF(e->info->attrs[place].name);
	e->info->attrs[place].name = name;
	e->info->attrs[place].field = field;
	return field < 0 ? PyObject_GenericGetAttr((PyObject *)e, name)
			 : event_value(e, (size_t)field);
}

static PyObject *event_getattro(PyObject *self, PyObject *name)
{
	struct py_event *e = (struct py_event *)self;
	size_t place =
		((uintptr_t)name >> 4) % (sizeof(e->info->attrs) / sizeof(e->info->attrs[0]));
	Py_ssize_t i = e->info->attrs[place].field;

	if (e->info->attrs[place].name != name)
		return event_new_attr(e, name, place);
	return i < 0 ? PyObject_GenericGetAttr(self, name) : event_value(e, (size_t)i);
}

/* ---- fields ---------------------------------------------------------------------------------- */

static PyObject *event_getitem(struct py_event *e, PyObject *key)
{
	Py_ssize_t i = event_need(e, key);

	return i < 0 ? NULL : event_value(e, (size_t)i);
}

static int event_contains(struct py_event *e, PyObject *key)
{
	return PyUnicode_Check(key) && event_find(e, key) >= 0;
}

static PyObject *event_keys(struct py_event *e, PyObject *unused)
{
	(void)unused;
	Py_INCREF(e->info->keys);
	return e->info->keys;
}

static PyObject *event_get(struct py_event *e, PyObject *args, PyObject *kw)
{
	static char *keywords[] = { "field", "default", NULL };
	PyObject *name, *other = Py_None;
	Py_ssize_t i;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "U|O", keywords, &name, &other))
		return NULL;
	i = event_find(e, name);
	if (i >= 0)
		return event_value(e, (size_t)i);
	Py_INCREF(other);
	return other;
}

static PyObject *event_fields(struct py_event *e, void *unused)
{
	PyObject *d = PyDict_New();

	(void)unused;
	for (size_t i = 0; d && i < e->info->nr_fields; i++)
		if (dict_take(d, PyTuple_GetItem(e->info->keys, (Py_ssize_t)i), event_value(e, i)) <
		    0)
			Py_CLEAR(d);
	return d;
}

/* names(field) */
static PyObject *event_names(struct py_event *e, PyObject *name)
{
	Py_ssize_t i = event_need(e, name);
	const struct sonde_field *f;

	if (i < 0)
		return NULL;
	f = e->info->convs[i].field;
	if (f->kind != SONDE_FIELD_INT && f->kind != SONDE_FIELD_ENUM &&
	    f->kind != SONDE_FIELD_BITS)
		return PyErr_Format(PyExc_TypeError, "the field %U is no number", name);
	return schema_value_names(e->info, (size_t)i,
				  f->is_signed ? (uint64_t)sonde_event_i64(e->ev, f)
					       : sonde_event_u64(e->ev, f));
}

/* Plain values for json: bytes are hex digits. */
static PyObject *event_plain(PyObject *value)
{
	PyObject *hex;

	if (!value || !PyBytes_Check(value))
		return value;
	hex = PyObject_CallMethod(value, "hex", NULL);
	Py_DECREF(value);
	return hex;
}

static int event_put_own(struct py_event *e, PyObject *dict, const char *name)
{
	return dict_take_str(dict, name, PyObject_GetAttrString((PyObject *)e, name));
}

/* asdict(own=True) */
static PyObject *event_asdict(struct py_event *e, PyObject *args, PyObject *kw)
{
	static char *keywords[] = { "own", NULL };
	static const char *const own[] = { "name", "time", "cpu", "pid", "tid", "comm" };
	int with_own = 1, r = 0;
	PyObject *dict;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "|p", keywords, &with_own))
		return NULL;
	dict = PyDict_New();
	for (size_t i = 0; dict && with_own && i < sizeof(own) / sizeof(own[0]); i++)
		if (event_put_own(e, dict, own[i]) < 0)
			Py_CLEAR(dict);
	for (size_t i = 0; dict && i < e->info->nr_fields; i++) {
		PyObject *key = PyTuple_GetItem(e->info->keys, (Py_ssize_t)i), *other = NULL;

		r = with_own ? PyDict_Contains(dict, key) : 0;
		if (r > 0)
			key = other = PyUnicode_FromFormat("f_%U", key);
		if (r < 0 || !key || dict_take(dict, key, event_plain(event_value(e, i))) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(other);
	}
	return dict;
}

/* ---- Event.f --------------------------------------------------------------------------------- */

static PyObject *event_f(struct py_event *e, void *unused)
{
	struct py_fields *f = PyObject_New(struct py_fields, e->session->m->fields);

	(void)unused;
	if (!f)
		return NULL;
	Py_INCREF((PyObject *)e);
	f->event = e;
	return (PyObject *)f;
}

static void event_fields_dealloc(struct py_fields *f)
{
	PyTypeObject *type = Py_TYPE((PyObject *)f);

	Py_XDECREF((PyObject *)f->event);
	PyObject_Free(f);
	Py_DECREF(type);
}

static PyObject *event_fields_getattro(PyObject *self, PyObject *name)
{
	return event_is_dunder(name) ? PyObject_GenericGetAttr(self, name)
				     : event_getitem(((struct py_fields *)self)->event, name);
}

static PyObject *event_fields_getitem(struct py_fields *f, PyObject *name)
{
	return event_getitem(f->event, name);
}

static PyObject *event_fields_dir(struct py_fields *f, PyObject *unused)
{
	(void)unused;
	return PySequence_List(f->event->info->keys);
}

static PyObject *event_fields_repr(struct py_fields *f)
{
	PyObject *d = event_fields(f->event, NULL), *text;

	text = d ? PyUnicode_FromFormat("<sonde.Fields %R>", d) : NULL;
	Py_XDECREF(d);
	return text;
}

static PyMethodDef event_fields_methods[] = {
	{ "__dir__", (PyCFunction)event_fields_dir, METH_NOARGS, NULL }, { NULL }
};

PyTypeObject *event_fields_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc,
		  "The fields of an event, and nothing else: e.f.pid is the field pid." },
		{ Py_tp_dealloc, event_fields_dealloc },
		{ Py_tp_getattro, event_fields_getattro },
		{ Py_tp_repr, event_fields_repr },
		{ Py_mp_subscript, event_fields_getitem },
		{ Py_tp_methods, event_fields_methods },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Fields", sizeof(struct py_fields), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}

/* ---- Event ----------------------------------------------------------------------------------- */

static void event_dealloc(struct py_event *e)
{
	PyTypeObject *type = Py_TYPE((PyObject *)e);
	struct py_session *s = e->session;

	if (e->own)
		sonde_event_free(e->own);
	else
		session_forget_lent(e);
	if (s->spare)
		PyObject_Free(e);
	else
		s->spare = e;
	Py_DECREF((PyObject *)s);
	Py_DECREF(type);
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
	return session_check_event(e) < 0 ? NULL : comm_object(e->session->v, e->ev->comm);
}

static PyObject *event_text(struct py_event *e, void *unused)
{
	const char *text;
	size_t len;

	(void)unused;
	if (session_check_event(e) < 0)
		return NULL;
	text = sonde_event_text(e->ev, &len);
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

static PyObject *event_index(struct py_event *e, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(sonde_event_input(e->ev));
}

static PyObject *event_schema(struct py_event *e, void *unused)
{
	(void)unused;
	return schema_new(e->session, e->info);
}

static PyObject *event_callchain(struct py_event *e, void *unused)
{
	(void)unused;
	return stack_of_event(e);
}

static PyObject *event_dir(struct py_event *e, PyObject *unused)
{
	PyObject *names = PyObject_Dir((PyObject *)Py_TYPE((PyObject *)e));
	Py_ssize_t end = names ? PyList_Size(names) : 0;

	(void)unused;
	if (names && PyList_SetSlice(names, end, end, e->info->keys) < 0)
		Py_CLEAR(names);
	return names;
}

static PyObject *event_repr(struct py_event *e)
{
	if (e->ev->time_ns == SONDE_NO_TIME)
		return PyUnicode_FromFormat("<sonde.Event %U>", e->info->name);
	return PyUnicode_FromFormat("<sonde.Event %U time=%llu cpu=%d tid=%d>", e->info->name,
				    (unsigned long long)e->ev->time_ns, (int)e->ev->cpu,
				    (int)e->ev->tid);
}

static Py_hash_t event_hash(PyObject *self)
{
	Py_hash_t h = (Py_hash_t)((uintptr_t)self >> 4);

	return h == -1 ? -2 : h;
}

/* By time, input and place; an event without time is before all others. */
static bool event_is_before(const struct sonde_event *a, const struct sonde_event *b)
{
	if (a->time_ns != b->time_ns)
		return a->time_ns + 1 < b->time_ns + 1; /* SONDE_NO_TIME wraps to 0 */
	if (sonde_event_input(a) != sonde_event_input(b))
		return sonde_event_input(a) < sonde_event_input(b);
	return a->file_off < b->file_off;
}

static PyObject *event_compare(PyObject *self, PyObject *other, int op)
{
	const struct sonde_event *a, *b;

	if (op == Py_EQ || op == Py_NE)
		return PyBool_FromLong((self == other) == (op == Py_EQ));
	if (Py_TYPE(self) != Py_TYPE(other))
		Py_RETURN_NOTIMPLEMENTED;
	a = ((struct py_event *)self)->ev;
	b = ((struct py_event *)other)->ev;
	switch (op) {
	case Py_LT:
		return PyBool_FromLong(event_is_before(a, b));
	case Py_GT:
		return PyBool_FromLong(event_is_before(b, a));
	case Py_LE:
		return PyBool_FromLong(!event_is_before(b, a));
	default:
		return PyBool_FromLong(!event_is_before(a, b));
	}
}

static PyMethodDef event_methods[] = {
	{ "keys", (PyCFunction)event_keys, METH_NOARGS,
	  "keys() -> tuple of str\n\nThe fields' names, in the order of the format." },
	{ "get", (PyCFunction)(void (*)(void))event_get, METH_VARARGS | METH_KEYWORDS,
	  "get(field, default=None) -> the value\n\nThe field's value, or default if the event has "
	  "no such "
	  "field." },
	{ "names", (PyCFunction)event_names, METH_O,
	  "names(field) -> str\n\nThe value of a flag or a symbol in words, from the event's print "
	  "format: e.names('prev_state') is\n'S'. '' if the value has no name. Raises TypeError "
	  "for a field that is no number." },
	{ "asdict", (PyCFunction)(void (*)(void))event_asdict, METH_VARARGS | METH_KEYWORDS,
	  "asdict(own=True) -> dict\n\nPlain values, for json: int, float, str, list, dict; raw "
	  "bytes "
	  "as hex digits. own: with name time\ncpu pid tid comm; a field of such a name is then "
	  "'f_pid'." },
	{ "__dir__", (PyCFunction)event_dir, METH_NOARGS, NULL },
	{ NULL }
};

static PyGetSetDef event_getset[] = {
	{ "name", (getter)event_name, NULL, "str: 'sched:sched_switch', 'cpu-clock'", NULL },
	{ "time", (getter)event_time, NULL,
	  "int or None: nanoseconds of the recording's clock, or of clock=; None if not recorded",
	  NULL },
	{ "time_ns", (getter)event_time, NULL, "int or None: the same as time", NULL },
	{ "cpu", (getter)event_cpu, NULL, "int: the cpu that recorded it; -1 if not recorded",
	  NULL },
	{ "pid", (getter)event_pid, NULL,
	  "int: process of the thread that ran; -1 if not recorded. e['pid'] is a field", NULL },
	{ "tid", (getter)event_tid, NULL, "int: thread that ran; -1 if not recorded", NULL },
	{ "comm", (getter)event_comm, NULL,
	  "str: the thread's name at the event's time; ':' and the tid if it is not known", NULL },
	{ "f", (getter)event_f, NULL, "Fields: the fields only; e.f.pid is always the field",
	  NULL },
	{ "fields", (getter)event_fields, NULL,
	  "dict of str to int, float, str, list of int, bytes or dict: all fields, common_* too",
	  NULL },
	{ "text", (getter)event_text, NULL, "str: the event by its print format", NULL },
	{ "raw", (getter)event_raw, NULL, "bytes: the payload that the fields describe", NULL },
	{ "late", (getter)event_late, NULL, "bool: older than an event delivered before it", NULL },
	{ "index", (getter)event_index, NULL, "int: which input, 0 for the first", NULL },
	{ "sample", (getter)event_sample, NULL,
	  "Sample: the values beside the fields; None for a record of state", NULL },
	{ "schema", (getter)event_schema, NULL, "Schema: its type", NULL },
	{ "callchain", (getter)event_callchain, NULL,
	  "Stack: a sequence of Frame, innermost first; empty if not recorded or with "
	  "callchain=False",
	  NULL },
	{ NULL }
};

PyTypeObject *event_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc,
		  "One event. Fields are e.next_pid or e['next_pid']. An attribute below wins over "
		  "a field of its\nname: e['pid'] and e.f.pid are always the field. An unknown "
		  "name "
		  "raises UnknownField. An event may\nbe kept: its values stay those of its time. "
		  "Events are ordered by time, input and place." },
		{ Py_tp_dealloc, event_dealloc },
		{ Py_tp_repr, event_repr },
		{ Py_tp_getattro, event_getattro },
		{ Py_tp_hash, event_hash },
		{ Py_tp_richcompare, event_compare },
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
