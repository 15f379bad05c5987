/* SPDX-License-Identifier: MIT */
/*
 * Columns of events.
 *
 *	Columns		reads a session: an iterator over Batches
 *	Batch		rows of one table, an Arrow struct array; shared with Arrow consumers
 *	Column		one column of one or more Batches, without a copy. What NumPy needs in
 *			one piece is copied, when several Batches have it
 */
#include "columns.h"

#include <errno.h>
#include <time.h>

struct py_columns {
	PyObject_HEAD
	struct py_session *session; /* owned */
	struct sonde_columns *c;    /* owned; NULL at the end */
};

struct py_batch {
	PyObject_HEAD
	struct arrow_batch *batch; /* owned */
};

/* ---- capsules -------------------------------------------------------------------------------- */

static void columns_free_schema(PyObject *capsule)
{
	struct ArrowSchema *s = PyCapsule_GetPointer(capsule, "arrow_schema");

	if (s && s->release)
		s->release(s);
	free(s);
}

static void columns_free_array(PyObject *capsule)
{
	struct ArrowArray *a = PyCapsule_GetPointer(capsule, "arrow_array");

	if (a && a->release)
		a->release(a);
	free(a);
}

static void columns_free_stream(PyObject *capsule)
{
	struct ArrowArrayStream *s = PyCapsule_GetPointer(capsule, "arrow_array_stream");

	if (s && s->release)
		s->release(s);
	free(s);
}

/* A capsule that owns p, whose contents r says were made (0) or not; NULL with an exception. */
static PyObject *columns_capsule(void *p, int r, const char *name, PyCapsule_Destructor destroy)
{
	PyObject *capsule;

	if (!p || r < 0) {
		free(p);
		return PyErr_NoMemory();
	}
	capsule = PyCapsule_New(p, name, destroy);
	if (!capsule)
		free(p); /* only without memory: the contents leak then */
	return capsule;
}

PyObject *columns_schema_capsule(const struct ArrowSchema *from)
{
	struct ArrowSchema *s = malloc(sizeof(*s));

	return columns_capsule(s, s ? arrow_copy_schema(from, s) : -ENOMEM, "arrow_schema",
			       columns_free_schema);
}

/* (schema, array) */
PyObject *columns_array_capsules(struct arrow_batch *b, const struct ArrowSchema *schema,
				 const struct ArrowArray *array)
{
	struct ArrowArray *a = malloc(sizeof(*a));
	PyObject *second = columns_capsule(a, a ? arrow_share(b, array, a) : -ENOMEM, "arrow_array",
					   columns_free_array);
	PyObject *first = second ? columns_schema_capsule(schema) : NULL;

	if (!first) {
		Py_XDECREF(second);
		return NULL;
	}
	return Py_BuildValue("(NN)", first, second);
}

struct arrow_batch *columns_batch_of(PyObject *batches, Py_ssize_t i)
{
	return ((struct py_batch *)PyTuple_GetItem(batches, i))->batch;
}

PyObject *columns_stream_capsule(PyObject *batches, int64_t column)
{
	size_t nr = (size_t)PyTuple_Size(batches);
	struct ArrowArrayStream *s = malloc(sizeof(*s));
	struct arrow_batch **b = calloc(nr + 1, sizeof(*b));
	int r = -ENOMEM;

	for (size_t i = 0; b && i < nr; i++)
		b[i] = columns_batch_of(batches, (Py_ssize_t)i);
	if (s && b)
		r = arrow_stream(b, nr, column, s);
	free(b);
	return columns_capsule(s, r, "arrow_array_stream", columns_free_stream);
}

PyObject *columns_new_stream(PyObject *module, PyObject *args)
{
	struct module_state *m = PyModule_GetState(module);
	PyObject *batches;

	if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &batches))
		return NULL;
	for (Py_ssize_t i = 0; i < PyTuple_Size(batches); i++)
		if (Py_TYPE(PyTuple_GetItem(batches, i)) != m->batch)
			return PyErr_Format(PyExc_TypeError, "a tuple of Batch is needed");
	if (!PyTuple_Size(batches))
		return PyErr_Format(PyExc_ValueError, "there is no Batch");
	return columns_stream_capsule(batches, -1);
}

PyObject *columns_new_schema(PyObject *module, PyObject *args)
{
	struct module_state *m = PyModule_GetState(module);
	PyObject *batch;

	if (!PyArg_ParseTuple(args, "O!", m->batch, &batch))
		return NULL;
	return columns_schema_capsule(&((struct py_batch *)batch)->batch->schema);
}

/* ---- Columns --------------------------------------------------------------------------------- */

