/* SPDX-License-Identifier: MIT */
/* The type Profile: the rows of a profile, its call trees, sums and differences. */
#include "profile.h"

#include <stdio.h>
#include <string.h>

#include "sonde/sonde.h"

struct py_profile {
	PyObject_HEAD
	PyObject *module;        /* owned */
	struct sonde_profile *p; /* owned; finished */
	char *settings;          /* owned */
	PyObject *rows;          /* owned: a list */
	bool is_difference;
};

/* ---- rows ------------------------------------------------------------------------------------ */

static int profile_put(PyObject *dict, const char *key, PyObject *take_value)
{
	int r = take_value ? PyDict_SetItemString(dict, key, take_value) : -1;

	Py_XDECREF(take_value);
	return r;
}

static int profile_put_sum(PyObject *dict, const struct py_profile *o, const char *key, uint64_t v)
{
	return profile_put(dict, key,
			   o->is_difference ? PyLong_FromLongLong((long long)v)
					    : PyLong_FromUnsignedLongLong(v));
}

static int profile_put_text(PyObject *dict, const char *key, const char *text)
{
	return profile_put(dict, key, text_object(text, strlen(text)));
}

static int profile_put_keys(PyObject *dict, const struct sonde_profile *p, uint32_t table,
			    uint64_t row)
{
	struct sonde_profile_value v = { .size = sizeof(v) };
	const char *name;

	for (uint32_t k = 0; (name = sonde_profile_column(p, k, NULL, NULL)); k++) {
		if (sonde_profile_value(p, table, row, k, &v) > 0 &&
		    profile_put_text(dict, name, v.text) < 0)
			return -1;
	}
	return 0;
}

static PyObject *profile_row(const struct py_profile *o, uint32_t table, const char *event,
			     uint64_t row, const struct sonde_profile_row *r)
{
	PyObject *dict = PyDict_New();

	if (dict && profile_put_text(dict, "event", event) >= 0 &&
	    profile_put_sum(dict, o, "samples", r->samples) >= 0 &&
	    profile_put_sum(dict, o, "period", r->period) >= 0 &&
	    profile_put_sum(dict, o, "children_samples", r->children_samples) >= 0 &&
	    profile_put_sum(dict, o, "children_period", r->children_period) >= 0 &&
	    profile_put_keys(dict, o->p, table, row) >= 0)
		return dict;
	Py_XDECREF(dict);
	return NULL;
}

/* Appends an object to a list and drops the reference. */
static int profile_append(PyObject *list, PyObject *take_item)
{
	int r = take_item ? PyList_Append(list, take_item) : -1;

	Py_XDECREF(take_item);
	return r;
}

static int profile_add_table(PyObject *list, const struct py_profile *o, uint32_t table,
			     const char *event)
{
	struct sonde_profile_row r = { .size = sizeof(r) };

	for (uint64_t i = 0; sonde_profile_row(o->p, table, i, &r) > 0; i++) {
		if (profile_append(list, profile_row(o, table, event, i, &r)) < 0)
			return -1;
	}
	return 0;
}

static PyObject *profile_list(const struct py_profile *o)
{
	struct sonde_profile_table t = { .size = sizeof(t) };
	PyObject *list = PyList_New(0);

	for (uint32_t i = 0; list && sonde_profile_table(o->p, i, &t) > 0; i++) {
		if (profile_add_table(list, o, i, t.name) < 0)
			Py_CLEAR(list);
	}
	return list;
}

/* ---- making ---------------------------------------------------------------------------------- */

static void profile_dealloc(struct py_profile *o)
{
	PyTypeObject *type = Py_TYPE((PyObject *)o);

	sonde_profile_free(o->p);
	free(o->settings);
	Py_XDECREF(o->rows);
	Py_XDECREF(o->module);
	PyObject_Free(o);
	Py_DECREF(type);
}

/* An empty profile. Its sums are not shown before profile_complete(). */
static struct py_profile *profile_create(PyObject *module, const char *settings)
{
	struct module_state *m = PyModule_GetState(module);
	struct py_profile *o = PyObject_New(struct py_profile, m->profile);
	int r;

	if (!o)
		return NULL;
	memset((char *)o + sizeof(PyObject), 0, sizeof(*o) - sizeof(PyObject));
	Py_INCREF(module);
	o->module = module;
	o->settings = strdup(settings);
	if (!o->settings) {
		Py_DECREF((PyObject *)o);
		PyErr_NoMemory();
		return NULL;
	}
	r = sonde_profile_new(&o->p, settings, "profile()");
	if (r < 0) {
		Py_DECREF((PyObject *)o);
		module_error(m, r);
		return NULL;
	}
	return o;
}

