/* SPDX-License-Identifier: MIT */
/*
 * perf_sample_dict, which process_event gets as its param_dict, for the current event of a run:
 *
 *	{ev_name, attr, sample: {pid, tid, ...}, raw_buf, comm, dso ..., callchain, ...}
 *
 * The tables of prelude's sample.h define the keys and their order. Samples of one event type
 * have different shapes, depending on which of their addresses are known. Each shape has template
 * dicts, whose copies are filled.
 */
#include "fastdict.h"

#include "sample.h"

#include <linux/perf_event.h>

#include "dicts.h"
#include "keys.h"

/* One dict in one shape. */
struct shape_dict {
	PyObject *template; /* has all keys; values that are equal in all samples are set */
	struct {
		const struct prelude_key *key;
		PyObject *name; /* borrowed from the keys of the script's run */
	} varying[PRELUDE_SAMPLE_KEYS];
	size_t nr_varying;
	struct kept_dict kept;
};

struct shape {
	struct shape *next;
	uint64_t present;
	unsigned int has;
	struct shape_dict dict, sample;
};

static void sample_shape_free(struct shape *sh)
{
	Py_XDECREF(sh->dict.template);
	Py_XDECREF(sh->dict.kept.dict);
	Py_XDECREF(sh->sample.template);
	Py_XDECREF(sh->sample.kept.dict);
	free(sh);
}

void shapes_free(struct slot *slot)
{
	while (slot->shapes) {
		struct shape *sh = slot->shapes;

		slot->shapes = sh->next;
		sample_shape_free(sh);
	}
}

/* ---- lists and texts ------------------------------------------------------------------------- */

static PyObject *sample_values_list(struct python_run *r, const struct prelude_sample *s)
{
	size_t nr = prelude_nr_values(s);
	PyObject *list = PyList_New((Py_ssize_t)nr);

	for (size_t i = 0; list && i < nr; i++) {
		struct sonde_read_value v = prelude_value(s, i);
		PyObject *t = r->no_values;

		if (s->s.nr_reads)
			t = Py_BuildValue("(KKK)", (unsigned long long)v.id,
					  (unsigned long long)v.value, (unsigned long long)v.lost);
		else
			Py_INCREF(t);
		if (!t) {
			Py_CLEAR(list);
			break;
		}
		PyList_SetItem(list, (Py_ssize_t)i, t);
	}
	return list;
}

static PyObject *sample_branch(struct python_run *r, const struct prelude_branch *b)
{
	struct keys *k = r->keys;
	PyObject *d = PyDict_New();

	if (d && (dict_take(d, k->from, u64_object(b->from)) < 0 ||
		  dict_take(d, k->to, u64_object(b->to)) < 0 ||
		  dict_take(d, k->mispred, PyBool_FromLong(b->mispred)) < 0 ||
		  dict_take(d, k->predicted, PyBool_FromLong(b->predicted)) < 0 ||
		  dict_take(d, k->in_tx, PyBool_FromLong(b->in_tx)) < 0 ||
		  dict_take(d, k->abort, PyBool_FromLong(b->abort)) < 0 ||
		  dict_take(d, k->cycles, PyLong_FromLong((long)b->cycles)) < 0 ||
		  dict_take(d, k->from_dsoname,
			    values_name(r->v, prelude_branch_dso(r->base.ev, b->from))) < 0 ||
		  dict_take(d, k->to_dsoname,
			    values_name(r->v, prelude_branch_dso(r->base.ev, b->to))) < 0))
		Py_CLEAR(d);
	return d;
}

static PyObject *sample_branch_symbol(struct python_run *r, uint64_t addr)
{
	char text[PRELUDE_BRANCH_TEXT];

	prelude_branch_symbol(r->base.ev, addr, text);
	return text_object(text, strlen(text));
}

static PyObject *sample_branch_in_words(struct python_run *r, const struct prelude_branch *b)
{
	struct keys *k = r->keys;
	PyObject *d = PyDict_New();

	if (d && (dict_take(d, k->from, sample_branch_symbol(r, b->from)) < 0 ||
		  dict_take(d, k->to, sample_branch_symbol(r, b->to)) < 0 ||
		  dict_take(d, k->pred, PyUnicode_FromString(prelude_branch_prediction(b))) < 0 ||
		  dict_take(d, k->in_tx, PyUnicode_FromString(b->in_tx ? "X" : "-")) < 0 ||
		  dict_take(d, k->abort, PyUnicode_FromString(b->abort ? "A" : "-")) < 0))
		Py_CLEAR(d);
	return d;
}

