/* SPDX-License-Identifier: MIT */
/*
 * A plan: the arguments of one function for events of one type. It is made for the first event of
 * the type that the function gets, and used for each one. The arguments are in an array; only those
 * that change from event to event are made again.
 *
 *	stack:  | free | event_name | context | cpu | ... |      stack[0] belongs to the callee
 *	                                                         (bound methods use it)
 */
#include "plan.h"

#include <string.h>

#include "dicts.h"
#include "plan_keep.h"
#include "sample.h"
#include "signature.h"

enum fill_kind {
	FILL_CPU,
	FILL_SECS,
	FILL_NSECS,
	FILL_PID,
	FILL_COMM,
	FILL_CALLCHAIN,
	FILL_SAMPLE,
	FILL_FIELDS,
	FILL_FIELD,
	FILL_WORD, /* a field of four bytes */
	FILL_TASK  /* a task's name, 16 bytes */
};

struct fill {
	enum fill_kind kind;
	uint32_t at; /* index in stack */
	struct conv *conv;
};

/*
 * A number or name that often repeats. The argument stays in the stack together with the bytes that
 * it was made from, and is made again only if the bytes differ.
 */
struct steady {
	struct fill fill;
	bool valid; /* the argument was made from `last` */
	uint64_t last[2];
};

/* Like struct steady, for a field of four bytes in this machine's byte order. */
struct word {
	uint32_t at, offset;
	bool is_signed;
	uint64_t last; /* a value of more than 32 bits means none yet */
	struct conv *conv;
};

struct plan {
	struct plan_of of;
	struct plan *next;
	PyObject *defaults; /* owned: __defaults__, if the stack has values from it */
	PyObject *keywords; /* owned: names of the last arguments, NULL if all are positional */
	bool unhandled;
	size_t nr_defaults;
	size_t nr_args, nr_positional, nr_fills, nr_steady, nr_words, nr_keeps;
	struct fill *fills;
	struct steady *steady;
	struct word *words;
	PyObject *spare; /* owned; the nanoseconds of the previous event; NULL if none */
	uint32_t need;   /* number of payload bytes that contain these fields */
	struct plan_keep *keeps;
	PyObject **stack; /* 1 + nr_args */
};

#define MAX_PLANS 16

static void plan_free(struct plan *p)
{
	for (size_t i = 0; p->stack && i <= p->nr_args; i++)
		Py_XDECREF(p->stack[i]);
	free(p->stack);
	free(p->fills);
	free(p->steady);
	free(p->words);
	for (size_t i = 0; i < p->nr_keeps; i++)
		plan_keep_done(&p->keeps[i]);
	free(p->keeps);
	Py_XDECREF(p->spare);
	Py_XDECREF(p->of.func);
	Py_XDECREF(p->of.code);
	Py_XDECREF(p->defaults);
	Py_XDECREF(p->keywords);
	free(p);
}

void plan_free_all(struct slot *slot)
{
	while (slot->plans) {
		struct plan *p = slot->plans;

		slot->plans = p->next;
		plan_free(p);
	}
	slot->nr_plans = 0;
	slot->plan = NULL;
	slot->func = NULL;
	slot->looked_up = false;
}

#ifdef Py_LIMITED_API
bool plan_holds(const struct python_run *r, const struct plan *p)
{
	PyObject *code;
	bool same;

	if (!p->of.code)
		return true; /* not a Python function */
	code = PyObject_GetAttr(p->of.func, r->code_word);
	if (!code)
		PyErr_Clear();
	same = code == p->of.code;
	Py_XDECREF(code);
	return same;
}
#endif

bool plan_unhandled(const struct plan *p)
{
	return p->unhandled;
}

/*
 * Returns how the function uses an argument of that kind: enum reading, or -1 with an exception. An
 * argument is omitted only if the function cannot notice that, and read by key only if the complete
 * dict would give the same value. The launcher's helper decides this; in doubt its answer is
 * READ_AT_ONCE.
 */