/* Makes the rows if the profile was filled without an error. Takes the reference. */
static PyObject *profile_complete(struct py_profile *o, int r)
{
	struct sonde_profile_facts facts = { .size = sizeof(facts) };

	if (r < 0) {
		module_error(PyModule_GetState(o->module), r);
	} else {
		sonde_profile_facts(o->p, &facts);
		o->is_difference = facts.flags & SONDE_PROFILE_DIFFERENCE;
		o->rows = profile_list(o);
	}
	if (o->rows)
		return (PyObject *)o;
	Py_DECREF((PyObject *)o);
	return NULL;
}

PyObject *profile_of_session(PyObject *module, struct py_session *s, const char *settings)
{
	struct py_profile *o;
	int r;

	if (session_check(s) < 0 || session_keep_lent(s) < 0)
		return NULL;
	o = profile_create(module, settings);
	if (!o)
		return NULL;
	s->busy = true;
	Py_BEGIN_ALLOW_THREADS
	r = sonde_profile_read(o->p, s->s);
	if (r >= 0)
		r = sonde_profile_finish(o->p);
	Py_END_ALLOW_THREADS
	s->busy = false;
	if (!PyErr_CheckSignals())
		return profile_complete(o, r);
	Py_DECREF((PyObject *)o);
	return NULL;
}

static PyObject *profile_with(struct py_profile *o, PyObject *other, bool subtract)
{
	struct py_profile *more = (struct py_profile *)other, *sum;
	int r;

	if (Py_TYPE(other) != Py_TYPE((PyObject *)o))
		return PyErr_Format(PyExc_TypeError, "a Profile is needed");
	sum = profile_create(o->module, o->settings);
	if (!sum)
		return NULL;
	r = sonde_profile_merge(sum->p, o->p);
	if (r >= 0)
		r = subtract ? sonde_profile_subtract(sum->p, more->p)
			     : sonde_profile_merge(sum->p, more->p);
	if (r >= 0)
		r = sonde_profile_finish(sum->p);
	return profile_complete(sum, r);
}

static PyObject *profile_merge(struct py_profile *o, PyObject *other)
{
	return profile_with(o, other, false);
}

static PyObject *profile_subtract(struct py_profile *o, PyObject *other)
{
	return profile_with(o, other, true);
}

/* ---- call trees ------------------------------------------------------------------------------ */

static PyObject *profile_frames(const struct py_profile *o, const struct sonde_profile_node *n)
{
	PyObject *list = PyList_New(0);

	for (uint32_t i = 0; list && i < n->nr_frames; i++) {
		struct sonde_profile_place at = { .size = sizeof(at) };
		char address[32];
		const char *name = address;

		sonde_profile_place(o->p, n->frames[i], &at);
		snprintf(address, sizeof(address), "0x%llx", (unsigned long long)at.ip);
		if (at.sym)
			name = at.sym;
		if (profile_append(list, text_object(name, strlen(name))) < 0)
			Py_CLEAR(list);
	}
	return list;
}

static PyObject *profile_nodes(const struct py_profile *o, uint32_t node);

static PyObject *profile_node(const struct py_profile *o, const struct sonde_profile_node *n)
{
	PyObject *dict = PyDict_New();

	if (dict && profile_put(dict, "frames", profile_frames(o, n)) >= 0 &&
	    profile_put_sum(dict, o, "samples", n->samples) >= 0 &&
	    profile_put_sum(dict, o, "period", n->period) >= 0 &&
	    profile_put_sum(dict, o, "hit_samples", n->hit_samples) >= 0 &&
	    profile_put_sum(dict, o, "hit_period", n->hit_period) >= 0 &&
	    profile_put(dict, "calls", profile_nodes(o, n->child)) >= 0)
		return dict;
	Py_XDECREF(dict);
	return NULL;
}

/* A list of a node and its siblings. */
static PyObject *profile_nodes(const struct py_profile *o, uint32_t node)
{
	struct sonde_profile_node n = { .size = sizeof(n) };
	PyObject *list = PyList_New(0);

	if (Py_EnterRecursiveCall(" in a call tree")) {
		Py_XDECREF(list);
		return NULL;
	}
	for (; list && node && sonde_profile_node(o->p, node, &n) > 0; node = n.next) {
		if (profile_append(list, profile_node(o, &n)) < 0)
			Py_CLEAR(list);
	}
	Py_LeaveRecursiveCall();
	return list;
}