PyObject *columns_open(PyObject *module, PyObject *args)
{
	struct module_state *m = PyModule_GetState(module);
	struct sonde_columns_options o = { .size = sizeof(o) };
	const char *event, *fields;
	struct py_columns *c;
	PyObject *session;
	int r;

	if (!PyArg_ParseTuple(args, "O!yzII", m->session, &session, &event, &fields, &o.flags,
			      &o.rows))
		return NULL;
	if (session_check((struct py_session *)session) < 0 ||
	    session_keep_lent((struct py_session *)session) < 0)
		return NULL;
	c = PyObject_New(struct py_columns, m->columns);
	if (!c)
		return NULL;
	Py_INCREF(session);
	c->session = (struct py_session *)session;
	c->c = NULL;
	r = sonde_columns_new(&c->c, c->session->s);
	if (r >= 0)
		r = sonde_columns_add(c->c, event, fields, &o);
	if (r < 0) {
		module_error(m, r);
		Py_DECREF((PyObject *)c);
		return NULL;
	}
	return (PyObject *)c;
}

static void columns_dealloc(struct py_columns *c)
{
	PyTypeObject *type = Py_TYPE((PyObject *)c);

	sonde_columns_free(c->c);
	Py_XDECREF((PyObject *)c->session);
	PyObject_Free(c);
	Py_DECREF(type);
}

/* Takes over both structs. */
static PyObject *columns_wrap(struct py_columns *c, struct ArrowSchema *schema,
			      struct ArrowArray *array)
{
	struct py_batch *b = PyObject_New(struct py_batch, c->session->m->batch);

	if (b) {
		b->batch = arrow_batch_new(schema, array);
		if (b->batch)
			return (PyObject *)b;
		Py_DECREF((PyObject *)b);
		PyErr_NoMemory();
	}
	array->release(array);
	schema->release(schema);
	return NULL;
}

/* Takes over the array. */
static PyObject *columns_new_batch(struct py_columns *c, struct ArrowArray *array)
{
	struct ArrowSchema schema = { 0 };
	int r = sonde_columns_schema(c->c, 0, &schema);

	if (r < 0) {
		array->release(array);
		return module_error(c->session->m, r);
	}
	return columns_wrap(c, &schema, array);
}

static PyObject *columns_empty(struct py_columns *c, PyObject *unused);

static uint64_t columns_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* The next Batch; at deadline_ns one of the rows so far, perhaps none. NULL at the end. */
static PyObject *columns_next_until(struct py_columns *c, uint64_t deadline_ns)
{
	struct py_session *s = c->session;
	struct ArrowArray array;
	uint32_t table;
	int r;

	if (!c->c)
		return NULL;
	if (session_check(s) < 0)
		return NULL;
	s->owner = PyThread_get_thread_ident();
	while (!(r = sonde_columns_next_pending(c->c, &table, &array))) {
		s->busy = true;
		Py_BEGIN_ALLOW_THREADS
		r = sonde_columns_fill(c->c);
		Py_END_ALLOW_THREADS
		s->busy = false;
		if (PyErr_CheckSignals() < 0 || session_check_losses(s) < 0) {
			s->owner = 0;
			return NULL;
		}
		if (r <= 0) {
			if (!r)
				r = sonde_columns_next_pending(c->c, &table, &array);
			break;
		}
		if (deadline_ns == UINT64_MAX || columns_now_ns() < deadline_ns)
			continue;
		r = sonde_columns_flush(c->c);
		if (!r)
			r = sonde_columns_next_pending(c->c, &table, &array);
		s->owner = 0;
		if (!r)
			return columns_empty(c, NULL);
		break;
	}
	s->owner = 0;
	if (r > 0)
		return columns_new_batch(c, &array);
	if (r < 0)
		module_error(s->m, r);
	return NULL;
}

static PyObject *columns_next(struct py_columns *c)
{
	return columns_next_until(c, UINT64_MAX);
}

static PyObject *columns_until(struct py_columns *c, PyObject *args)
{
	unsigned long long deadline;
	PyObject *batch;

	if (!PyArg_ParseTuple(args, "K", &deadline))
		return NULL;
	batch = columns_next_until(c, deadline);
	if (!batch && !PyErr_Occurred())
		Py_RETURN_NONE;
	return batch;
}

static PyObject *columns_iter(PyObject *self)
{
	Py_INCREF(self);
	return self;
}

static PyObject *columns_facts(struct py_columns *c, PyObject *unused)
{
	struct sonde_columns_table t = { .size = sizeof(t) };

	(void)unused;
	if (!c->c || sonde_columns_table(c->c, 0, &t) <= 0)
		Py_RETURN_NONE;
	return Py_BuildValue("{s:K,s:K,s:K}", "rows", (unsigned long long)t.rows, "unfit",
			     (unsigned long long)t.unfit, "lost", (unsigned long long)t.lost);
}

