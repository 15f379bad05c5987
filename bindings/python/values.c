/* SPDX-License-Identifier: MIT */
/*
 * Converts field bytes to Python values, by the contract's rules. Task names, pids and borrowed
 * names are made once.
 */
#include "values.h"

#include <string.h>

#define MAX_COMMS (1u << 20)

struct values *values_new(struct sonde_session *s)
{
	struct values *v = calloc(1, sizeof(*v));

	if (!v)
		return (struct values *)PyErr_NoMemory();
	v->s = s;
	v->rules = sonde_session_rules(s);
	v->last_secs = UINT64_MAX;
	for (int i = 0; i < SMALL_INTS; i++) {
		v->small[i] = PyLong_FromLong(i - SMALL_NEGATIVE);
		if (!v->small[i]) {
			values_free(v);
			return NULL;
		}
	}
	return v;
}

void values_free(struct values *v)
{
	if (!v)
		return;
	for (size_t i = 0; i < v->nr_comms; i++)
		Py_XDECREF(v->comms[i]);
	free(v->comms);
	Py_XDECREF(v->last_secs_obj);
	for (size_t i = 0; i < SMALL_INTS; i++)
		Py_XDECREF(v->small[i]);
	for (size_t i = 0; i < INTS; i++)
		Py_XDECREF(v->ints[i].obj);
	for (size_t i = 0; i < TEXTS; i++)
		Py_XDECREF(v->texts[i].obj);
	for (size_t i = 0; i < NAMES; i++)
		Py_XDECREF(v->names[i].obj);
	free(v);
}

PyObject *text_object(const char *text, size_t len)
{
	return PyUnicode_DecodeUTF8(text, (Py_ssize_t)len, "surrogateescape");
}

PyObject *name_object(const char *name)
{
	PyObject *text = text_object(name, strlen(name));

	if (text)
		PyUnicode_InternInPlace(&text);
	return text;
}

PyObject *sequence_object(PyTypeObject *type, PyObject *const *take, size_t nr)
{
	PyObject *o = PyStructSequence_New(type);
	bool is_complete = o;

	for (size_t i = 0; i < nr; i++) {
		is_complete &= take[i] != NULL;
		if (o)
			PyStructSequence_SetItem(o, (Py_ssize_t)i, take[i]);
		else
			Py_XDECREF(take[i]);
	}
	if (!is_complete)
		Py_CLEAR(o);
	return o;
}

PyObject *sequence_get(PyObject *self, PyObject *key)
{
	Py_ssize_t start, end, step, len, i;
	PyObject *list;

	if (!PySlice_Check(key)) {
		i = PyNumber_AsSsize_t(key, PyExc_IndexError);
		return i == -1 && PyErr_Occurred() ? NULL : PySequence_GetItem(self, i);
	}
	if (PySlice_Unpack(key, &start, &end, &step) < 0)
		return NULL;
	len = PySlice_AdjustIndices(PySequence_Size(self), &start, &end, step);
	list = PyList_New(len);
	for (i = 0; list && i < len; i++) {
		PyObject *item = PySequence_GetItem(self, start + i * step);

		if (!item)
			Py_CLEAR(list);
		else
			PyList_SetItem(list, i, item);
	}
	return list;
}

PyObject *values_comm(struct values *v, uint32_t id)
{
	const char *text;
	PyObject *obj;

	if (id < v->nr_comms && v->comms[id]) {
		Py_INCREF(v->comms[id]);
		return v->comms[id];
	}
	text = sonde_session_string(v->s, id);
	if (!text)
		text = "";
	obj = text_object(text, strlen(text));
	if (!obj || id >= MAX_COMMS)
		return obj;
	if (id >= v->nr_comms) {
		size_t nr = ((size_t)id + 1) * 2;
		PyObject **bigger = realloc(v->comms, nr * sizeof(*bigger));

		if (!bigger)
			return obj;
		memset(bigger + v->nr_comms, 0, (nr - v->nr_comms) * sizeof(*bigger));
		v->comms = bigger;
		v->nr_comms = nr;
	}
	Py_INCREF(obj);
	v->comms[id] = obj;
	return obj;
}

PyObject *values_name(struct values *v, const char *borrowed)
{
	size_t at = ((uintptr_t)borrowed * 0x9e3779b97f4a7c15ull) >> 54;
	PyObject *obj;

	if (!borrowed)
		return PyUnicode_FromStringAndSize("", 0);
	if (v->names[at].name == borrowed) {
		Py_INCREF(v->names[at].obj);
		return v->names[at].obj;
	}
	obj = text_object(borrowed, strlen(borrowed));
	if (!obj)
		return NULL;
	Py_XDECREF(v->names[at].obj);
	Py_INCREF(obj);
	v->names[at].name = borrowed;
	v->names[at].obj = obj;
	return obj;
}

PyObject *values_secs(struct values *v, uint64_t secs)
{
	if (v->last_secs != secs || !v->last_secs_obj) {
		PyObject *obj = u64_object(secs);

		if (!obj)
			return NULL;
		Py_XDECREF(v->last_secs_obj);
		v->last_secs_obj = obj;
		v->last_secs = secs;
	}
	Py_INCREF(v->last_secs_obj);
	return v->last_secs_obj;
}

