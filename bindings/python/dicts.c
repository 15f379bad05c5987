/* SPDX-License-Identifier: MIT */
/*
 * The dicts and lists of perf's contract for the current event of a run, with keys in perf's order.
 * perf_sample_dict is in sample.c.
 *
 *	trace_unhandled's fields    {common_cpu, common_s, ..., every field}
 *	common_callchain            [{ip, sym: {...}, sym_off, sym_srcline, dso}, ...]
 *
 * A dict begins as a copy of its event type's template; only the changing values are set.
 */
#include "fastdict.h"

#include "dicts.h"
#include "keys.h"

#include <string.h>

/* ---- call chains ----------------------------------------------------------------------------- */

/*
 * The same frames repeat. The objects made for a frame are a node, stored by the number of the
 * session's answer about its address. Scripts may write into both dicts of a frame, and a chain may
 * contain a frame several times. So each occurrence gets its own dicts: those of an earlier event
 * if nobody holds or changed them, otherwise copies.
 */
enum { NODES = 2048, KEPT_NODES = 8192 };

struct kept_node {
	PyObject *dict; /* owned */
	PyObject *sym;  /* the dict's "sym"; NULL if there is no symbol */
	uint64_t version, sym_version;
};

struct node {
	uint64_t answer, ip;
	uint64_t turn;          /* prelude_near_turn() of the answer */
	const char *sym, *file; /* members of struct sonde_frame */
	uint32_t line;
	/* owned; dict is NULL in an unused place, sym_dict if there is no symbol */
	PyObject *dict, *sym_dict;
	struct kept_node *kept; /* owned */
	size_t nr_kept, room_kept;
	size_t nr_used; /* number of kept dicts that event number `event` uses */
	uint64_t event;
};

static void dicts_node_done(struct node *n)
{
	Py_XDECREF(n->dict);
	Py_XDECREF(n->sym_dict);
	for (size_t i = 0; i < n->nr_kept; i++)
		Py_XDECREF(n->kept[i].dict);
	free(n->kept);
}

void nodes_free(struct node *nodes)
{
	for (size_t i = 0; nodes && i < NODES; i++)
		dicts_node_done(&nodes[i]);
	free(nodes);
}

/* "file.c:12", for frames that were searched for inlined functions. */
static PyObject *dicts_source_line(const struct node *n)
{
	const char *slash = strrchr(n->file, '/');

	return PyUnicode_FromFormat("%s:%u", slash ? slash + 1 : n->file, n->line);
}

static int dicts_make_symbol(struct python_run *r, struct node *n, const struct sonde_location *loc)
{
	const char *name = n->sym ? n->sym : loc->sym; /* n->sym names an inlined function */
	struct keys *k = r->keys;

	n->sym_dict = PyDict_New();
	if (!n->sym_dict || dict_take(n->sym_dict, k->start, u64_object(loc->sym_start)) < 0 ||
	    dict_take(n->sym_dict, k->end, u64_object(loc->sym_end)) < 0 ||
	    dict_take(n->sym_dict, k->binding, PyLong_FromUnsignedLong(loc->sym_binding)) < 0 ||
	    dict_take(n->sym_dict, k->name, values_name(r->v, name)) < 0 ||
	    PyDict_SetItem(n->dict, k->sym, n->sym_dict) < 0)
		return -1;
	if (loc->dso && dict_take(n->dict, k->sym_off, u64_object(loc->sym_off)) < 0)
		return -1;
	return n->file ? dict_take(n->dict, k->sym_srcline, dicts_source_line(n)) : 0;
}

static int dicts_make_node(struct python_run *r, struct node *n, const struct sonde_location *loc)
{
	n->dict = PyDict_New();
	if (!n->dict || dict_take(n->dict, r->keys->ip, u64_object(n->ip)) < 0 ||
	    (loc->sym && dicts_make_symbol(r, n, loc) < 0))
		return -1;
	return loc->dso ? dict_take(n->dict, r->keys->dso, values_name(r->v, loc->dso)) : 0;
}

static PyObject *dicts_copy_node(struct python_run *r, const struct node *n, PyObject **ret_sym)
{
	PyObject *copy = PyDict_Copy(n->dict);

	*ret_sym = copy && n->sym_dict ? PyDict_Copy(n->sym_dict) : NULL;
	if (copy && n->sym_dict && dict_take(copy, r->keys->sym, *ret_sym) < 0)
		Py_CLEAR(copy);
	return copy;
}