static PyObject *sample_branches(struct python_run *r, const struct sonde_sample *s,
				 PyObject *(*make)(struct python_run *,
						   const struct prelude_branch *))
{
	PyObject *list = PyList_New((Py_ssize_t)s->nr_branches);

	for (uint64_t i = 0; list && i < s->nr_branches; i++) {
		struct prelude_branch b = prelude_branch(&s->branches[i]);
		PyObject *item = make(r, &b);

		if (!item) {
			Py_CLEAR(list);
			break;
		}
		PyList_SetItem(list, (Py_ssize_t)i, item);
	}
	return list;
}

static PyObject *sample_registers(const struct prelude_sample *s, bool user)
{
	char text[PRELUDE_REGS_TEXT];

	return text_object(text, prelude_regs_text(s, user, text));
}

static PyObject *sample_data_source(const struct prelude_sample *s)
{
	char text[PRELUDE_DATA_SRC_TEXT];

	return text_object(text, prelude_data_src_text(s, text));
}

static PyObject *sample_attr_bytes(struct python_run *r)
{
	size_t len = 0;
	const void *attr = sonde_schema_attr(r->ev_slot->base.sc, &len);
	size_t size = attr ? prelude_attr_size(r->base.rules, len) : 0;
	PyObject *o = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
	char *to = o ? PyBytes_AsString(o) : NULL;

	if (to && size) {
		memset(to, 0, size);
		memcpy(to, attr, len < size ? len : size);
	}
	return o;
}

/* ---- the two dicts --------------------------------------------------------------------------- */

static PyObject *sample_values(struct python_run *r, struct shape *sh);

static PyObject *sample_special(struct python_run *r, struct shape *sh, enum prelude_item item)
{
	const struct prelude_sample *s = &r->sample;
	const struct sonde_event *ev = r->base.ev;

	switch (item) {
	case ITEM_EV_NAME:
		return name_object(sonde_schema_name(r->ev_slot->base.sc));
	case ITEM_ATTR:
		return sample_attr_bytes(r);
	case ITEM_SAMPLE:
		return sample_values(r, sh);
	case ITEM_RAW_BUF:
		return PyBytes_FromStringAndSize((const char *)ev->bytes,
						 ev->bytes ? (Py_ssize_t)ev->bytes_len : 0);
	case ITEM_COMM:
		return comm_object(r->v, ev->comm);
	case ITEM_CALLCHAIN:
		return list_callchain(r);
	case ITEM_BRSTACK:
		return sample_branches(r, &s->s, sample_branch);
	case ITEM_BRSTACKSYM:
		return sample_branches(r, &s->s, sample_branch_in_words);
	case ITEM_IREGS:
		return sample_registers(s, false);
	case ITEM_UREGS:
		return sample_registers(s, true);
	case ITEM_VALUES:
		return sample_values_list(r, s);
	case ITEM_DATASRC_DECODE:
		return sample_data_source(s);
	case ITEM_USER_STACK:
		return PyBytes_FromStringAndSize((const char *)s->s.user_stack,
						 (Py_ssize_t)s->s.user_stack_len);
	default:
		PyErr_Format(PyExc_SystemError, "no value for item %d of a sample's dict",
			     (int)item);
		return NULL;
	}
}

static PyObject *sample_value(struct python_run *r, struct shape *sh, const struct prelude_key *k)
{
	switch (k->form) {
	case FORM_NUMBER:
		return u64_object(prelude_number(&r->sample, k->item));
	case FORM_TASK:
		return int_object(r->v, (int64_t)prelude_number(&r->sample, k->item));
	case FORM_NAME:
		return values_name(r->v, prelude_name(&r->sample, k->item));
	case FORM_TRUE:
		Py_RETURN_TRUE;
	case FORM_SPECIAL:
		break;
	}
	return sample_special(r, sh, k->item);
}

static int sample_shape_dict_init(struct python_run *r, struct shape *sh, struct shape_dict *d,
				  const struct prelude_key *keys, PyObject *const *names)
{
	PyObject *tracked = PyList_New(0); /* a template must contain a list or dict (fastdict.h) */
	int code = tracked ? 0 : -1;

	d->template = PyDict_New();
	for (size_t i = 0; d->template && !code && keys[i].name; i++) {
		const struct prelude_key *k = &keys[i];

		if (!prelude_key_there(k, &r->ev_slot->sampled, sh->present, sh->has))
			continue;
		if (prelude_key_varies(k, sh->present)) {
			d->varying[d->nr_varying].key = k;
			d->varying[d->nr_varying++].name = names[i];
			code = PyDict_SetItem(d->template, names[i], tracked);
		} else {
			code = dict_take(d->template, names[i], sample_value(r, sh, k));
		}
	}
	Py_XDECREF(tracked);
	return d->template ? code : -1;
}

/* The shape of the current sample. */
static struct shape *sample_shape_get(struct python_run *r)
{
	struct slot *slot = r->ev_slot;
	uint64_t present = r->sample.s.present;
	unsigned int has = r->sample.has;
	struct shape **at, *sh;

