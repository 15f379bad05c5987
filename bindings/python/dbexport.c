/* SPDX-License-Identifier: MIT */
/*
 * perf_db_export_mode: rows of tables (prelude/dbexport.h) become calls of the script's handlers, which are fetched once,
 * behind trace_begin().
 */
#include "pysonde.h"

#include <errno.h>

#include "dbexport.h"

/*
 * Most columns hold for many rows what they held for the row before: a number that comes again keeps its object, unless it
 * is small, and so an object of the interpreter's own.
 */
struct column {
	int64_t number;
	PyObject *object; /* owned: the number's; NULL none */
};

struct table {
	PyObject *handler; /* owned; NULL: there is none */
	struct column columns[PRELUDE_MAX_COLUMNS];
};

struct dbexport {
	struct run *run;
	struct prelude_db *db;
	struct table tables[PRELUDE_NR_TABLES];
};

void dbexport_free(struct dbexport *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < PRELUDE_NR_TABLES; i++) {
		Py_XDECREF(d->tables[i].handler);
		for (size_t k = 0; k < PRELUDE_MAX_COLUMNS; k++)
			Py_XDECREF(d->tables[i].columns[k].object);
	}
	prelude_db_free(d->db);
	free(d);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* New reference. */
static inline PyObject *number_object(struct column *c, int64_t number)
{
	if (c->object && c->number == number) {
		Py_INCREF(c->object);
		return c->object;
	}
	Py_XDECREF(c->object);
	c->object = PyLong_FromLongLong(number);
	c->number = number;
	Py_XINCREF(c->object);
	return c->object;
}

static PyObject *cell_object(struct table *t, enum prelude_table table, size_t i,
			     const union prelude_cell *cell)
{
	switch (prelude_tables[table].columns[i].kind) {
	case PRELUDE_NUMBER:
		return number_object(&t->columns[i], cell->number);
	case PRELUDE_STRING:
		return text_object(cell->text, strlen(cell->text));
	case PRELUDE_BLOB:
		return PyBytes_FromStringAndSize(cell->blob.bytes, (Py_ssize_t)cell->blob.len);
	}
	return NULL;
}

/* Takes the references of nr arguments, which stand behind one free place. */
static PyObject *call(PyObject *func, PyObject **args, size_t nr)
{
	PyObject *result;

#ifdef HAVE_VECTORCALL
	result = PyObject_Vectorcall(func, args, nr | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
	for (size_t i = 0; i < nr; i++)
		Py_DECREF(args[i]);
#else
	PyObject *tuple = PyTuple_New((Py_ssize_t)nr);

	for (size_t i = 0; i < nr; i++) {
		if (tuple)
			PyTuple_SetItem(tuple, (Py_ssize_t)i, args[i]);
		else
			Py_DECREF(args[i]);
	}
	result = tuple ? PyObject_Call(func, tuple, NULL) : NULL;
	Py_XDECREF(tuple);
#endif
	return result;
}

/* -ECANCELED: an exception is set. */
static int row(void *ctx, enum prelude_table table, const union prelude_cell *cells, size_t nr)
{
	struct dbexport *d = ctx;
	struct table *t = &d->tables[table];
	PyObject *args[PRELUDE_MAX_COLUMNS + 1], *result;

	for (size_t i = 0; i < nr; i++) {
		args[i + 1] = cell_object(t, table, i, &cells[i]);
		if (!args[i + 1]) {
			while (i)
				Py_DECREF(args[i--]);
			return -ECANCELED;
		}
	}
	result = call(t->handler, args + 1, nr);
	Py_XDECREF(result);
	return result ? 0 : -ECANCELED;
}

/* What a call of prelude_db_*() gave: negative with an exception set, else itself. */
static int result_of(struct dbexport *d, int code)
{
	if (code < 0 && !PyErr_Occurred())
		module_error(d->run->m, code);
	return code < 0 ? -1 : code;
}

/* ---- beginning and end ------------------------------------------------------------------------------------------- */

/* Whether a name of the script's stands for something true; -1 with an exception. */
static int is_true(struct run *r, const char *name)
{
	PyObject *key = PyUnicode_InternFromString(name);
	PyObject *value = key ? PyDict_GetItemWithError(r->main, key) : NULL;
	int yes = value ? PyObject_IsTrue(value) : PyErr_Occurred() ? -1 : 0;

	Py_XDECREF(key);
	return yes;
}

static int fetch_handlers(struct dbexport *d, uint32_t *ret_tables)
{
	for (size_t i = 0; i < PRELUDE_NR_TABLES; i++) {
		PyObject *key = PyUnicode_InternFromString(prelude_tables[i].handler), *handler;

		handler = key ? PyDict_GetItemWithError(d->run->main, key) : NULL;
		Py_XDECREF(key);
		if (handler && PyCallable_Check(handler)) {
			Py_INCREF(handler);
			d->tables[i].handler = handler;
			*ret_tables |= 1u << i;
		} else if (!handler && PyErr_Occurred()) {
			return -1;
		}
	}
	return 0;
}

static int begin(struct dbexport *d)
{
	struct prelude_db_options opts = { .row = row, .ctx = d };
	int calls = is_true(d->run, "perf_db_export_calls");
	int callchains = calls < 0 ? -1 : is_true(d->run, "perf_db_export_callchains");

	if (callchains < 0 || fetch_handlers(d, &opts.tables) < 0)
		return -1;
	opts.calls = calls;
	opts.callchains = callchains;
	if (result_of(d, prelude_db_new(&d->db, d->run->s, &opts)) < 0)
		return -1;
	return result_of(d, prelude_db_begin(d->db));
}

struct dbexport *dbexport_begin(struct run *r)
{
	struct dbexport *d;

	if (is_true(r, "perf_db_export_mode") <= 0)
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return (struct dbexport *)PyErr_NoMemory();
	d->run = r;
	if (begin(d) < 0) {
		dbexport_free(d);
		return NULL;
	}
	return d;
}

int dbexport_event(struct dbexport *d, const struct sonde_event *ev)
{
	return result_of(d, prelude_db_event(d->db, ev));
}

int dbexport_end(struct dbexport *d)
{
	return result_of(d, prelude_db_end(d->db));
}