#ifdef DICT_STATE
static inline bool dicts_is_untouched(const struct kept_node *k)
{
	return k->dict && ONLY_MINE(k->dict) && DICT_STATE(k->dict) == k->version &&
	       (!k->sym || (ONLY_MINE(k->sym) && DICT_STATE(k->sym) == k->sym_version));
}

/* A place for one more element; NULL if there is none. */
static struct kept_node *dicts_keep_more(struct python_run *r, struct node *n)
{
	if (r->nr_kept_nodes >= KEPT_NODES)
		return NULL;
	if (n->nr_kept == n->room_kept) {
		size_t room = n->room_kept ? 2 * n->room_kept : 2;
		struct kept_node *v = realloc(n->kept, room * sizeof(*v));

		if (!v)
			return NULL;
		n->kept = v;
		n->room_kept = room;
	}
	r->nr_kept_nodes++;
	n->kept[n->nr_kept] = (struct kept_node){ 0 };
	return &n->kept[n->nr_kept++];
}

static inline PyObject *dicts_take_node(struct python_run *r, struct node *n)
{
	struct kept_node *k;
	PyObject *old, *copy, *sym;

	if (n->event != r->nr_events) {
		n->event = r->nr_events;
		n->nr_used = 0;
	}
	k = n->nr_used < n->nr_kept ? &n->kept[n->nr_used] : dicts_keep_more(r, n);
	if (!k)
		return dicts_copy_node(r, n, &sym);
	n->nr_used++;
	if (dicts_is_untouched(k)) {
		Py_INCREF(k->dict);
		return k->dict;
	}
	copy = dicts_copy_node(r, n, &sym);
	old = k->dict;
	*k = (struct kept_node){ .dict = copy, .sym = sym };
	if (copy) {
		Py_INCREF(copy);
		k->version = DICT_STATE(copy);
		k->sym_version = sym ? DICT_STATE(sym) : 0;
	}
	Py_XDECREF(old);
	return copy;
}
#else
static PyObject *dicts_take_node(struct python_run *r, struct node *n)
{
	PyObject *sym;

	return dicts_copy_node(r, n, &sym);
}
#endif

/* Makes dicts from the node's own ones; they are not kept. */
static PyObject *dicts_unkept_node(struct python_run *r, struct node n,
				   const struct sonde_location *loc)
{
	if (dicts_make_node(r, &n, loc) < 0)
		Py_CLEAR(n.dict);
	Py_XDECREF(n.sym_dict);
	return n.dict;
}

static inline bool dicts_is_node_of(const struct node *n, const struct sonde_frame *f)
{
	return n->ip == f->ip && n->sym == f->sym && n->file == f->file && n->line == f->line;
}

/* Returns the frame's kept node, whose dict is NULL after a failure. NULL if it cannot be kept. */
static struct node *dicts_kept_node(struct python_run *r, const struct sonde_frame *f,
				    const struct sonde_location *loc, bool is_nested)
{
	struct node *n = &r->nodes[(loc->answer + f->line) % NODES];

	if (!n->dict || n->answer != loc->answer || !dicts_is_node_of(n, f)) {
		struct node old = *n;

		if (!loc->answer || is_nested)
			return NULL;
		r->nr_kept_nodes -= old.nr_kept;
		*n = (struct node){
			.answer = loc->answer,
			.ip = f->ip,
			.sym = f->sym,
			.file = f->file,
			.line = f->line,
		};
		if (dicts_make_node(r, n, loc) < 0) {
			Py_CLEAR(n->dict);
			Py_CLEAR(n->sym_dict);
		}
		dicts_node_done(&old);
	}
	return n;
}

static inline PyObject *dicts_frame_node(struct python_run *r, const struct sonde_frame *f,
					 bool is_nested)
{
	const uint64_t turn = prelude_near_turn(&r->near, r->base.ev, f);
	struct node *n = r->near_nodes[prelude_near_place(f->ip)];

	if (!turn || !n || !n->dict || n->turn != turn || !dicts_is_node_of(n, f)) {
		const struct sonde_location *loc =
			sonde_event_located(r->base.ev, f->ip, f->cpumode);

		n = dicts_kept_node(r, f, loc, is_nested);
		if (!n)
			return dicts_unkept_node(r,
						 (struct node){
							 .ip = f->ip,
							 .sym = f->sym,
							 .file = f->file,
							 .line = f->line,
						 },
						 loc);
		n->turn = turn;
		r->near_nodes[prelude_near_place(f->ip)] = n;
	}
	if (!n->dict)
		return NULL;
	if (is_nested) {
		PyObject *sym;

		return dicts_copy_node(r, n, &sym);
	}
	return dicts_take_node(r, n);
}