static int plan_how_read(struct python_run *r, struct slot *slot, enum lazy_kind kind,
			 PyObject *func, const struct signature *sig, size_t param)
{
	PyObject *answer;
	int how;

	if (r->eager || r->eager_now || !sig->callee.has_names || param == SIZE_MAX)
		return READ_AT_ONCE;
	/* without a name it is in *args */
	answer = PyObject_CallFunction(r->how_read, "Oz", func,
				       param < sig->callee.nr_names ? sig->names[param] : NULL);
	how = answer ? (int)PyLong_AsLong(answer) : -1;
	Py_XDECREF(answer);
	if (how <= READ_NEVER)
		return PyErr_Occurred() ? -1 : how;
	if (kind == LAZY_FIELDS ? dict_fields_by_key(r, slot)
				: kind == LAZY_SAMPLE && dict_sample_by_key(slot))
		return how;
	return READ_AT_ONCE;
}

/* Adds a fill, as a steady one if its kind allows that. */
static void plan_fill(struct plan *p, struct fill f)
{
	if (f.conv && (f.conv->kind == CONV_U32 || f.conv->kind == CONV_S32))
		f.kind = FILL_WORD;
	else if (f.conv && f.conv->kind == CONV_COMM)
		f.kind = FILL_TASK;
	if (f.conv && (f.kind == FILL_WORD || f.kind == FILL_TASK) &&
	    f.conv->offset + f.conv->width > p->need)
		p->need = f.conv->offset + f.conv->width;
	if (f.kind == FILL_WORD)
		p->words[p->nr_words++] = (struct word){
			.at = f.at,
			.offset = f.conv->offset,
			.is_signed = f.conv->kind == CONV_S32,
			.last = UINT64_MAX,
			.conv = f.conv,
		};
	else if (f.kind == FILL_TASK || f.kind == FILL_CPU || f.kind == FILL_SECS ||
		 f.kind == FILL_COMM)
		p->steady[p->nr_steady++] = (struct steady){ .fill = f };
	else
		p->fills[p->nr_fills++] = f;
}

/*
 * The default value of the i-th parameter, borrowed. None if there is none because the function was
 * changed since.
 */
static PyObject *plan_default_value(struct plan *p, const struct signature *sig, size_t i)
{
	const size_t nr = sig->callee.nr_names, first = nr - sig->callee.nr_defaults;

	if (!p->defaults)
		p->defaults = attribute_of(p->of.func, "__defaults__");
	if (!p->defaults || !PyTuple_Check(p->defaults) || i < first || i >= nr ||
	    (size_t)PyTuple_Size(p->defaults) != sig->callee.nr_defaults)
		return Py_None;
	return PyTuple_GetItem(p->defaults, (Py_ssize_t)(i - first));
}