static PyObject *profile_tree(struct py_profile *o, PyObject *arg)
{
	struct sonde_profile_table t = { .size = sizeof(t) };
	const Py_ssize_t nr = PyList_Size(o->rows);
	Py_ssize_t row = PyLong_AsSsize_t(arg);
	uint32_t table = 0, root;
	int r;

	if (row == -1 && PyErr_Occurred())
		return NULL;
	if (row < 0)
		row += nr;
	if (row < 0 || row >= nr)
		return PyErr_Format(PyExc_IndexError, "there are %zd rows", nr);
	while (sonde_profile_table(o->p, table, &t) > 0 && (uint64_t)row >= t.nr_rows) {
		row -= (Py_ssize_t)t.nr_rows;
		table++;
	}
	r = sonde_profile_tree(o->p, table, (uint64_t)row, &root);
	if (r < 0)
		return module_error(PyModule_GetState(o->module), r);
	return profile_nodes(o, r ? root : 0);
}

/* ---- a sequence of rows ---------------------------------------------------------------------- */

static Py_ssize_t profile_length(struct py_profile *o)
{
	return PyList_Size(o->rows);
}

static PyObject *profile_item(struct py_profile *o, PyObject *key)
{
	return PyObject_GetItem(o->rows, key);
}

static PyObject *profile_iter(struct py_profile *o)
{
	return PyObject_GetIter(o->rows);
}

static PyObject *profile_repr(struct py_profile *o)
{
	return PyUnicode_FromFormat("<sonde.Profile of %zd rows>", PyList_Size(o->rows));
}

static PyObject *profile_get_rows(struct py_profile *o, void *unused)
{
	(void)unused;
	Py_INCREF(o->rows);
	return o->rows;
}

static PyObject *profile_facts(struct py_profile *o, void *unused)
{
	struct sonde_profile_facts f = { .size = sizeof(f) };
	PyObject *dict = PyDict_New();

	(void)unused;
	sonde_profile_facts(o->p, &f);
	if (dict && profile_put_sum(dict, o, "samples", f.samples) >= 0 &&
	    profile_put_sum(dict, o, "unresolved_samples", f.unresolved_samples) >= 0 &&
	    profile_put(dict, "dropped_samples", PyLong_FromUnsignedLongLong(f.dropped_samples)) >=
		    0 &&
	    profile_put(dict, "hidden_samples", PyLong_FromUnsignedLongLong(f.hidden_samples)) >=
		    0 &&
	    profile_put(dict, "truncated_chains",
			PyLong_FromUnsignedLongLong(f.truncated_chains)) >= 0 &&
	    profile_put(dict, "is_difference", PyBool_FromLong(o->is_difference)) >= 0 &&
	    profile_put(dict, "is_saturated", PyBool_FromLong(f.flags & SONDE_PROFILE_SATURATED)) >=
		    0)
		return dict;
	Py_XDECREF(dict);
	return NULL;
}

static PyMethodDef methods[] = {
	{ "merge", (PyCFunction)profile_merge, METH_O,
	  "merge(other) -> Profile\n\nThe sums of both, which were made with equal settings. Rows "
	  "are the same if their texts are." },
	{ "subtract", (PyCFunction)profile_subtract, METH_O,
	  "subtract(base) -> Profile\n\nThe differences to another profile. Rows that only one of "
	  "them has are in it." },
	{ "tree", (PyCFunction)profile_tree, METH_O,
	  "tree(row) -> list of dicts\n\nThe call tree of the row at an index. A dict is a node: "
	  "frames, samples, period, those of paths that end there\n(hit_samples, hit_period), and "
	  "calls, the nodes below." },
	{ NULL }
};

static PyGetSetDef getset[] = {
	{ "rows", (getter)profile_get_rows, NULL, "list of dicts, one for each row", NULL },
	{ "facts", (getter)profile_facts, NULL,
	  "dict: samples, unresolved_samples, dropped_samples, hidden_samples, truncated_chains, "
	  "is_difference, is_saturated",
	  NULL },
	{ NULL }
};

PyTypeObject *profile_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_doc,
		  "Samples added up: a sequence of rows, which are dicts. Made by profile()." },
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_dealloc, profile_dealloc },
		{ Py_tp_methods, methods },
		{ Py_tp_getset, getset },
		{ Py_tp_iter, profile_iter },
		{ Py_tp_repr, profile_repr },
		{ Py_mp_length, profile_length },
		{ Py_mp_subscript, profile_item },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Profile", sizeof(struct py_profile), 0,
				    Py_TPFLAGS_DEFAULT, slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