	for (at = &slot->shapes; (sh = *at) && (sh->present != present || sh->has != has);)
		at = &sh->next;
	if (!sh) {
		sh = calloc(1, sizeof(*sh));
		if (!sh)
			return (struct shape *)PyErr_NoMemory();
		sh->present = present;
		sh->has = has;
		if (sample_shape_dict_init(r, sh, &sh->dict, prelude_dict_keys, r->keys->dict) <
			    0 ||
		    sample_shape_dict_init(r, sh, &sh->sample, prelude_sample_keys,
					   r->keys->sample) < 0) {
			sample_shape_free(sh);
			return NULL;
		}
	} else {
		*at = sh->next;
	}
	sh->next = slot->shapes;
	slot->shapes = sh;
	return sh;
}

static PyObject *sample_fill(struct python_run *r, struct shape *sh, struct shape_dict *d)
{
	struct filling f;

	if (filling_begin(&f, d->template, &d->kept) < 0)
		return NULL;
	for (size_t i = 0; i < d->nr_varying; i++)
		if (filling_put(&f, d->varying[i].name, sample_value(r, sh, d->varying[i].key)) < 0)
			return NULL;
	return filling_end(&f, &d->kept);
}

static PyObject *sample_values(struct python_run *r, struct shape *sh)
{
	return sample_fill(r, sh, &sh->sample);
}

/* Reads the event's sample unless it was read before; -1 with an exception. */
static int sample_read_values(struct python_run *r)
{
	if (!r->sample_read) {
		int code = prelude_sample_read(&r->sample, &r->ev_slot->sampled, r->base.ev);

		if (code < 0) {
			module_error(r->m, code);
			return -1;
		}
		r->sample_read = true;
	}
	return 0;
}

static struct shape *sample_of_run(struct python_run *r)
{
	if (sample_read_values(r) < 0)
		return NULL;
	if (!r->sample_located) {
		prelude_sample_locate(&r->sample);
		r->sample_located = true;
	}
	return sample_shape_get(r);
}

PyObject *dict_sample(struct python_run *r)
{
	struct shape *sh = sample_of_run(r);

	return sh ? sample_fill(r, sh, &sh->dict) : NULL;
}

PyObject *dict_sample_values(struct python_run *r)
{
	struct shape *sh = sample_of_run(r);

	return sh ? sample_values(r, sh) : NULL;
}

void dict_sample_values_done(struct slot *slot, PyObject *dict)
{
	kept_dict_put(&slot->shapes->sample.kept, dict);
}

/* ---- single values --------------------------------------------------------------------------- */

bool dict_sample_by_key(const struct slot *slot)
{
	return prelude_sampled_reads(&slot->sampled);
}

/* True for items that do not need the event's sample to be read. */
static bool sample_is_of_event(enum prelude_item item)
{
	return item == ITEM_PID || item == ITEM_TID || item == ITEM_CPU || item == ITEM_TIME ||
	       item == ITEM_CPUMODE;
}

PyObject *dict_sample_value(struct python_run *r, PyObject *key, bool of_values)
{
	const struct prelude_key *k = of_values ? prelude_sample_keys : prelude_dict_keys;
	PyObject *const *name = of_values ? r->keys->sample : r->keys->dict;
	const struct prelude_sampled *sampled = &r->ev_slot->sampled;
	struct shape *sh = NULL;

	for (; k->name; k++, name++)
		if (*name == key && prelude_key_is_shown(k, sampled))
			break;
	if (!k->name)
		return NULL;
	if (of_values && sample_is_of_event(k->item)) {
		r->sample.sampled = sampled;
		r->sample.ev = r->base.ev;
	} else if (k->needs || k->item == ITEM_SAMPLE) {
		sh = sample_of_run(r);
		if (!sh)
			return NULL;
	} else if (sample_read_values(r) < 0) {
		return NULL;
	}
	if (!prelude_key_there(k, sampled, sampled->sample_type, sh ? r->sample.has : 0))
		return NULL;
	return sample_value(r, sh, k);
}

/*
 * The inner dict is reused only inside the outer one. It then has two references: that of the outer
 * dict, and ours.
 */
void dict_sample_done(struct python_run *r, struct slot *slot, PyObject *dict)
{
	struct shape *sh = slot->shapes;
	PyObject *inner;

	if (!kept_dict_put(&sh->dict.kept, dict))
		return;
	inner = PyDict_GetItemWithError(dict, r->keys->dict[ITEM_SAMPLE]);
	if (inner)
		kept_dict_put_inner(&sh->sample.kept, inner);
	if (slot->base.has_callchain)
		chain_done(dict, r->keys->dict[ITEM_CALLCHAIN]);
}