/* Decides how the i-th argument is made: a constant in the stack, a fill, or a keep. */
static int plan_arg(struct python_run *r, struct slot *slot, struct plan *p,
		    const struct prelude_slot *s, size_t i, const struct signature *sig)
{
	static const enum fill_kind fills[] = { [PRELUDE_CPU] = FILL_CPU,
						[PRELUDE_SECS] = FILL_SECS,
						[PRELUDE_NSECS] = FILL_NSECS,
						[PRELUDE_PID] = FILL_PID,
						[PRELUDE_COMM] = FILL_COMM,
						[PRELUDE_CALLCHAIN] = FILL_CALLCHAIN,
						[PRELUDE_SAMPLE_DICT] = FILL_SAMPLE,
						[PRELUDE_FIELDS_DICT] = FILL_FIELDS,
						[PRELUDE_FIELD] = FILL_FIELD };
	PyObject *constant = s->arg == PRELUDE_EVENT_NAME ? slot->name
			     : s->arg == PRELUDE_CONTEXT  ? r->context
			     : s->arg == PRELUDE_NOTHING  ? Py_None
			     : s->arg == PRELUDE_DEFAULT  ? plan_default_value(p, sig, i)
							  : NULL;
	enum lazy_kind lazy = s->arg == PRELUDE_SAMPLE_DICT   ? LAZY_SAMPLE
			      : s->arg == PRELUDE_FIELDS_DICT ? LAZY_FIELDS
			      : s->arg == PRELUDE_CALLCHAIN   ? LAZY_CALLCHAIN
							      : 0;
	uint32_t at = (uint32_t)i + 1;
	int how;

	if (constant) {
		Py_INCREF(constant);
		p->stack[at] = constant;
		return 0;
	}
	if (lazy == LAZY_CALLCHAIN && !slot->base.has_callchain) {
		p->keeps[p->nr_keeps++] = (struct plan_keep){ .at = at };
		return 0;
	}
	how = lazy ? plan_how_read(r, slot, lazy, p->of.func, sig,
				   i < p->nr_positional ? i : SIZE_MAX)
		   : READ_AT_ONCE;
	if (how < 0)
		return -1;
	if (how)
		p->keeps[p->nr_keeps++] =
			(struct plan_keep){ .kind = lazy, .reading = how, .at = at };
	else
		plan_fill(p, (struct fill){ fills[s->arg], at,
					    s->arg == PRELUDE_PID     ? &slot->pid
					    : s->arg == PRELUDE_FIELD ? &slot->convs[s->field]
								      : NULL });
	return 0;
}

/* Returns the names of keyword arguments in the form that a call needs; NULL with an exception. */
static PyObject *plan_keyword_names(const struct prelude_bind *b)
{
	PyObject *names = PyTuple_New((Py_ssize_t)b->nr_keywords);

	for (size_t i = 0; names && i < b->nr_keywords; i++) {
		PyObject *name = PyUnicode_FromFormat("%s%s", b->keywords[i],
						      b->slots[b->nr + i].is_renamed ? "_" : "");

		if (name)
			PyUnicode_InternInPlace(&name);
		if (!name || PyTuple_SetItem(names, (Py_ssize_t)i, name) < 0)
			Py_CLEAR(names);
	}
	return names;
}

/*
 * Passes the misfits to the launcher. The launcher ends the script by an exception if one of them
 * requires that.
 */
static int plan_report_misfits(struct python_run *r, struct slot *slot, PyObject *func,
			       const struct prelude_bind *b)
{
	PyObject *texts, *done = NULL;
	bool ends = false;

	if (!b->nr_misfits)
		return 0;
	texts = PyList_New(0);
	for (size_t i = 0; texts && i < b->nr_misfits; i++) {
		char buf[1024];
		PyObject *text;

		prelude_misfit_text(&b->misfits[i], slot->base.sc, buf, sizeof(buf));
		text = text_object(buf, strlen(buf));
		if (!text || PyList_Append(texts, text) < 0)
			Py_CLEAR(texts);
		Py_XDECREF(text);
		ends = ends || b->misfits[i].ends;
	}
	if (texts)
		done = PyObject_CallFunction(r->misfits, "OOOi", func, slot->name, texts, ends);
	Py_XDECREF(texts);
	Py_XDECREF(done);
	return done ? 0 : -1;
}

