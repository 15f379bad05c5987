/* SPDX-License-Identifier: MIT */
/*
 * The dicts and lists of perf's contract, for a run's current event, keys in perf's order:
 *
 *	trace_unhandled's fields    {common_cpu, common_s, ..., every field}
 *	perf_sample_dict            {ev_name, attr, sample: {...}, raw_buf, comm, dso ..., callchain, ...}
 *	common_callchain            [{ip, sym: {...}, sym_off, sym_srcline, dso}, ...]
 *
 * Dicts begin as copies of a template per event type, so that only what changes is put in.
 */
#include "fastdict.h"

#include <linux/perf_event.h>
#include <string.h>

/* clang-format off */
#define KEYS(K)                                                                                    \
	K(ev_name) K(attr) K(sample) K(raw_buf) K(comm) K(dso) K(dso_bid) K(dso_map_start) K(dso_map_end) K(symbol) \
	K(symoff) K(callchain) K(brstack) K(brstacksym) K(iregs) K(uregs)                          \
	K(pid) K(tid) K(cpu) K(ip) K(time) K(period) K(phys_addr) K(addr) K(time_enabled) K(time_running) K(values) \
	K(weight) K(transaction) K(datasrc) K(datasrc_decode) K(cpumode) K(id) K(stream_id) K(ins_lat) \
	K(sym) K(sym_off) K(sym_srcline) K(start) K(end) K(binding) K(name)                                       \
	K(from) K(to) K(mispred) K(predicted) K(in_tx) K(abort) K(cycles) K(from_dsoname) K(to_dsoname) K(pred) \
	K(common_cpu) K(common_s) K(common_ns) K(common_pid) K(common_comm) K(common_callchain)
/* clang-format on */

struct keys {
#define K(name) PyObject *name;
	KEYS(K)
#undef K
};

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
	return k;
fail:
	keys_free(k);
	return NULL;
}

/* ---- call chains and addresses ----------------------------------------------------------------------------------- */

static struct sonde_location locate(struct run *r, uint64_t addr, uint32_t cpumode)
{
	struct sonde_location loc = { .size = sizeof(loc) };

	if (sonde_event_locate(r->ev, addr, cpumode, &loc) < 0)
		loc = (struct sonde_location){ .size = sizeof(loc) };
	return loc;
}

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
		struct sonde_location loc = locate(r, frames[i].ip, frames[i].cpumode);
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
	if (filling_begin(&f, slot->fields, &slot->kept_fields, 0, 1) < 0 ||
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
	return filling_end(&f, &slot->kept_fields, 0);
}

/* ---- perf_sample_dict -------------------------------------------------------------------------------------------- */

/*
 * One (id, value, lost) per counter read. perf 6.1 leaves a hole where no lost count was read, which kills the script that
 * looks at it: 0 for everyone.
 */
static PyObject *values_list(struct run *r, const struct sonde_sample *s)
{
	PyObject *list = PyList_New((Py_ssize_t)(s->nr_reads ? s->nr_reads : 1));

	if (!list)
		return NULL;
	if (!s->nr_reads) {
		Py_INCREF(r->no_values);
		PyList_SetItem(list, 0, r->no_values);
		return list;
	}
	for (size_t i = 0; i < s->nr_reads; i++) {
		const struct sonde_read_value *v = &s->reads[i];
		PyObject *t = Py_BuildValue(
			"(KKK)", (unsigned long long)v->id, (unsigned long long)v->value,
			(unsigned long long)(s->read_format & PERF_FORMAT_LOST ? v->lost : 0));

		if (!t) {
			Py_DECREF(list);
			return NULL;
		}
		PyList_SetItem(list, (Py_ssize_t)i, t);
	}
	return list;
}

