/* SPDX-License-Identifier: MIT */
/* The type Column: one column of one or more Batches. */
#include "column.h"

#include <structmember.h>

#include "columns.h"
#include "values.h"

struct py_column {
	PyObject_HEAD
	struct module_state *m;
	PyObject *batches; /* owned: tuple of Batch, at least one */
	Py_ssize_t index;
	int64_t length, nulls;
	void *joined;         /* owned: the values of all batches, if asked for; else NULL */
	PyObject *dictionary; /* owned: tuple; NULL if not made yet */
	int64_t shape;        /* of the buffer protocol */
};

/* ---- one value ------------------------------------------------------------------------------- */

static bool column_is_null(const struct ArrowArray *a, int64_t i)
{
	const uint8_t *valid = a->n_buffers ? a->buffers[0] : NULL;

	i += a->offset;
	return valid && !(valid[i / 8] >> i % 8 & 1);
}

/* Bytes of an element of fixed width; 0 for other formats. */
static size_t column_width(const char *format)
{
	switch (format[0]) {
	case 'c':
	case 'C':
		return 1;
	case 's':
	case 'S':
		return 2;
	case 'i':
	case 'I':
	case 'f':
		return 4;
	case 'l':
	case 'L':
	case 'g':
		return 8;
	default:
		return 0;
	}
}

static PyObject *column_number(char format, const uint8_t *p)
{
	union {
		int8_t i8;
		uint8_t u8;
		int16_t i16;
		uint16_t u16;
		int32_t i32;
		uint32_t u32;
		int64_t i64;
		uint64_t u64;
		float f;
		double g;
	} v;

	memcpy(&v, p, column_width(&format));
	switch (format) {
	case 'c':
		return PyLong_FromLong(v.i8);
	case 'C':
		return PyLong_FromLong(v.u8);
	case 's':
		return PyLong_FromLong(v.i16);
	case 'S':
		return PyLong_FromLong(v.u16);
	case 'i':
		return PyLong_FromLong(v.i32);
	case 'I':
		return u64_object(v.u32);
	case 'l':
		return PyLong_FromLongLong(v.i64);
	case 'L':
		return u64_object(v.u64);
	case 'f':
		return PyFloat_FromDouble((double)v.f);
	default:
		return PyFloat_FromDouble(v.g);
	}
}

/* Element i of an array without its dictionary. Lists are lists, or tuples if is_key. */
static PyObject *column_plain(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t i,
			      bool is_key)
{
	const int32_t *offsets = a->n_buffers > 1 ? a->buffers[1] : NULL;
	size_t width = column_width(s->format);
	PyObject *list, *tuple;

	if (column_is_null(a, i))
		Py_RETURN_NONE;
	i += a->offset;
	if (width)
		return column_number(s->format[0],
				     (const uint8_t *)a->buffers[1] + (size_t)i * width);
	if (s->format[0] == 'u')
		return PyUnicode_DecodeUTF8((const char *)a->buffers[2] + offsets[i],
					    offsets[i + 1] - offsets[i], "strict");
	if (s->format[0] == 'z')
		return PyBytes_FromStringAndSize((const char *)a->buffers[2] + offsets[i],
						 offsets[i + 1] - offsets[i]);
	list = PyList_New(offsets[i + 1] - offsets[i]); /* +l */
	for (int32_t k = offsets[i]; list && k < offsets[i + 1]; k++) {
		PyObject *item = column_plain(s->children[0], a->children[0], k, is_key);

		if (!item)
			Py_CLEAR(list);
		else
			PyList_SetItem(list, k - offsets[i], item);
	}
	if (!list || !is_key)
		return list;
	tuple = PyList_AsTuple(list);
	Py_DECREF(list);
	return tuple;
}

/* ---- pieces ---------------------------------------------------------------------------------- */

static const struct arrow_batch *column_batch(struct py_column *c, Py_ssize_t i)
{
	return columns_batch_of(c->batches, i);
}

static const struct ArrowSchema *column_schema(struct py_column *c)
{
	return column_batch(c, 0)->schema.children[c->index];
}

static const struct ArrowArray *column_array(struct py_column *c, Py_ssize_t i)
{
	return column_batch(c, i)->array.children[c->index];
}