static struct plan *plan_new(struct python_run *r, struct slot *slot, PyObject *func,
			     PyObject *code, bool unhandled)
{
	struct prelude_bind bind = { 0 };
	struct signature sig = { 0 };
	struct plan *p = calloc(1, sizeof(*p));

	if (!p)
		return (struct plan *)PyErr_NoMemory();
	Py_INCREF(func);
	Py_XINCREF(code);
	p->of.func = func;
	p->of.code = code;
	p->unhandled = unhandled;
	if (signature_init(&sig, func, code) < 0)
		goto fail;
	sig.callee.unhandled = unhandled;
	p->nr_defaults = sig.callee.nr_defaults;
	if (prelude_bind(slot->base.sc, &sig.callee, r->base.rules, &bind) < 0) {
		PyErr_NoMemory();
		goto fail;
	}
	if (plan_report_misfits(r, slot, func, &bind) < 0)
		goto fail;
	p->nr_positional = bind.nr;
	p->nr_args = bind.nr + bind.nr_keywords;
	p->stack = calloc(p->nr_args + 1, sizeof(*p->stack));
	p->fills = calloc(p->nr_args + 1, sizeof(*p->fills));
	p->steady = calloc(p->nr_args + 1, sizeof(*p->steady));
	p->words = calloc(p->nr_args + 1, sizeof(*p->words));
	p->keeps = calloc(p->nr_args + 1, sizeof(*p->keeps));
	if (!p->stack || !p->fills || !p->steady || !p->words || !p->keeps) {
		PyErr_NoMemory();
		goto fail;
	}
	if (bind.nr_keywords && !(p->keywords = plan_keyword_names(&bind)))
		goto fail;
	for (size_t i = 0; i < p->nr_args; i++)
		if (plan_arg(r, slot, p, &bind.slots[i], i, &sig) < 0)
			goto fail;
	prelude_bind_done(&bind);
	signature_done(&sig);
	return p;
fail:
	prelude_bind_done(&bind);
	signature_done(&sig);
	plan_free(p);
	return NULL;
}

static void plan_drop_oldest(struct slot *slot)
{
	struct plan **last = &slot->plans;

	if (slot->nr_plans < MAX_PLANS)
		return;
	while ((*last)->next)
		last = &(*last)->next;
	if (*last == slot->plan) {
		slot->plan = NULL;
		slot->func = NULL;
		slot->looked_up = false;
	}
	plan_free(*last);
	*last = NULL;
	slot->nr_plans--;
}

/*
 * A script may create its handler again for each event (a lambda), so functions with the same code
 * share a plan.
 */
static bool plan_fits(struct plan *p, PyObject *func, PyObject *code, bool unhandled)
{
	if (p->of.code != code || p->unhandled != unhandled)
		return false;
	if (p->of.func == func)
		return true;
	if (!code || p->defaults || Py_TYPE(func) != Py_TYPE(p->of.func) ||
	    signature_defaults(func) != p->nr_defaults)
		return false;
	Py_INCREF(func);
	Py_DECREF(p->of.func);
	p->of.func = func;
	return true;
}

struct plan *plan_get(struct python_run *r, struct slot *slot, PyObject *func, bool unhandled)
{
	PyObject *code = attribute_of(func, "__code__");
	struct plan *p;

	for (p = slot->plans; p; p = p->next)
		if (plan_fits(p, func, code, unhandled))
			break;
	if (!p) {
		plan_drop_oldest(slot);
		p = plan_new(r, slot, func, code, unhandled);
		if (p) {
			p->next = slot->plans;
			slot->plans = p;
			slot->nr_plans++;
		}
	}
	Py_XDECREF(code);
	return p;
}

static inline PyObject *plan_fill_value(struct python_run *r, struct slot *slot,
					const struct fill *f)
{
	const struct sonde_event *ev = r->base.ev;

	switch (f->kind) {
	case FILL_CPU:
		return int_object(r->v, ev->cpu);
	case FILL_SECS:
		return values_secs(r->v, ev->time_ns / 1000000000);
	case FILL_NSECS: /* plan_nsecs() */
		break;
	case FILL_PID: /* if common_pid is not a field of four bytes */
		return field_object(r->v, &slot->pid, ev);
	case FILL_COMM:
		return comm_object(r->v, ev->comm);
	case FILL_CALLCHAIN:
		return list_callchain(r);
	case FILL_SAMPLE:
		return dict_sample(r);
	case FILL_FIELDS:
		return dict_fields(r);
	case FILL_FIELD:
	case FILL_WORD:
	case FILL_TASK:
		return field_object(r->v, f->conv, ev);
	}
	return NULL;
}

/*
 * Stores the source bytes of the argument in ret. Returns false if they do not fit; the argument is
 * then made for each event.
 */