/* Values that hold for most samples of an event type are in the template. */
static PyObject *sample_template(struct run *r, const struct sonde_sample *s)
{
	struct keys *k = r->keys;
	PyObject *d = PyDict_New(), *list = PyList_New(0);
	PyObject *zero = PyLong_FromLong(0), *no_id = PyLong_FromUnsignedLongLong(UINT64_MAX);
	bool later = r->compat == SONDE_COMPAT_PERF_6_12;
	struct {
		PyObject *key, *value;
		bool absent;
	} items[] = {
		{ k->id, no_id, !later },
		{ k->stream_id, no_id, !later },
		{ k->pid, Py_None, false },
		{ k->tid, Py_None, false },
		{ k->cpu, Py_None, false },
		{ k->ip, zero, false },
		{ k->time, Py_None, false },
		{ k->period, Py_None, false },
		{ k->phys_addr, zero, false },
		{ k->addr, zero, false },
		{ k->time_enabled, zero, !(s->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) },
		{ k->time_running, zero, !(s->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) },
		{ k->values, list, false },
		{ k->weight, zero, false },
		{ k->ins_lat, zero, !later },
		{ k->transaction, zero, false },
		{ k->datasrc, Py_None, false },
		{ k->datasrc_decode, Py_None, false },
		{ k->cpumode, Py_None, false },
	};

	for (size_t i = 0; d && i < sizeof(items) / sizeof(*items); i++)
		if (!items[i].absent &&
		    (!items[i].value || PyDict_SetItem(d, items[i].key, items[i].value) < 0))
			Py_CLEAR(d);
	if (d && !(s->present & PERF_SAMPLE_DATA_SRC)) {
		char text[100];

		prelude_data_src_text(PRELUDE_NO_DATA_SRC, text, sizeof(text));
		if (dict_take(d, k->datasrc, PyLong_FromUnsignedLongLong(PRELUDE_NO_DATA_SRC)) <
			    0 ||
		    dict_take(d, k->datasrc_decode, PyUnicode_FromString(text)) < 0)
			Py_CLEAR(d);
	}
	Py_XDECREF(list);
	Py_XDECREF(zero);
	Py_XDECREF(no_id);
	return d;
}

static int put_data_src(struct run *r, struct filling *f, uint64_t data_src)
{
	char text[100];
	size_t len = prelude_data_src_text(data_src, text, sizeof(text));

	if (filling_put(f, r->keys->datasrc, u64_object(data_src)) < 0)
		return -1;
	return filling_put(f, r->keys->datasrc_decode, text_object(text, len));
}

/* In the order of sample_template(). */
static PyObject *sample_values(struct run *r, const struct sonde_sample *s)
{
	const struct sonde_event *ev = r->ev;
	struct slot *slot = r->ev_slot;
	struct keys *k = r->keys;
	struct filling f;

	if (!slot->sample && !(slot->sample = sample_template(r, s)))
		return NULL;
	if (filling_begin(&f, slot->sample, &slot->kept_sample, s->present, 2) < 0)
		return NULL;
	if (r->compat == SONDE_COMPAT_PERF_6_12) {
		if ((s->present & (PERF_SAMPLE_ID | PERF_SAMPLE_IDENTIFIER)) &&
		    filling_put(&f, k->id, u64_object(s->id)) < 0)
			return NULL;
		if ((s->present & PERF_SAMPLE_STREAM_ID) &&
		    filling_put(&f, k->stream_id, u64_object(s->stream_id)) < 0)
			return NULL;
	}
	if (filling_put(&f, k->pid, int_object(r->v, (uint32_t)ev->pid)) < 0 ||
	    filling_put(&f, k->tid, int_object(r->v, (uint32_t)ev->tid)) < 0 ||
	    filling_put(&f, k->cpu, int_object(r->v, (uint32_t)ev->cpu)) < 0 ||
	    filling_put(&f, k->ip, u64_object(s->ip)) < 0 ||
	    filling_put(&f, k->time, u64_object(ev->time_ns)) < 0 ||
	    filling_put(&f, k->period, u64_object(s->period)) < 0 ||
	    ((s->present & PERF_SAMPLE_PHYS_ADDR) &&
	     filling_put(&f, k->phys_addr, u64_object(s->phys_addr)) < 0) ||
	    ((s->present & PERF_SAMPLE_ADDR) &&
	     filling_put(&f, k->addr, u64_object(s->addr)) < 0) ||
	    ((s->read_format & PERF_FORMAT_TOTAL_TIME_ENABLED) &&
	     filling_put(&f, k->time_enabled, u64_object(s->time_enabled_ns)) < 0) ||
	    ((s->read_format & PERF_FORMAT_TOTAL_TIME_RUNNING) &&
	     filling_put(&f, k->time_running, u64_object(s->time_running_ns)) < 0) ||
	    filling_put(&f, k->values, values_list(r, s)) < 0 ||
	    ((s->present & PERF_SAMPLE_WEIGHT_TYPE) &&
	     filling_put(&f, k->weight, u64_object(s->weight)) < 0) ||
	    ((s->present & PERF_SAMPLE_TRANSACTION) &&
	     filling_put(&f, k->transaction, u64_object(s->transaction)) < 0) ||
	    ((s->present & PERF_SAMPLE_DATA_SRC) && put_data_src(r, &f, s->data_src) < 0) ||
	    filling_put(&f, k->cpumode, PyLong_FromLong((long)ev->cpumode)) < 0)
		return NULL;
	return filling_end(&f, &slot->kept_sample, s->present);
}

