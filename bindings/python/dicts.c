/* SPDX-License-Identifier: MIT */
/*
 * The dicts and lists of perf's contract, for a run's current event, keys in perf's order; perf_sample_dict is sample.c's:
 *
 *	trace_unhandled's fields    {common_cpu, common_s, ..., every field}
 *	common_callchain            [{ip, sym: {...}, sym_off, sym_srcline, dso}, ...]
 *
 * Dicts begin as copies of a template per event type, so that only what changes is put in.
 */
#include "fastdict.h"
#include "keys.h"

#include <string.h>

void keys_free(struct keys *k)
{
	PyObject **all = (PyObject **)k;

	for (size_t i = 0; k && i < sizeof(*k) / sizeof(*all); i++)
		Py_XDECREF(all[i]);
	free(k);
}

struct keys *keys_new(void)
{
	struct keys *k = calloc(1, sizeof(*k));

	if (!k)
		return (struct keys *)PyErr_NoMemory();
#define K(key)                                     \
	k->key = PyUnicode_InternFromString(#key); \
	if (!k->key)                               \
		goto fail;
	KEYS(K)
#undef K
	for (size_t i = 0; i < PRELUDE_DICT_KEYS; i++)
		if (!(k->dict[i] = PyUnicode_InternFromString(prelude_dict_keys[i].name)))
			goto fail;
	for (size_t i = 0; i < PRELUDE_SAMPLE_KEYS; i++)
		if (!(k->sample[i] = PyUnicode_InternFromString(prelude_sample_keys[i].name)))
			goto fail;
	return k;
fail:
	keys_free(k);
	return NULL;
}

/* ---- call chains ------------------------------------------------------------------------------------------------- */

static int put_symbol(struct run *r, PyObject *node, const struct sonde_location *loc)
{
	struct keys *k = r->keys;
	PyObject *sym = PyDict_New();

	if (!sym)
		return -1;
	if (dict_take(sym, k->start, u64_object(loc->sym_start)) < 0 ||
	    dict_take(sym, k->end, u64_object(loc->sym_end)) < 0 ||
	    dict_take(sym, k->binding, PyLong_FromUnsignedLong(loc->sym_binding)) < 0 ||
	    dict_take(sym, k->name, values_name(r->v, loc->sym)) < 0) {
		Py_DECREF(sym);
		return -1;
	}
	if (dict_take(node, k->sym, sym) < 0)
		return -1;
	return loc->dso ? dict_take(node, k->sym_off, u64_object(loc->sym_off)) : 0;
}

/* "file.c:12", of frames that functions inlined were looked for in. */
static int put_source_line(struct run *r, PyObject *node, const struct sonde_frame *f)
{
	const char *slash = strrchr(f->file, '/');

	return dict_take(node, r->keys->sym_srcline,
			 PyUnicode_FromFormat("%s:%u", slash ? slash + 1 : f->file, f->line));
}

PyObject *list_callchain(struct run *r)
{
	const struct sonde_frame *frames = NULL;
	int nr = r->ev_slot->has_callchain ? sonde_event_callchain(r->ev, &frames) : 0;
	PyObject *list = PyList_New(nr > 0 ? nr : 0);

	for (int i = 0; list && i < nr; i++) {
		struct sonde_location loc = prelude_locate(r->ev, frames[i].ip, frames[i].cpumode);
		PyObject *node = PyDict_New();

		if (loc.sym && frames[i].sym)
			loc.sym = frames[i].sym; /* of a function inlined there */
		if (!node || dict_take(node, r->keys->ip, u64_object(frames[i].ip)) < 0 ||
		    (loc.sym && put_symbol(r, node, &loc) < 0) ||
		    (loc.sym && frames[i].file && put_source_line(r, node, &frames[i]) < 0) ||
		    (loc.dso && dict_take(node, r->keys->dso, values_name(r->v, loc.dso)) < 0)) {
			Py_XDECREF(node);
			Py_CLEAR(list);
			break;
		}
		PyList_SetItem(list, i, node);
	}
	return list;
}

/* ---- trace_unhandled's dict -------------------------------------------------------------------------------------- */

static PyObject *fields_template(struct run *r, struct slot *slot)
{
	struct keys *k = r->keys;
	PyObject *keys[] = { k->common_cpu, k->common_s, k->common_ns, k->common_pid,
			     k->common_comm };
	PyObject *d = PyDict_New();

	for (size_t i = 0; d && i < sizeof(keys) / sizeof(*keys); i++)
		if (PyDict_SetItem(d, keys[i], Py_None) < 0)
			Py_CLEAR(d);
	if (d && dict_take(d, k->common_callchain, PyList_New(0)) < 0)
		Py_CLEAR(d);
	for (size_t i = 0; d && i < slot->nr_fields; i++)
		if (PyDict_SetItem(d, slot->keys[i], Py_None) < 0)
			Py_CLEAR(d);
	return d;
}

PyObject *dict_fields(struct run *r)
{
	const struct sonde_event *ev = r->ev;
	struct slot *slot = r->ev_slot;
	struct keys *k = r->keys;
	struct filling f;

	if (!slot->fields && !(slot->fields = fields_template(r, slot)))
		return NULL;
	if (filling_begin(&f, slot->fields, &slot->kept_fields) < 0 ||
	    filling_put(&f, k->common_cpu, int_object(r->v, ev->cpu)) < 0 ||
	    filling_put(&f, k->common_s, values_secs(r->v, ev->time_ns / 1000000000)) < 0 ||
	    filling_put(&f, k->common_ns, PyLong_FromLong((long)(ev->time_ns % 1000000000))) < 0 ||
	    filling_put(&f, k->common_pid, field_object(r->v, &slot->pid, ev)) < 0 ||
	    filling_put(&f, k->common_comm, comm_object(r->v, ev->comm)) < 0 ||
	    filling_put(&f, k->common_callchain, list_callchain(r)) < 0)
		return NULL;
	for (size_t i = 0; i < slot->nr_fields; i++)
		if (filling_put(&f, slot->keys[i], field_object(r->v, &slot->convs[i], ev)) < 0)
			return NULL;
	return filling_end(&f, &slot->kept_fields);
}

void dict_fields_done(struct slot *slot, PyObject *dict)
{
	kept_dict_put(&slot->kept_fields, dict);
}
