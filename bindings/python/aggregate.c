/* SPDX-License-Identifier: MIT */
#include "aggregate.h"

#include <errno.h>
#include <string.h>

struct py_aggregate {
	SESSION_CHILD_HEAD
	struct sonde_aggregate *a;
};

/* The bytes of a name of a recording, which may not be UTF-8; NULL for None, or an exception. */
static const char *aggregate_text(PyObject *o, PyObject **owned)
{
	if (o == Py_None)
		return NULL;
	*owned = PyUnicode_AsEncodedString(o, "utf-8", "surrogateescape");
	return *owned ? PyBytes_AsString(*owned) : NULL;
}

PyObject *aggregate_of_session(struct py_session *s, PyObject *args)
{
	enum { NR_TEXTS = 4 };
	PyObject *texts[NR_TEXTS], *owned[NR_TEXTS] = { NULL };
	struct sonde_aggregate_options o = { .size = sizeof(o) };
	struct py_aggregate *self;
	struct sonde_aggregate *a;
	PyObject *linear;
	int r;

	if (!PyArg_ParseTuple(args, "sOOOOOI", &o.kind, &texts[0], &texts[1], &texts[2], &texts[3],
			      &linear, &o.limit) ||
	    session_check(s) < 0)
		return NULL;
	if (linear != Py_None) {
		long long low, high, step;

		if (!PyArg_ParseTuple(linear, "LLL", &low, &high, &step))
			return NULL;
		o.low = low;
		o.high = high;
		o.step = step;
	}
	o.events = aggregate_text(texts[0], &owned[0]);
	o.field = aggregate_text(texts[1], &owned[1]);
	o.by = aggregate_text(texts[2], &owned[2]);
	o.where = aggregate_text(texts[3], &owned[3]);
	r = PyErr_Occurred() ? 0 : sonde_aggregate_new(&a, s->s, &o);
	for (int i = 0; i < NR_TEXTS; i++)
		Py_XDECREF(owned[i]); /* the aggregation has copies */
	if (r < 0)
		return module_error(s->m, r);
	if (PyErr_Occurred())
		return NULL;
	self = (struct py_aggregate *)session_child_new(s, s->m->aggregate);
	if (!self) {
		sonde_aggregate_free(a);
		return NULL;
	}
	self->a = a;
	return (PyObject *)self;
}

static void aggregate_dealloc(struct py_aggregate *self)
{
	sonde_aggregate_free(self->a);
	session_child_free((struct py_session_child *)self);
}

/* None, or the exception of a failure. */
static PyObject *aggregate_result(struct py_aggregate *self, int r)
{
	if (r < 0)
		return module_error(self->session->m, r);
	Py_RETURN_NONE;
}

/* Times of nr events of the batch, for the session's span. */
static void aggregate_note_times(struct py_session *s, size_t at, size_t nr)
{
	for (; s->first_ns == SONDE_NO_TIME && nr; at++, nr--)
		s->first_ns = s->last_ns = s->batch[at]->time_ns;
	if (nr && s->batch[at + nr - 1]->time_ns != SONDE_NO_TIME)
		s->last_ns = s->batch[at + nr - 1]->time_ns;
}

static PyObject *aggregate_add(struct py_aggregate *self, PyObject *unused)
{
	struct py_session *s = self->session;

	(void)unused;
	if (session_check(s) < 0)
		return NULL;
	aggregate_note_times(s, s->at, s->nr_batch - s->at);
	return aggregate_result(
		self, sonde_aggregate_add(self->a, s->batch + s->at, s->nr_batch - s->at));
}

/* The event that iterating has returned last. */
static PyObject *aggregate_add_one(struct py_aggregate *self, PyObject *unused)
{
	struct py_session *s = self->session;

	(void)unused;
	if (!s->s || !s->at)
		Py_RETURN_NONE;
	aggregate_note_times(s, s->at - 1, 1);
	return aggregate_result(self, sonde_aggregate_add(self->a, s->batch + s->at - 1, 1));
}