/* perf_branch_entry.flags: mispred:1 predicted:1 in_tx:1 abort:1 cycles:16 ... */
enum { BRANCH_MISPRED = 1, BRANCH_PREDICTED = 2, BRANCH_IN_TX = 4, BRANCH_ABORT = 8 };

static PyObject *branch_dso(struct run *r, uint64_t addr)
{
	struct sonde_location loc = locate(r, addr, r->ev->cpumode);

	return loc.dso ? values_name(r->v, loc.dso) : PyUnicode_FromString("[unknown]");
}

static PyObject *branch_sym(struct run *r, uint64_t addr)
{
	struct sonde_location loc = locate(r, addr, r->ev->cpumode);
	char off[24];

	if (!loc.sym)
		return PyUnicode_FromString("[unknown]");
	PyOS_snprintf(off, sizeof(off), "+0x%llx", (unsigned long long)loc.sym_off);
	return PyUnicode_FromFormat("%s%s", loc.sym, off);
}

static PyObject *branch(struct run *r, const struct sonde_branch *b)
{
	struct keys *k = r->keys;
	PyObject *d = PyDict_New();

	if (d && (dict_take(d, k->from, u64_object(b->from)) < 0 ||
		  dict_take(d, k->to, u64_object(b->to)) < 0 ||
		  dict_take(d, k->mispred, PyBool_FromLong(b->flags & BRANCH_MISPRED)) < 0 ||
		  dict_take(d, k->predicted, PyBool_FromLong(b->flags & BRANCH_PREDICTED)) < 0 ||
		  dict_take(d, k->in_tx, PyBool_FromLong(b->flags & BRANCH_IN_TX)) < 0 ||
		  dict_take(d, k->abort, PyBool_FromLong(b->flags & BRANCH_ABORT)) < 0 ||
		  dict_take(d, k->cycles, PyLong_FromLong((long)(b->flags >> 4 & 0xffff))) < 0 ||
		  dict_take(d, k->from_dsoname, branch_dso(r, b->from)) < 0 ||
		  dict_take(d, k->to_dsoname, branch_dso(r, b->to)) < 0))
		Py_CLEAR(d);
	return d;
}

static PyObject *branch_with_symbols(struct run *r, const struct sonde_branch *b)
{
	const char *pred = b->flags & BRANCH_MISPRED     ? "M"
			   : b->flags & BRANCH_PREDICTED ? "P"
							 : "-";
	struct keys *k = r->keys;
	PyObject *d = PyDict_New();

	if (d &&
	    (dict_take(d, k->from, branch_sym(r, b->from)) < 0 ||
	     dict_take(d, k->to, branch_sym(r, b->to)) < 0 ||
	     dict_take(d, k->pred, PyUnicode_FromString(pred)) < 0 ||
	     dict_take(d, k->in_tx, PyUnicode_FromString(b->flags & BRANCH_IN_TX ? "X" : "-")) <
		     0 ||
	     dict_take(d, k->abort, PyUnicode_FromString(b->flags & BRANCH_ABORT ? "A" : "-")) < 0))
		Py_CLEAR(d);
	return d;
}