static inline bool plan_steady_source(const struct sonde_event *ev, const struct fill *f,
				      bool direct, uint64_t ret[2])
{
	ret[1] = 0;
	switch (f->kind) {
	case FILL_CPU:
		ret[0] = (uint32_t)ev->cpu;
		return true;
	case FILL_SECS:
		ret[0] = ev->time_ns / 1000000000;
		return true;
	case FILL_COMM:
		ret[0] = ev->comm;
		return true;
	/* A name that has become bytes is made for each event: bytearrays can be changed. */
	default:
		if (!direct || f->conv->kind != CONV_COMM)
			return false;
		memcpy(ret, ev->bytes + f->conv->offset, 16);
		return true;
	}
}

static inline int plan_fill_words(struct python_run *r, struct plan *p, bool direct)
{
	const struct sonde_event *ev = r->base.ev;
	const uint8_t *bytes = ev->bytes;

	for (struct word *w = p->words, *end = w + p->nr_words; w < end; w++) {
		PyObject **o = &p->stack[w->at], *value, *old = *o;
		uint32_t word;

		if (__builtin_expect(!direct, 0)) {
			w->last = UINT64_MAX;
			value = field_object(r->v, w->conv, ev);
		} else {
			memcpy(&word, bytes + w->offset, sizeof(word));
			if (word == w->last)
				continue;
			w->last = word;
			value = int_object(r->v,
					   w->is_signed ? (int64_t)(int32_t)word : (int64_t)word);
		}
		if (!value) {
			w->last = UINT64_MAX;
			return -1;
		}
		*o = value;
		Py_XDECREF(old);
	}
	return 0;
}

static inline int plan_fill_steady(struct python_run *r, struct slot *slot, struct plan *p)
{
	const struct sonde_event *ev = r->base.ev;
	bool direct = !(ev->flags & SONDE_EVENT_SWAPPED) && ev->bytes_len >= p->need;

	if (plan_fill_words(r, p, direct) < 0)
		return -1;
	for (struct steady *s = p->steady, *end = s + p->nr_steady; s < end; s++) {
		PyObject **o = &p->stack[s->fill.at], *value, *old = *o;
		uint64_t now[2] = { 0 };
		bool valid = plan_steady_source(ev, &s->fill, direct, now);

		if (valid && s->valid && now[0] == s->last[0] && now[1] == s->last[1])
			continue;
		value = plan_fill_value(r, slot, &s->fill);
		if (!value)
			return -1;
		s->valid = valid && !PyByteArray_CheckExact(value);
		s->last[0] = now[0];
		s->last[1] = now[1];
		*o = value;
		Py_XDECREF(old);
	}
	return 0;
}

/*
 * Building an object on demand costs more than building it before the call, so later calls build it
 * first.
 */
static __attribute__((noinline, cold)) void plan_give_up_keys(struct plan *p)
{
	for (size_t i = p->nr_keeps; i--;) {
		struct plan_keep *k = &p->keeps[i];

		if (!k->was_built)
			continue;
		p->fills[p->nr_fills++] = (struct fill){
			.kind = k->kind == LAZY_FIELDS ? FILL_FIELDS : FILL_SAMPLE,
			.at = k->at,
		};
		*k = p->keeps[--p->nr_keeps];
	}
}

static inline int plan_after_call(struct python_run *r, struct slot *slot, struct plan *p)
{
	bool built = false;
	int code = plan_keeps_release(p->keeps, p->nr_keeps, p->stack, &built);

	if (built)
		plan_give_up_keys(p);
	if (r->nr_read_keys)
		lazy_forget_read_keys(r, slot);
	return code;
}

#ifndef HAVE_VECTORCALL
static PyObject *plan_keyword_dict(const struct plan *p)
{
	PyObject *dict = PyDict_New();

	for (size_t i = p->nr_positional; dict && i < p->nr_args; i++)
		if (PyDict_SetItem(dict,
				   PyTuple_GetItem(p->keywords, (Py_ssize_t)(i - p->nr_positional)),
				   p->stack[i + 1]) < 0)
			Py_CLEAR(dict);
	return dict;
}
#endif