/* The values, or codes of the dictionary, in one piece. NULL with an exception. */
static const void *column_values(struct py_column *c)
{
	size_t width = column_width(column_schema(c)->format), at = 0;
	const struct ArrowArray *a = column_array(c, 0);

	if (!width) {
		PyErr_Format(PyExc_AttributeError,
			     "values of the column %s have no fixed width: use to_list(), or Arrow",
			     column_schema(c)->name);
		return NULL;
	}
	if (PyTuple_Size(c->batches) == 1)
		return (const uint8_t *)a->buffers[1] + (size_t)a->offset * width;
	if (c->joined)
		return c->joined;
	c->joined = malloc((size_t)c->length * width + 1);
	if (!c->joined) {
		PyErr_NoMemory();
		return NULL;
	}
	for (Py_ssize_t i = 0; i < PyTuple_Size(c->batches); i++) {
		a = column_array(c, i);
		memcpy((uint8_t *)c->joined + at,
		       (const uint8_t *)a->buffers[1] + (size_t)a->offset * width,
		       (size_t)a->length * width);
		at += (size_t)a->length * width;
	}
	return c->joined;
}

/* The values that codes stand for: those of the last batch, which has all. */
static PyObject *column_dictionary(struct py_column *c, void *unused)
{
	const struct ArrowSchema *s = column_schema(c);
	const struct ArrowArray *d = column_array(c, PyTuple_Size(c->batches) - 1)->dictionary;

	(void)unused;
	if (!s->dictionary)
		Py_RETURN_NONE;
	if (!c->dictionary) {
		PyObject *t = PyTuple_New((Py_ssize_t)d->length);

		for (int64_t i = 0; t && i < d->length; i++) {
			PyObject *item = column_plain(s->dictionary, d, i, true);

			if (!item)
				Py_CLEAR(t);
			else
				PyTuple_SetItem(t, (Py_ssize_t)i, item);
		}
		c->dictionary = t;
	}
	Py_XINCREF(c->dictionary);
	return c->dictionary;
}

/* Element i of one batch; all is the dictionary or None. */
static PyObject *column_element(struct py_column *c, const struct ArrowArray *a, int64_t i,
				PyObject *all)
{
	PyObject *value;
	int32_t code;

	if (all == Py_None)
		return column_plain(column_schema(c), a, i, false);
	if (column_is_null(a, i))
		Py_RETURN_NONE;
	memcpy(&code, (const int32_t *)a->buffers[1] + a->offset + i, sizeof(code));
	value = PyTuple_GetItem(all, code);
	Py_XINCREF(value);
	return value;
}

/* ---- Column ---------------------------------------------------------------------------------- */

PyObject *column_new(PyObject *module, PyObject *args)
{
	struct module_state *m = PyModule_GetState(module);
	struct py_column *c;
	PyObject *batches;
	Py_ssize_t index;

	if (!PyArg_ParseTuple(args, "O!n", &PyTuple_Type, &batches, &index))
		return NULL;
	for (Py_ssize_t i = 0; i < PyTuple_Size(batches); i++)
		if (Py_TYPE(PyTuple_GetItem(batches, i)) != m->batch)
			return PyErr_Format(PyExc_TypeError, "a tuple of Batch is needed");
	if (!PyTuple_Size(batches) || index < 0 ||
	    index >= columns_batch_of(batches, 0)->schema.n_children)
		return PyErr_Format(PyExc_IndexError, "there is no such column");
	c = PyObject_New(struct py_column, m->column);
	if (!c)
		return NULL;
	memset((char *)c + sizeof(PyObject), 0, sizeof(*c) - sizeof(PyObject));
	Py_INCREF(batches);
	c->m = m;
	c->batches = batches;
	c->index = index;
	for (Py_ssize_t i = 0; i < PyTuple_Size(batches); i++) {
		c->length += column_array(c, i)->length;
		c->nulls += column_array(c, i)->null_count;
	}
	c->shape = c->length;
	return (PyObject *)c;
}

static void column_dealloc(struct py_column *c)
{
	PyTypeObject *type = Py_TYPE((PyObject *)c);

	free(c->joined);
	Py_XDECREF(c->dictionary);
	Py_XDECREF(c->batches);
	PyObject_Free(c);
	Py_DECREF(type);
}

static Py_ssize_t column_len(struct py_column *c)
{
	return (Py_ssize_t)c->length;
}

