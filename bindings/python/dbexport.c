/* SPDX-License-Identifier: MIT */
/*
 * perf_db_export_mode: rows of tables (prelude/dbexport.h) become calls of the script's handlers,
 * which are looked up once, after trace_begin().
 */
#include "dbexport.h"

#include <errno.h>

#include "prelude/dbexport.h"

/* The arguments of a table's last row are kept: most columns have the same value for many rows. */
struct table {
	PyObject *handler; /* owned; NULL if there is none */
	/* Owned; the first place belongs to the callee. NULL if not set yet. */
	PyObject *args[PRELUDE_MAX_COLUMNS + 1];
	int64_t numbers[PRELUDE_MAX_COLUMNS]; /* the values of number columns */
	PyObject *spare; /* an int that nobody else holds, for the next number; may be NULL */
};

struct dbexport {
	struct python_run *run;
	struct prelude_db *db;
	struct table tables[PRELUDE_NR_TABLES];
};

void dbexport_free(struct dbexport *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < PRELUDE_NR_TABLES; i++) {
		Py_XDECREF(d->tables[i].handler);
		Py_XDECREF(d->tables[i].spare);
		for (size_t k = 1; k <= PRELUDE_MAX_COLUMNS; k++)
			Py_XDECREF(d->tables[i].args[k]);
	}
	prelude_db_free(d->db);
	free(d);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int dbexport_set_number(struct values *v, struct table *t, size_t i, int64_t number)
{
	PyObject **at = &t->args[i + 1], *old = *at, *o;

	if (old && t->numbers[i] == number)
		return 0;
	if (old && int_serves_again(old, number)) {
		t->numbers[i] = number;
		return 0;
	}
	if (t->args[1] && t->numbers[0] == number) {
		o = t->args[1];
		Py_INCREF(o);
	} else if (int_is_small(number)) {
		o = int_object(v, number);
	} else {
		o = int_from(t->spare, number);
		t->spare = NULL;
	}
	if (!o)
		return -1;
	*at = o;
	t->numbers[i] = number;
	if (old && !t->spare && int_may_serve(old))
		t->spare = old;
	else
		Py_XDECREF(old);
	return 0;
}

static int dbexport_set_other(struct table *t, size_t i, enum prelude_column_kind kind,
			      const union prelude_cell *cell)
{
	PyObject *old = t->args[i + 1], *o;

	o = kind == PRELUDE_STRING
		    ? text_object(cell->text, strlen(cell->text))
		    : PyBytes_FromStringAndSize(cell->blob.bytes, (Py_ssize_t)cell->blob.len);
	if (!o)
		return -1;
	t->args[i + 1] = o;
	Py_XDECREF(old);
	return 0;
}

static int dbexport_set_args(struct values *v, struct table *t, enum prelude_table table,
			     const union prelude_cell *cells, size_t nr)
{
	const struct prelude_column *columns = prelude_tables[table].columns;
	int code = 0;

	/* The id is last, so that columns that refer to the previous row find its object. */
	for (size_t i = nr; !code && i--;)
		code = columns[i].kind == PRELUDE_NUMBER
			       ? dbexport_set_number(v, t, i, cells[i].number)
			       : dbexport_set_other(t, i, columns[i].kind, &cells[i]);
	return code;
}

static PyObject *dbexport_call(struct table *t, size_t nr)
{
#ifdef HAVE_VECTORCALL
	return PyObject_Vectorcall(t->handler, t->args + 1, nr | PY_VECTORCALL_ARGUMENTS_OFFSET,
				   NULL);
#else
	PyObject *tuple = PyTuple_New((Py_ssize_t)nr), *result;

	for (size_t i = 0; tuple && i < nr; i++) {
		Py_INCREF(t->args[i + 1]);
		PyTuple_SetItem(tuple, (Py_ssize_t)i, t->args[i + 1]);
	}
	result = tuple ? PyObject_Call(t->handler, tuple, NULL) : NULL;
	Py_XDECREF(tuple);
	return result;
#endif
}

/* Returns -ECANCELED if an exception is set. */
static int dbexport_row(void *ctx, enum prelude_table table, const union prelude_cell *cells,
			size_t nr)
{
	struct dbexport *d = ctx;
	struct table *t = &d->tables[table];
	PyObject *result = NULL;

	if (!dbexport_set_args(d->run->v, t, table, cells, nr))
		result = dbexport_call(t, nr);
	Py_XDECREF(result);
	return result ? 0 : -ECANCELED;
}

/* Returns the result of a prelude_db_*() call, with an exception set if it is negative. */
static int dbexport_result_of(struct dbexport *d, int code)
{
	if (code < 0 && !PyErr_Occurred())
		module_error(d->run->m, code);
	return code < 0 ? -1 : code;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

/* Returns 1 if a name of the script has a true value, else 0; -1 with an exception. */
static int dbexport_is_true(struct python_run *r, const char *name)
{
	PyObject *key = PyUnicode_InternFromString(name);
	PyObject *value = key ? PyDict_GetItemWithError(r->main, key) : NULL;
	int yes = value ? PyObject_IsTrue(value) : PyErr_Occurred() ? -1 : 0;

	Py_XDECREF(key);
	return yes;
}

static int dbexport_fetch_handlers(struct dbexport *d, uint32_t *ret_tables)
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

static int dbexport_start(struct dbexport *d)
{
	struct prelude_db_options opts = { .row = dbexport_row, .ctx = d };
	int calls = dbexport_is_true(d->run, "perf_db_export_calls");
	int callchains = calls < 0 ? -1 : dbexport_is_true(d->run, "perf_db_export_callchains");

	if (callchains < 0 || dbexport_fetch_handlers(d, &opts.tables) < 0)
		return -1;
	opts.calls = calls;
	opts.callchains = callchains;
	if (dbexport_result_of(d, prelude_db_new(&d->db, d->run->base.s, &opts)) < 0)
		return -1;
	return dbexport_result_of(d, prelude_db_begin(d->db));
}

struct dbexport *dbexport_begin(struct python_run *r)
{
	struct dbexport *d;

	if (dbexport_is_true(r, "perf_db_export_mode") <= 0)
		return NULL;
	d = calloc(1, sizeof(*d));
	if (!d)
		return (struct dbexport *)PyErr_NoMemory();
	d->run = r;
	if (dbexport_start(d) < 0) {
		dbexport_free(d);
		return NULL;
	}
	return d;
}

int dbexport_event(struct dbexport *d, const struct sonde_event *ev)
{
	return dbexport_result_of(d, prelude_db_event(d->db, ev));
}

int dbexport_end(struct dbexport *d)
{
	return dbexport_result_of(d, prelude_db_end(d->db));
}