static PyObject *dicts_fill_chain(struct python_run *r, const struct sonde_frame *frames, int nr)
{
	PyObject *list = PyList_New(nr);
	/*
	 * A garbage collection in this function may run script code that reads the same chain. That
	 * code must not use the kept dicts.
	 */
	bool is_nested = r->fills_chain;

	r->fills_chain = true;
	for (int i = 0; list && i < nr; i++) {
		PyObject *node = dicts_frame_node(r, &frames[i], is_nested);

		if (!node) {
			Py_CLEAR(list);
			break;
		}
		PyList_SetItem(list, i, node);
	}
	r->fills_chain = is_nested;
	return list;
}

static int dicts_begin_nodes(struct python_run *r)
{
	if (!r->nodes)
		r->nodes = calloc(NODES, sizeof(*r->nodes));
	if (!r->near_nodes)
		r->near_nodes = calloc(PRELUDE_NEAR_PLACES, sizeof(*r->near_nodes));
	return r->nodes && r->near_nodes ? 0 : -1;
}

PyObject *list_callchain(struct python_run *r)
{
	const struct sonde_frame *frames = NULL;
	int nr = r->ev_slot->base.has_callchain ? sonde_event_callchain(r->base.ev, &frames) : 0;

	if (nr > 0 && dicts_begin_nodes(r) < 0)
		return PyErr_NoMemory();
	prelude_near_begin(&r->near, r->base.ev);
	return dicts_fill_chain(r, frames, nr > 0 ? nr : 0);
}

void chain_done(PyObject *dict, PyObject *key)
{
	PyObject *list = PyDict_GetItemWithError(dict, key);

	if (list && PyList_CheckExact(list) && ONLY_MINE(list) && PyList_Size(list))
		PyList_SetSlice(list, 0, PyList_Size(list), NULL);
}

/* ---- trace_unhandled's dict ------------------------------------------------------------------ */

static PyObject *dicts_fields_template(struct python_run *r, struct slot *slot)
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

int dict_keys_put(struct python_run *r, PyObject *dict)
{
	struct slot *slot = r->ev_slot;
	PyObject *key, *value;
	Py_ssize_t pos = 0;
	int code = 0;

	if (!slot->fields && !(slot->fields = dicts_fields_template(r, slot)))
		return -1;
	while (!code && PyDict_Next(slot->fields, &pos, &key, &value))
		code = PyDict_SetItem(dict, key, Py_None);
	return code;
}

PyObject *dict_fields(struct python_run *r)
{
	const struct sonde_event *ev = r->base.ev;
	struct slot *slot = r->ev_slot;
	struct keys *k = r->keys;
	struct filling f;

	if (!slot->fields && !(slot->fields = dicts_fields_template(r, slot)))
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

/*
 * By perf's rule a field that was unprintable once is bytes from then on. The rule also applies to
 * values that nobody reads.
 */
bool dict_fields_by_key(const struct python_run *r, const struct slot *slot)
{
	for (size_t i = 0; r->base.rules->unprintable_stays_bytes && i < slot->nr_fields; i++)
		if (slot->convs[i].kind >= CONV_COMM && slot->convs[i].kind <= CONV_DYNAMIC_BYTES)
			return false;
	return true;
}

PyObject *dict_field(struct python_run *r, PyObject *key)
{
	const struct sonde_event *ev = r->base.ev;
	struct slot *slot = r->ev_slot;
	struct keys *k = r->keys;

	/* if two fields have one name, the dict has the last one */
	for (size_t i = slot->nr_fields; i--;)
		if (slot->keys[i] == key)
			return field_object(r->v, &slot->convs[i], ev);
	if (key == k->common_cpu)
		return int_object(r->v, ev->cpu);
	if (key == k->common_s)
		return values_secs(r->v, ev->time_ns / 1000000000);
	if (key == k->common_ns)
		return PyLong_FromLong((long)(ev->time_ns % 1000000000));
	if (key == k->common_pid)
		return field_object(r->v, &slot->pid, ev);
	if (key == k->common_comm)
		return comm_object(r->v, ev->comm);
	if (key == k->common_callchain)
		return list_callchain(r);
	return NULL;
}

void dict_fields_done(struct python_run *r, struct slot *slot, PyObject *dict)
{
	if (kept_dict_put(&slot->kept_fields, dict) && slot->base.has_callchain)
		chain_done(dict, r->keys->common_callchain);
}