static PyObject *column_item(struct py_column *c, Py_ssize_t i)
{
	PyObject *all, *value = NULL;

	if (i < 0 || i >= c->length) {
		PyErr_SetString(PyExc_IndexError, "the column has no such row");
		return NULL;
	}
	all = column_dictionary(c, NULL);
	if (!all)
		return NULL;
	for (Py_ssize_t k = 0; k < PyTuple_Size(c->batches); k++) {
		const struct ArrowArray *a = column_array(c, k);

		if (i < a->length) {
			value = column_element(c, a, i, all);
			break;
		}
		i -= (Py_ssize_t)a->length;
	}
	Py_DECREF(all);
	return value;
}

static PyObject *column_to_list(struct py_column *c, PyObject *unused)
{
	PyObject *all = column_dictionary(c, NULL);
	PyObject *list = all ? PyList_New((Py_ssize_t)c->length) : NULL;
	Py_ssize_t at = 0;

	(void)unused;
	for (Py_ssize_t k = 0; list && k < PyTuple_Size(c->batches); k++) {
		const struct ArrowArray *a = column_array(c, k);

		for (int64_t i = 0; list && i < a->length; i++) {
			PyObject *value = column_element(c, a, i, all);

			if (!value)
				Py_CLEAR(list);
			else
				PyList_SetItem(list, at++, value);
		}
	}
	Py_XDECREF(all);
	return list;
}

static PyObject *column_name(struct py_column *c, void *unused)
{
	(void)unused;
	return name_object(column_schema(c)->name);
}

static PyObject *column_arrow(struct py_column *c, void *unused)
{
	const struct ArrowSchema *s = column_schema(c);

	(void)unused;
	return PyUnicode_FromString(s->dictionary ? s->dictionary->format : s->format);
}

static PyObject *column_null_count(struct py_column *c, void *unused)
{
	(void)unused;
	return PyLong_FromLongLong(c->nulls);
}

/* A byte for each row: 1 if it is null. */
static PyObject *column_nulls(struct py_column *c, void *unused)
{
	PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)c->length);
	char *p = bytes ? PyBytes_AsString(bytes) : NULL;

	(void)unused;
	for (Py_ssize_t k = 0; p && k < PyTuple_Size(c->batches); k++) {
		const struct ArrowArray *a = column_array(c, k);

		for (int64_t i = 0; i < a->length; i++)
			*p++ = column_is_null(a, i);
	}
	return bytes;
}

/* NumPy's name of a format: '<i8' */
static void column_typestr(const char *format, char ret[8])
{
	static const char order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
	char f = format[0];
	char kind = f == 'f' || f == 'g' ? 'f' : f >= 'A' && f <= 'Z' ? 'u' : 'i';

	PyOS_snprintf(ret, 8, "%c%c%zu", order, kind, column_width(format));
}

static PyObject *column_array_interface(struct py_column *c, void *unused)
{
	const void *values = column_values(c);
	char typestr[8];

	(void)unused;
	if (!values)
		return NULL;
	column_typestr(column_schema(c)->format, typestr);
	return Py_BuildValue("{s:i,s:(L),s:s,s:(KO)}", "version", 3, "shape", (long long)c->length,
			     "typestr", typestr, "data", (unsigned long long)(uintptr_t)values,
			     Py_True);
}

static PyObject *column_arrow_schema(struct py_column *c, PyObject *unused)
{
	(void)unused;
	return columns_schema_capsule(column_schema(c));
}

static PyObject *column_arrow_array(struct py_column *c, PyObject *args, PyObject *kw)
{
	static char *keywords[] = { "requested_schema", NULL };
	PyObject *requested = NULL;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "|O", keywords, &requested))
		return NULL;
	if (PyTuple_Size(c->batches) != 1)
		return PyErr_Format(PyExc_ValueError,
				    "the column has several pieces: use __arrow_c_stream__");
	return columns_array_capsules(columns_batch_of(c->batches, 0), column_schema(c),
				      column_array(c, 0));
}

static PyObject *column_arrow_stream(struct py_column *c, PyObject *args, PyObject *kw)
{
	static char *keywords[] = { "requested_schema", NULL };
	PyObject *requested = NULL;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "|O", keywords, &requested))
		return NULL;
	return columns_stream_capsule(c->batches, c->index);
}

static PyObject *column_iter(PyObject *self)
{
	return PySeqIter_New(self);
}

