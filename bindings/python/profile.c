/* SPDX-License-Identifier: MIT */
#include "profile.h"

#include <string.h>

static int profile_put(PyObject *dict, const char *key, PyObject *take_value)
{
	int r = take_value ? PyDict_SetItemString(dict, key, take_value) : -1;

	Py_XDECREF(take_value);
	return r;
}

static int profile_put_number(PyObject *dict, const char *key, uint64_t v)
{
	return profile_put(dict, key, PyLong_FromUnsignedLongLong(v));
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

static PyObject *profile_row(const struct sonde_profile *p, uint32_t table, const char *event,
			     uint64_t row, const struct sonde_profile_row *r)
{
	PyObject *dict = PyDict_New();

	if (dict && profile_put_text(dict, "event", event) >= 0 &&
	    profile_put_number(dict, "samples", r->samples) >= 0 &&
	    profile_put_number(dict, "period", r->period) >= 0 &&
	    profile_put_number(dict, "children_samples", r->children_samples) >= 0 &&
	    profile_put_number(dict, "children_period", r->children_period) >= 0 &&
	    profile_put_keys(dict, p, table, row) >= 0)
		return dict;
	Py_XDECREF(dict);
	return NULL;
}

static int profile_add_table(PyObject *list, const struct sonde_profile *p, uint32_t table,
			     const char *event)
{
	struct sonde_profile_row r = { .size = sizeof(r) };

	for (uint64_t i = 0; sonde_profile_row(p, table, i, &r) > 0; i++) {
		PyObject *row = profile_row(p, table, event, i, &r);
		int failed = !row || PyList_Append(list, row) < 0;

		Py_XDECREF(row);
		if (failed)
			return -1;
	}
	return 0;
}

static PyObject *profile_list(const struct sonde_profile *p)
{
	struct sonde_profile_table t = { .size = sizeof(t) };
	PyObject *list = PyList_New(0);

	for (uint32_t i = 0; list && sonde_profile_table(p, i, &t) > 0; i++) {
		if (profile_add_table(list, p, i, t.name) < 0)
			Py_CLEAR(list);
	}
	return list;
}

PyObject *profile_rows(struct py_session *s, const char *settings)
{
	struct sonde_profile *p;
	PyObject *rows = NULL;
	int r;

	if (session_check(s) < 0 || session_keep_lent(s) < 0)
		return NULL;
	r = sonde_profile_new(&p, settings, "profile()");
	if (r < 0)
		return module_error(s->m, r);
	s->busy = true;
	Py_BEGIN_ALLOW_THREADS
	r = sonde_profile_read(p, s->s);
	if (r >= 0)
		r = sonde_profile_finish(p);
	Py_END_ALLOW_THREADS
	s->busy = false;
	if (!PyErr_CheckSignals())
		rows = r < 0 ? module_error(s->m, r) : profile_list(p);
	sonde_profile_free(p);
	return rows;
}
