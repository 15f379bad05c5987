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

/*
 * The same frames come again and again. A node is a copy of one made before for the same address and the same answer;
 * scripts may write into both its dicts, so both are copied.
 */
#define NODES 2048

struct node {
	uint64_t ip;
	const char *name, *sym, *dso,
		*file; /* lent by the session: equal pointers are equal names */
	uint64_t sym_start, sym_end, sym_off;
	uint32_t line, binding;
	PyObject *dict, *sym_dict; /* owned; sym_dict NULL: no symbol */
};

void nodes_free(struct node *nodes)
{
	for (size_t i = 0; nodes && i < NODES; i++) {
		Py_XDECREF(nodes[i].dict);
		Py_XDECREF(nodes[i].sym_dict);
	}
	free(nodes);
}

/* "file.c:12", of frames that functions inlined were looked for in. */
static PyObject *source_line(const struct node *n)
{
	const char *slash = strrchr(n->file, '/');

	return PyUnicode_FromFormat("%s:%u", slash ? slash + 1 : n->file, n->line);
}

static int make_symbol(struct run *r, struct node *n)
{
	struct keys *k = r->keys;

	n->sym_dict = PyDict_New();
	if (!n->sym_dict || dict_take(n->sym_dict, k->start, u64_object(n->sym_start)) < 0 ||
	    dict_take(n->sym_dict, k->end, u64_object(n->sym_end)) < 0 ||
	    dict_take(n->sym_dict, k->binding, PyLong_FromUnsignedLong(n->binding)) < 0 ||
	    dict_take(n->sym_dict, k->name, values_name(r->v, n->name)) < 0 ||
	    PyDict_SetItem(n->dict, k->sym, n->sym_dict) < 0)
		return -1;
	if (n->dso && dict_take(n->dict, k->sym_off, u64_object(n->sym_off)) < 0)
		return -1;
	return n->file ? dict_take(n->dict, k->sym_srcline, source_line(n)) : 0;
}

static int make_node(struct run *r, struct node *n)
{
	n->dict = PyDict_New();
	if (!n->dict || dict_take(n->dict, r->keys->ip, u64_object(n->ip)) < 0 ||
	    (n->sym && make_symbol(r, n) < 0))
		return -1;
	return n->dso ? dict_take(n->dict, r->keys->dso, values_name(r->v, n->dso)) : 0;
}

static PyObject *copy_node(struct run *r, const struct node *n)
{
	PyObject *copy = PyDict_Copy(n->dict);

	if (copy && n->sym_dict && dict_take(copy, r->keys->sym, PyDict_Copy(n->sym_dict)) < 0)
		Py_CLEAR(copy);
	return copy;
}

static bool is_node_of(const struct node *a, const struct node *b)
{
	return a->dict && a->ip == b->ip && a->name == b->name && a->sym == b->sym &&
	       a->dso == b->dso && a->file == b->file && a->line == b->line &&
	       a->sym_start == b->sym_start && a->sym_end == b->sym_end &&
	       a->sym_off == b->sym_off && a->binding == b->binding;
}

static PyObject *frame_node(struct run *r, const struct sonde_frame *f)
{
	struct sonde_location loc = prelude_locate(r->ev, f->ip, f->cpumode);
	struct node wanted = { .ip = f->ip,
			       .name = f->sym ? f->sym : loc.sym, /* of a function inlined there */
			       .sym = loc.sym,
			       .dso = loc.dso,
			       .file = f->file,
			       .sym_start = loc.sym_start,
			       .sym_end = loc.sym_end,
			       .sym_off = loc.sym_off,
			       .line = f->line,
			       .binding = loc.sym_binding };
	struct node *n = &r->nodes[(f->ip * 0x9e3779b97f4a7c15ull) >> 53];

	if (!is_node_of(n, &wanted)) {
		Py_XDECREF(n->dict);
		Py_XDECREF(n->sym_dict);
		*n = wanted;
		if (make_node(r, n) < 0) {
			Py_CLEAR(n->dict);
			return NULL;
		}
	}
	return copy_node(r, n);
}

PyObject *list_callchain(struct run *r)
{
	const struct sonde_frame *frames = NULL;
	int nr = r->ev_slot->has_callchain ? sonde_event_callchain(r->ev, &frames) : 0;
	PyObject *list = PyList_New(nr > 0 ? nr : 0);

	if (nr > 0 && !r->nodes && !(r->nodes = calloc(NODES, sizeof(*r->nodes)))) {
		Py_XDECREF(list);
		return PyErr_NoMemory();
	}
	for (int i = 0; list && i < nr; i++) {
		PyObject *node = frame_node(r, &frames[i]);

		if (!node) {
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

int dict_keys_put(struct run *r, PyObject *dict)
{
	struct slot *slot = r->ev_slot;
	PyObject *key, *value;
	Py_ssize_t pos = 0;
	int code = 0;

	if (!slot->fields && !(slot->fields = fields_template(r, slot)))
		return -1;
	while (!code && PyDict_Next(slot->fields, &pos, &key, &value))
		code = PyDict_SetItem(dict, key, Py_None);
	return code;
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