/* Task ids and similar numbers: beyond the interpreter's own small ints, but few. */
PyObject *values_int(struct values *v, int64_t value)
{
	size_t at = (uint64_t)value % INTS;
	PyObject *obj;

	if (v->ints[at].obj && v->ints[at].value == (uint64_t)value) {
		Py_INCREF(v->ints[at].obj);
		return v->ints[at].obj;
	}
	obj = PyLong_FromLongLong(value);
	if (!obj)
		return NULL;
	Py_XDECREF(v->ints[at].obj);
	Py_INCREF(obj);
	v->ints[at].value = (uint64_t)value;
	v->ints[at].obj = obj;
	return obj;
}

void conv_init(struct conv *c, const struct sonde_field *f, const struct sonde_rules *rules)
{
	*c = (struct conv){ .offset = f->offset, .width = f->width, .field = f };
	switch (prelude_value_kind(f)) {
	case PRELUDE_TEXT:
		c->kind = f->is_dynamic    ? CONV_DYNAMIC_TEXT
			  : f->width == 16 ? CONV_COMM
					   : CONV_TEXT;
		return;
	case PRELUDE_BYTES:
		c->kind = f->is_dynamic ? CONV_DYNAMIC_BYTES : CONV_BYTES;
		return;
	case PRELUDE_INT:
		if (!prelude_is_plain(f)) {
			c->kind = prelude_value_signed(f, rules) ? CONV_SIGNED : CONV_UNSIGNED;
			return;
		}
		c->kind = f->width == 1   ? CONV_U8
			  : f->width == 2 ? CONV_U16
			  : f->width == 4 ? CONV_U32
					  : CONV_U64;
		if (prelude_value_signed(f, rules))
			c->kind += CONV_S8 - CONV_U8;
		return;
	case PRELUDE_ZERO:
		c->kind = CONV_ZERO;
		return;
	case PRELUDE_FLOAT:
		c->kind = CONV_FLOAT;
		return;
	case PRELUDE_NESTED:
		c->kind = CONV_NESTED;
		return;
	}
}

static PyObject *values_text_or_bytes(struct values *v, struct conv *c, const uint8_t *bytes,
				      size_t len)
{
	if (prelude_is_text(bytes, len))
		return text_object((const char *)bytes, strlen((const char *)bytes));
	if (v->rules->unprintable_stays_bytes) /* perf's rule: this field is bytes from now on */
		c->kind = c->kind == CONV_DYNAMIC_TEXT ? CONV_DYNAMIC_BYTES : CONV_BYTES;
	return PyByteArray_FromStringAndSize((const char *)bytes, (Py_ssize_t)len);
}

PyObject *values_task_name(struct values *v, struct conv *c, const uint8_t *bytes, size_t at)
{
	PyObject *obj = values_text_or_bytes(v, c, bytes, 16);

	if (obj && PyUnicode_CheckExact(obj)) {
		Py_XDECREF(v->texts[at].obj);
		Py_INCREF(obj);
		memcpy(v->texts[at].bytes, bytes, 16);
		v->texts[at].obj = obj;
	}
	return obj;
}

/* {member: value}, a new dict for each event, because scripts may change it. */
static PyObject *values_nested_object(struct values *v, const struct sonde_field *f,
				      const struct sonde_event *ev)
{
	PyObject *dict = PyDict_New();

	for (uint32_t i = 0; dict && i < f->nr_fields; i++) {
		PyObject *key = name_object(f->fields[i].name);
		struct conv member;

		conv_init(&member, &f->fields[i], v->rules);
		if (!key || dict_take(dict, key, values_field(v, &member, ev)) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(key);
	}
	return dict;
}

PyObject *values_field(struct values *v, struct conv *c, const struct sonde_event *ev)
{
	const uint8_t *bytes;
	size_t len;

	switch (c->kind) {
	case CONV_COMM:
	case CONV_TEXT:
	case CONV_DYNAMIC_TEXT:
		bytes = sonde_event_bytes(ev, c->field, &len);
		return values_text_or_bytes(v, c, bytes, bytes ? len : 0);
	case CONV_BYTES:
	case CONV_DYNAMIC_BYTES:
		bytes = sonde_event_bytes(ev, c->field, &len);
		return PyByteArray_FromStringAndSize((const char *)bytes,
						     bytes ? (Py_ssize_t)len : 0);
	case CONV_S8:
	case CONV_S16:
	case CONV_S32:
		return int_object(v, sonde_event_i64(ev, c->field));
	case CONV_S64:
		return PyLong_FromLongLong(sonde_event_i64(ev, c->field));
	case CONV_U8:
	case CONV_U16:
	case CONV_U32:
		return int_object(v, (int64_t)sonde_event_u64(ev, c->field));
	case CONV_U64:
		return u64_object(sonde_event_u64(ev, c->field));
	case CONV_THREAD:
		return int_object(v, ev->tid);
	case CONV_UNSIGNED:
		return u64_object(sonde_event_u64(ev, c->field));
	case CONV_SIGNED:
		return PyLong_FromLongLong(sonde_event_i64(ev, c->field));
	case CONV_FLOAT:
		return PyFloat_FromDouble(sonde_event_double(ev, c->field));
	case CONV_NESTED:
		return values_nested_object(v, c->field, ev);
	case CONV_ZERO:
		break;
	}
	return PyLong_FromLong(0);
}