static PyObject *branches(struct run *r, const struct sonde_sample *s,
			  PyObject *(*make)(struct run *, const struct sonde_branch *))
{
	PyObject *list = PyList_New((Py_ssize_t)s->nr_branches);

	for (uint64_t i = 0; list && i < s->nr_branches; i++) {
		PyObject *item = make(r, &s->branches[i]);

		if (!item) {
			Py_CLEAR(list);
			break;
		}
		PyList_SetItem(list, (Py_ssize_t)i, item);
	}
	return list;
}

static const char no_text[] = "";

/* perf 6.1 gives both register texts the room of the first: 28 bytes a register that was sampled in the kernel. */
static PyObject *registers(struct run *r, uint64_t abi, uint64_t mask, const uint64_t *regs,
			   uint64_t intr_mask)
{
	char buf[64 * 28 + 1];
	size_t room = sizeof(buf), len;
	const char *arch;

	if (!mask)
		return values_name(r->v, no_text);
	arch = sonde_session_info(r->s, "arch");
	if (r->compat == SONDE_COMPAT_PERF_6_1)
		room = (size_t)__builtin_popcountll(intr_mask) * 28;
	if (!room)
		return values_name(r->v, no_text);
	len = prelude_regs_text(arch ? arch : "", abi, mask, regs, buf, room);
	return text_object(buf, len < room ? len : room - 1);
}

/* struct perf_event_attr as perf holds it: of perf's own size, the rest zero. */
static PyObject *attr_bytes(const struct sonde_schema *sc)
{
	char attr[128] = { 0 };
	size_t len = 0;
	const void *bytes = sonde_schema_attr(sc, &len);

	if (bytes)
		memcpy(attr, bytes, len < sizeof(attr) ? len : sizeof(attr));
	return PyBytes_FromStringAndSize(attr, bytes ? (Py_ssize_t)sizeof(attr) : 0);
}

static int slot_constants(struct slot *slot)
{
	if (!slot->attr)
		slot->attr = attr_bytes(slot->sc);
	if (!slot->ev_name)
		slot->ev_name = PyUnicode_InternFromString(sonde_schema_name(slot->sc));
	return slot->attr && slot->ev_name ? 0 : -1;
}

enum { HAS_DSO = 1, HAS_SYMBOL = 2 }; /* which of the four templates */

/* All keys of perf_sample_dict; those that are alike for all samples of the event type have their values. */
static PyObject *sample_dict_template(struct run *r, struct slot *slot, unsigned int has)
{
	struct keys *k = r->keys;
	PyObject *d = PyDict_New(), *list = PyList_New(0);
	struct {
		PyObject *key, *value;
		bool absent;
	} items[] = {
		{ k->ev_name, slot->ev_name, false },
		{ k->attr, slot->attr, false },
		{ k->sample, Py_None, false },
		{ k->raw_buf, Py_None, false },
		{ k->comm, Py_None, false },
		{ k->dso, Py_None, !(has & HAS_DSO) },
		{ k->dso_bid, Py_None, !(has & HAS_DSO) },
		{ k->dso_map_start, Py_None, !(has & HAS_DSO) },
		{ k->dso_map_end, Py_None, !(has & HAS_DSO) },
		{ k->symbol, Py_None, !(has & HAS_SYMBOL) },
		{ k->symoff, Py_None, !(has & HAS_SYMBOL) },
		{ k->callchain, list, false },
		{ k->brstack, Py_None, false },
		{ k->brstacksym, Py_None, false },
		{ k->iregs, Py_None, false },
		{ k->uregs, Py_None, false },
	};

	for (size_t i = 0; d && i < sizeof(items) / sizeof(*items); i++)
		if (!items[i].absent &&
		    (!items[i].value || PyDict_SetItem(d, items[i].key, items[i].value) < 0))
			Py_CLEAR(d);
	Py_XDECREF(list);
	return d;
}