static PyObject *plan_make_call(struct plan *p)
{
#ifdef HAVE_VECTORCALL
	return PyObject_Vectorcall(p->of.func, p->stack + 1,
				   p->nr_positional | PY_VECTORCALL_ARGUMENTS_OFFSET, p->keywords);
#else
	PyObject *args = PyTuple_New((Py_ssize_t)p->nr_positional), *result, *keywords = NULL;

	if (!args)
		return NULL;
	for (size_t i = 0; i < p->nr_positional; i++) {
		Py_INCREF(p->stack[i + 1]);
		PyTuple_SetItem(args, (Py_ssize_t)i, p->stack[i + 1]);
	}
	if (p->keywords && !(keywords = plan_keyword_dict(p))) {
		Py_DECREF(args);
		return NULL;
	}
	result = PyObject_Call(p->of.func, args, keywords);
	Py_DECREF(args);
	Py_XDECREF(keywords);
	return result;
#endif
}

static inline PyObject *plan_nsecs(const struct python_run *r, struct plan *p)
{
	PyObject *spare = p->spare;

	p->spare = NULL;
	return int_from(spare, (int64_t)(r->base.ev->time_ns % 1000000000));
}

/*
 * Takes back the objects that the fills before `end` put into the stack. Some are reused for the
 * next event.
 */
static inline void plan_release_fills(struct python_run *r, struct slot *slot, struct plan *p,
				      const struct fill *end)
{
	for (const struct fill *f = end; f-- > p->fills;) {
		PyObject *o = p->stack[f->at];

		p->stack[f->at] = NULL;
		if (f->kind == FILL_FIELDS)
			dict_fields_done(r, slot, o);
		else if (f->kind == FILL_SAMPLE)
			dict_sample_done(r, slot, o);
		else if (f->kind == FILL_NSECS && !p->spare && int_may_serve(o))
			p->spare = o;
		else
			Py_DECREF(o);
	}
}

/*
 * Called after the call, or making its arguments, raised an exception: the traceback holds the
 * arguments.
 */
static __attribute__((noinline, cold)) int plan_after_failure(struct python_run *r,
							      struct slot *slot, struct plan *p)
{
	PyObject *type, *value, *tb;

	PyErr_Fetch(&type, &value, &tb);
	if (plan_after_call(r, slot, p) < 0)
		PyErr_Clear();
	PyErr_Restore(type, value, tb);
	return -1;
}

/*
 * Called if the fills before `end` succeeded and the next one failed. It is a separate function
 * because it almost never runs.
 */
static __attribute__((noinline, cold)) int plan_give_up(struct python_run *r, struct slot *slot,
							struct plan *p, const struct fill *end)
{
	plan_release_fills(r, slot, p, end);
	return plan_after_failure(r, slot, p);
}

int plan_args(struct python_run *r, struct slot *slot, struct plan *p)
{
	const struct fill *f = p->fills, *end = f + p->nr_fills;

	if (p->nr_words + p->nr_steady && plan_fill_steady(r, slot, p) < 0)
		return -1;
	for (; f < end; f++) {
		PyObject *value =
			f->kind == FILL_NSECS ? plan_nsecs(r, p) : plan_fill_value(r, slot, f);

		if (!value)
			break;
		p->stack[f->at] = value;
	}
	if (f == end && !plan_keeps_ready(r, p->keeps, p->nr_keeps, p->stack))
		return 0;
	return plan_give_up(r, slot, p, f);
}

int plan_call(struct python_run *r, struct slot *slot, struct plan *p)
{
	PyObject *result = plan_make_call(p);

	plan_release_fills(r, slot, p, p->fills + p->nr_fills);
	if (!result)
		return plan_after_failure(r, slot, p);
	Py_DECREF(result);
	return plan_after_call(r, slot, p);
}