/* The number of events of the batch before the first one at `until` or later. */
static size_t aggregate_before(const struct py_session *s, uint64_t until)
{
	size_t n = s->at;

	while (n < s->nr_batch &&
	       (s->batch[n]->time_ns == SONDE_NO_TIME || s->batch[n]->time_ns < until))
		n++;
	return n - s->at;
}

/* Adds the next nr events of the batch to all. Returns 0, or -1 with an exception. */
static int aggregate_pour_some(struct py_session *s, PyObject *aggregates, size_t nr)
{
	for (Py_ssize_t i = 0; i < PyTuple_Size(aggregates); i++) {
		PyObject *o = PyTuple_GetItem(aggregates, i);
		int r;

		if (Py_TYPE(o) != s->m->aggregate) {
			PyErr_SetString(PyExc_TypeError, "an _Aggregate is needed");
			return -1;
		}
		r = sonde_aggregate_add(((struct py_aggregate *)o)->a, s->batch + s->at, nr);
		if (r < 0) {
			module_error(s->m, r);
			return -1;
		}
	}
	aggregate_note_times(s, s->at, nr);
	s->at += nr;
	return 0;
}

/*
 * Adds batches as long as there are some, but returns now and then for timers of the caller, and
 * before an event at the time `until` or later.
 */
PyObject *aggregate_pour(struct py_session *s, PyObject *args)
{
	enum { MOST_BATCHES = 256 };
	unsigned long long until = SONDE_NO_TIME;
	PyObject *aggregates;
	int r = 1;

	if (!PyArg_ParseTuple(args, "O!|K", &PyTuple_Type, &aggregates, &until) ||
	    session_check(s) < 0)
		return NULL;
	if (s->at == s->nr_batch && session_keep_batch(s) < 0)
		return NULL;
	for (int n = 0; r == 1 && n < MOST_BATCHES; n++) {
		if (s->at == s->nr_batch)
			r = session_fill_once(s);
		if (r != 1)
			break;
		if (aggregate_pour_some(s, aggregates, aggregate_before(s, until)) < 0)
			return NULL;
		if (s->at < s->nr_batch)
			return PyLong_FromUnsignedLongLong(s->batch[s->at]->time_ns);
	}
	if (r < 0)
		return NULL;
	if (r == SESSION_AGAIN)
		Py_RETURN_NONE;
	return PyBool_FromLong(r);
}

static PyObject *aggregate_clear(struct py_aggregate *self, PyObject *unused)
{
	(void)unused;
	return aggregate_result(self, sonde_aggregate_clear(self->a));
}

static PyObject *aggregate_print(struct py_aggregate *self, PyObject *args)
{
	struct sonde_aggregate_print_options o = { .size = sizeof(o) };
	int fd, r;

	unsigned long long from = 0, to = 0;

	if (!PyArg_ParseTuple(args, "iIzI|KK", &fd, &o.top, &o.format, &o.columns, &from, &to))
		return NULL;
	o.from_ns = from;
	o.to_ns = to;
	Py_BEGIN_ALLOW_THREADS
	r = sonde_aggregate_print(self->a, fd, &o);
	Py_END_ALLOW_THREADS
	if (r == -EPIPE) {
		errno = EPIPE;
		return PyErr_SetFromErrno(PyExc_OSError);
	}
	return aggregate_result(self, r);
}

/* (title, count, sum, unfit, merged) */
static PyObject *aggregate_facts(struct py_aggregate *self, PyObject *unused)
{
	struct sonde_aggregate_facts f = { .size = sizeof(f) };
	const int r = sonde_aggregate_facts(self->a, &f);

	(void)unused;
	if (r < 0)
		return module_error(self->session->m, r);
	return Py_BuildValue("(NKLKK)", text_object(f.title, strlen(f.title)),
			     (unsigned long long)f.count, (long long)f.sum,
			     (unsigned long long)f.unfit, (unsigned long long)f.merged);
}

static PyObject *aggregate_value(const struct sonde_aggregate_value *v)
{
	switch (v->kind) {
	case SONDE_AGGREGATE_NUMBER:
		return PyLong_FromLongLong((int64_t)v->number);
	case SONDE_AGGREGATE_UNSIGNED:
	case SONDE_AGGREGATE_ADDRESS:
		return u64_object(v->number);
	case SONDE_AGGREGATE_TEXT:
	case SONDE_AGGREGATE_STACK:
		return text_object(v->text, strlen(v->text));
	default:
		Py_RETURN_NONE;
	}
}