/* A Batch without rows: the columns of a table that no event is in. */
static PyObject *columns_empty(struct py_columns *c, PyObject *unused)
{
	struct ArrowSchema schema = { 0 };
	struct ArrowArray array;
	int r = c->c ? sonde_columns_schema(c->c, 0, &schema) : -EINVAL;

	(void)unused;
	if (r >= 0) {
		r = arrow_empty(&schema, &array);
		schema.release(&schema);
	}
	return r < 0 ? module_error(c->session->m, r) : columns_new_batch(c, &array);
}

static PyObject *columns_frames(struct py_columns *c, PyObject *unused)
{
	struct ArrowSchema schema = { 0 };
	struct ArrowArray array;
	int r = c->c ? sonde_columns_frames(c->c, 0, &schema, &array) : -EINVAL;

	(void)unused;
	return r < 0 ? module_error(c->session->m, r) : columns_wrap(c, &schema, &array);
}

static PyMethodDef columns_methods[] = {
	{ "empty", (PyCFunction)columns_empty, METH_NOARGS, "empty() -> a Batch without rows" },
	{ "until", (PyCFunction)columns_until, METH_VARARGS,
	  "until(ns) -> the next Batch, at that time of CLOCK_MONOTONIC one of the rows so far; "
	  "None at the end." },
	{ "facts", (PyCFunction)columns_facts, METH_NOARGS,
	  "facts() -> dict: rows so far, unfit (values that are null because the column cannot "
	  "hold them), lost." },
	{ "frames", (PyCFunction)columns_frames, METH_NOARGS,
	  "frames() -> a Batch: the frames so far that stacks refer to" },
	{ NULL }
};

PyTypeObject *columns_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc, "Reads a session: an iterator over Batches." },
		{ Py_tp_dealloc, columns_dealloc },
		{ Py_tp_iter, columns_iter },
		{ Py_tp_iternext, columns_next },
		{ Py_tp_methods, columns_methods },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde._sonde.Columns", sizeof(struct py_columns), 0,
				    Py_TPFLAGS_DEFAULT, slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}

/* ---- Batch ----------------------------------------------------------------------------------- */

static void columns_batch_dealloc(struct py_batch *b)
{
	PyTypeObject *type = Py_TYPE((PyObject *)b);

	arrow_batch_unref(b->batch);
	PyObject_Free(b);
	Py_DECREF(type);
}

static Py_ssize_t columns_batch_len(struct py_batch *b)
{
	return (Py_ssize_t)b->batch->array.length;
}

static PyObject *columns_batch_names(struct py_batch *b, void *unused)
{
	PyObject *t = PyTuple_New((Py_ssize_t)b->batch->schema.n_children);

	(void)unused;
	for (int64_t i = 0; t && i < b->batch->schema.n_children; i++) {
		PyObject *name = name_object(b->batch->schema.children[i]->name);

		if (!name)
			Py_CLEAR(t);
		else
			PyTuple_SetItem(t, (Py_ssize_t)i, name);
	}
	return t;
}

/* Bytes of the buffers of an array and of its children, without dictionaries. */
static uint64_t columns_bytes(const struct ArrowSchema *s, const struct ArrowArray *a)
{
	uint64_t n = (uint64_t)a->length;
	uint64_t bytes = a->buffers && a->n_buffers && a->buffers[0] ? n / 8 : 0;

	switch (s->format[0]) {
	case 'c':
	case 'C':
		return bytes + n;
	case 's':
	case 'S':
		return bytes + 2 * n;
	case 'i':
	case 'I':
	case 'f':
		return bytes + 4 * n;
	case 'l':
	case 'L':
	case 'g':
		return bytes + 8 * n;
	case 'z':
	case 'u':
		return bytes + 4 * n + (n ? (uint64_t)((const int32_t *)a->buffers[1])[n] : 0);
	default:
		break;
	}
	if (s->format[0] == '+' && s->format[1] == 'l')
		bytes += 4 * n;
	for (int64_t i = 0; i < a->n_children; i++)
		bytes += columns_bytes(s->children[i], a->children[i]);
	return bytes;
}

static PyObject *columns_batch_nbytes(struct py_batch *b, void *unused)
{
	(void)unused;
	return u64_object(columns_bytes(&b->batch->schema, &b->batch->array));
}

static PyGetSetDef columns_batch_getset[] = {
	{ "names", (getter)columns_batch_names, NULL, "tuple of str: the columns' names", NULL },
	{ "nbytes", (getter)columns_batch_nbytes, NULL,
	  "int: bytes of the columns, without dictionaries", NULL },
	{ NULL }
};

PyTypeObject *columns_batch_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new }, { Py_tp_doc, "Rows of a table." },
		{ Py_tp_dealloc, columns_batch_dealloc }, { Py_sq_length, columns_batch_len },
		{ Py_tp_getset, columns_batch_getset },   { 0, NULL },
	};
	static PyType_Spec spec = { "sonde._sonde.Batch", sizeof(struct py_batch), 0,
				    Py_TPFLAGS_DEFAULT, slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