PyObject *dict_sample(struct run *r)
{
	const struct sonde_event *ev = r->ev;
	struct slot *slot = r->ev_slot;
	struct keys *k = r->keys;
	struct sonde_sample s = { .size = sizeof(s) };
	struct sonde_location loc = { 0 };
	struct filling f;
	unsigned int has;
	int code = sonde_event_sample(ev, &s);

	if (code < 0)
		return module_error(r->m, code);
	if (slot_constants(slot) < 0)
		return NULL;
	if (s.present & PERF_SAMPLE_IP)
		loc = locate(r, s.ip, ev->cpumode);
	has = (loc.dso ? HAS_DSO : 0) | (loc.sym ? HAS_SYMBOL : 0);
	if (!slot->sample_dict[has] &&
	    !(slot->sample_dict[has] = sample_dict_template(r, slot, has)))
		return NULL;
	if (filling_begin(&f, slot->sample_dict[has], &slot->kept_sample_dict, has, 1) < 0 ||
	    filling_put(&f, k->sample, sample_values(r, &s)) < 0 ||
	    filling_put(&f, k->raw_buf,
			PyBytes_FromStringAndSize((const char *)ev->bytes,
						  ev->bytes ? (Py_ssize_t)ev->bytes_len : 0)) < 0 ||
	    filling_put(&f, k->comm, comm_object(r->v, ev->comm)) < 0)
		return NULL;
	if (loc.dso && (filling_put(&f, k->dso, values_name(r->v, loc.dso)) < 0 ||
			filling_put(&f, k->dso_bid, values_name(r->v, loc.dso_build_id)) < 0 ||
			filling_put(&f, k->dso_map_start, u64_object(loc.map_start)) < 0 ||
			filling_put(&f, k->dso_map_end, u64_object(loc.map_end)) < 0))
		return NULL;
	if (loc.sym && (filling_put(&f, k->symbol, values_name(r->v, loc.sym)) < 0 ||
			filling_put(&f, k->symoff, u64_object(loc.sym_off)) < 0))
		return NULL;
	if (filling_put(&f, k->callchain, list_callchain(r)) < 0 ||
	    filling_put(&f, k->brstack, branches(r, &s, branch)) < 0 ||
	    filling_put(&f, k->brstacksym, branches(r, &s, branch_with_symbols)) < 0 ||
	    filling_put(&f, k->iregs,
			registers(r, s.intr_regs_abi, s.intr_regs_mask, s.intr_regs,
				  s.intr_regs_mask)) < 0 ||
	    filling_put(&f, k->uregs,
			registers(r, s.user_regs_abi, s.user_regs_mask, s.user_regs,
				  s.intr_regs_mask)) < 0)
		return NULL;
	return filling_end(&f, &slot->kept_sample_dict, has);
}

void dict_fields_done(struct slot *slot, PyObject *dict)
{
	if (kept_dict_may(&slot->kept_fields, dict))
		slot->kept_fields.dict = dict;
	else
		Py_DECREF(dict);
}

/* The inner dict serves again only inside the outer one: it is held by that and by us, twice in all. */
void dict_sample_done(struct run *r, struct slot *slot, PyObject *dict)
{
	PyObject *inner;

	if (!kept_dict_may(&slot->kept_sample_dict, dict)) {
		Py_DECREF(dict);
		return;
	}
	slot->kept_sample_dict.dict = dict;
	inner = PyDict_GetItemWithError(dict, r->keys->sample);
	if (inner && kept_dict_may(&slot->kept_sample, inner)) {
		Py_INCREF(inner);
		slot->kept_sample.dict = inner;
	}
}