static PyObject *aggregate_buckets(const struct sonde_aggregate_row *row)
{
	PyObject *dict = PyDict_New();

	for (uint32_t i = 0; dict && i < row->nr_buckets; i++) {
		const struct sonde_aggregate_bucket *b = &row->buckets[i];
		PyObject *key = Py_BuildValue("(LL)", (long long)b->low, (long long)b->high),
			 *n = u64_object(b->count);

		if (!key || !n || PyDict_SetItem(dict, key, n) < 0)
			Py_CLEAR(dict);
		Py_XDECREF(key);
		Py_XDECREF(n);
	}
	return dict;
}

/* (keys, is_other, count, sum, min, max, mean, p50, p90, p95, p99, buckets) */
static PyObject *aggregate_row(const struct sonde_aggregate_row *row)
{
	PyObject *keys = PyTuple_New((Py_ssize_t)row->nr_keys), *buckets;

	for (uint32_t i = 0; keys && i < row->nr_keys; i++) {
		PyObject *value = aggregate_value(&row->keys[i]);

		if (!value || PyTuple_SetItem(keys, (Py_ssize_t)i, value) < 0)
			Py_CLEAR(keys);
	}
	buckets = keys ? aggregate_buckets(row) : NULL;
	if (!buckets) {
		Py_XDECREF(keys);
		return NULL;
	}
	return Py_BuildValue(
		"(NOKLLLLLLLLN)", keys, row->flags & SONDE_AGGREGATE_OTHER ? Py_True : Py_False,
		(unsigned long long)row->count, (long long)row->sum, (long long)row->min,
		(long long)row->max, (long long)row->mean, (long long)row->p50, (long long)row->p90,
		(long long)row->p95, (long long)row->p99, buckets);
}

static PyObject *aggregate_rows(struct py_aggregate *self, PyObject *unused)
{
	struct sonde_aggregate_row row = { .size = sizeof(row) };
	const int n = sonde_aggregate_rows(self->a);
	PyObject *list;

	(void)unused;
	if (n < 0)
		return module_error(self->session->m, n);
	list = PyList_New(0);
	for (int i = 0; list && i < n; i++) {
		const int r = sonde_aggregate_row(self->a, (size_t)i, &row);
		PyObject *item;

		if (r < 0) {
			Py_DECREF(list);
			return module_error(self->session->m, r);
		}
		item = aggregate_row(&row);
		if (!item || PyList_Append(list, item) < 0)
			Py_CLEAR(list);
		Py_XDECREF(item);
	}
	return list;
}

static PyMethodDef methods[] = {
	{ "add", (PyCFunction)aggregate_add, METH_NOARGS, "add(): the batch of the session." },
	{ "add_one", (PyCFunction)aggregate_add_one, METH_NOARGS,
	  "add_one(): the event that iterating has returned last." },
	{ "clear", (PyCFunction)aggregate_clear, METH_NOARGS, "clear(): forgets all events." },
	{ "facts", (PyCFunction)aggregate_facts, METH_NOARGS,
	  "facts() -> (title, count, sum, unfit, merged)" },
	{ "rows", (PyCFunction)aggregate_rows, METH_NOARGS,
	  "rows() -> list of (keys, is_other, count, sum, min, max, mean, p50, p90, p95, "
	  "p99, buckets)" },
	{ "print", (PyCFunction)aggregate_print, METH_VARARGS,
	  "print(fd, top, format, columns, from_ns=0, to_ns=0): writes the rows." },
	{ NULL }
};

PyTypeObject *aggregate_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc, "Events counted by keys. Made by Session._aggregate()." },
		{ Py_tp_dealloc, aggregate_dealloc },
		{ Py_tp_methods, methods },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde._Aggregate", sizeof(struct py_aggregate), 0,
				    Py_TPFLAGS_DEFAULT, slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