static PyObject *column_repr(struct py_column *c)
{
	PyObject *name = column_name(c, NULL), *text;

	text = name ? PyUnicode_FromFormat("<sonde.Column %U %lld rows>", name,
					   (long long)c->length)
		    : NULL;
	Py_XDECREF(name);
	return text;
}

/* ---- the buffer protocol: memoryview(column) ------------------------------------------------- */

#if !defined(Py_LIMITED_API) || Py_LIMITED_API + 0 >= 0x030b0000
static int column_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
	static const char *const formats[] = { "b", "B", "h", "H", "i", "I", "q", "Q", "f", "d" };
	static const char arrow[] = "cCsSiIlLfg";
	struct py_column *c = (struct py_column *)self;
	const char *format = column_schema(c)->format;
	const void *values;

	view->obj = NULL;
	if (flags & PyBUF_WRITABLE) {
		PyErr_SetString(PyExc_BufferError, "columns cannot be written to");
		return -1;
	}
	values = column_values(c);
	if (!values) {
		PyErr_SetString(PyExc_BufferError, "values of the column have no fixed width");
		return -1;
	}
	view->buf = (void *)values;
	view->itemsize = (Py_ssize_t)column_width(format);
	view->len = (Py_ssize_t)c->length * view->itemsize;
	view->readonly = 1;
	view->ndim = 1;
	view->format = NULL;
	if (flags & PyBUF_FORMAT)
		view->format = (char *)formats[strchr(arrow, format[0]) - arrow];
	view->shape = flags & PyBUF_ND ? (Py_ssize_t *)&c->shape : NULL;
	view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? &view->itemsize : NULL;
	view->suboffsets = NULL;
	view->internal = NULL;
	Py_INCREF(self);
	view->obj = self;
	return 0;
}
#endif

static PyMethodDef column_methods[] = {
	{ "to_list", (PyCFunction)column_to_list, METH_NOARGS,
	  "to_list() -> list\n\nThe values: int, float, str, bytes, list; None where a value is "
	  "missing." },
	{ "__arrow_c_schema__", (PyCFunction)column_arrow_schema, METH_NOARGS,
	  "Arrow's type of the column." },
	{ "__arrow_c_array__", (PyCFunction)(void (*)(void))column_arrow_array,
	  METH_VARARGS | METH_KEYWORDS,
	  "The column for Arrow's C data interface, without a copy." },
	{ "__arrow_c_stream__", (PyCFunction)(void (*)(void))column_arrow_stream,
	  METH_VARARGS | METH_KEYWORDS,
	  "A new stream of the column for Arrow's C stream interface, without a copy." },
	{ NULL }
};

static PyGetSetDef column_getset[] = {
	{ "name", (getter)column_name, NULL,
	  "str: the field's name, or time, cpu, pid, tid, comm, stack; 'f_pid' for a field pid",
	  NULL },
	{ "arrow", (getter)column_arrow, NULL,
	  "str: the values' format in Arrow's C data interface: 'i', 'l', 'u' (text), 'z' (bytes), "
	  "'+l' (list)",
	  NULL },
	{ "dictionary", (getter)column_dictionary, NULL,
	  "tuple or None: the distinct values; numpy.asarray() then gives their positions in it",
	  NULL },
	{ "null_count", (getter)column_null_count, NULL, "int: how many values are missing", NULL },
	{ "nulls", (getter)column_nulls, NULL,
	  "bytes: 1 for each row whose value is missing; its number is then undefined", NULL },
	{ "__array_interface__", (getter)column_array_interface, NULL,
	  "dict: for numpy.asarray(), without a copy", NULL },
	{ NULL }
};

PyTypeObject *column_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc, "A column of a Table: a sequence of values. numpy.asarray(column) and "
			     "memoryview(column) share its\nmemory, and so do Arrow's consumers." },
		{ Py_tp_dealloc, column_dealloc },
		{ Py_tp_repr, column_repr },
		{ Py_tp_iter, column_iter },
		{ Py_sq_length, column_len },
		{ Py_sq_item, column_item },
		{ Py_mp_length, column_len },
		{ Py_mp_subscript, sequence_get },
		{ Py_tp_methods, column_methods },
		{ Py_tp_getset, column_getset },
#if !defined(Py_LIMITED_API) || Py_LIMITED_API + 0 >= 0x030b0000
		{ Py_bf_getbuffer, column_getbuffer },
#endif
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Column", sizeof(struct py_column), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
