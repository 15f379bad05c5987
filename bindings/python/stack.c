/* SPDX-License-Identifier: MIT */
/*
 * Stack and Frame: a call chain as a sequence. A Stack owns its addresses and holds its event,
 * which answers what is at them at the event's time.
 */
#include "stack.h"

#include <string.h>

struct py_stack {
	PyObject_HEAD
	struct py_event *event;     /* owned */
	struct sonde_frame *frames; /* owned; texts are the session's */
	Py_ssize_t nr;
	Py_hash_t hash; /* -1 if not computed yet */
};

struct py_frame {
	PyObject_HEAD
	struct py_event *event; /* owned; the location of an address depends on the event's time */
	struct sonde_frame frame;
};

/* ---- what is at an address ----------------------------------------------------------------- */

static struct sonde_location stack_locate(struct py_event *e, const struct sonde_frame *f)
{
	struct sonde_location loc = { .size = sizeof(loc) };

	if (sonde_event_locate(e->ev, f->ip, f->cpumode, &loc) < 0)
		loc = (struct sonde_location){ .size = sizeof(loc) };
	return loc;
}

/* The name of a frame's function; NULL if unknown. */
static const char *stack_symbol(struct py_event *e, const struct sonde_frame *f)
{
	return f->sym ? f->sym : stack_locate(e, f).sym;
}

static PyObject *stack_text_or_none(const char *text)
{
	if (!text)
		Py_RETURN_NONE;
	return text_object(text, strlen(text));
}

/* ---- Frame ----------------------------------------------------------------------------------- */

static PyObject *stack_frame(struct py_event *e, const struct sonde_frame *frame)
{
	struct py_frame *f = PyObject_New(struct py_frame, e->session->m->frame);

	if (!f)
		return NULL;
	Py_INCREF((PyObject *)e);
	f->event = e;
	f->frame = *frame;
	return (PyObject *)f;
}

static void stack_frame_dealloc(struct py_frame *f)
{
	PyTypeObject *type = Py_TYPE((PyObject *)f);

	Py_XDECREF((PyObject *)f->event);
	PyObject_Free(f);
	Py_DECREF(type);
}

static PyObject *stack_frame_ip(struct py_frame *f, void *unused)
{
	(void)unused;
	return u64_object(f->frame.ip);
}

static PyObject *stack_frame_cpumode(struct py_frame *f, void *unused)
{
	(void)unused;
	return PyLong_FromUnsignedLong(f->frame.cpumode);
}

static PyObject *stack_frame_symbol(struct py_frame *f, void *unused)
{
	(void)unused;
	return session_check_event(f->event) < 0
		       ? NULL
		       : stack_text_or_none(stack_symbol(f->event, &f->frame));
}

static PyObject *stack_frame_offset(struct py_frame *f, void *unused)
{
	struct sonde_location loc;

	(void)unused;
	if (session_check_event(f->event) < 0)
		return NULL;
	loc = stack_locate(f->event, &f->frame);
	if (!loc.sym || (f->frame.flags & SONDE_FRAME_INLINED))
		Py_RETURN_NONE;
	return u64_object(loc.sym_off);
}

static PyObject *stack_frame_dso(struct py_frame *f, void *unused)
{
	(void)unused;
	return session_check_event(f->event) < 0
		       ? NULL
		       : stack_text_or_none(stack_locate(f->event, &f->frame).dso);
}

/* (file, line) */
static PyObject *stack_frame_srcline(struct py_frame *f, void *unused)
{
	struct sonde_code code = { .size = sizeof(code) };
	const char *file = f->frame.file;
	uint32_t line = f->frame.line;

	(void)unused;
	if (session_check_event(f->event) < 0)
		return NULL;
	if (!file && sonde_event_code(f->event->ev, f->frame.ip, f->frame.cpumode, SONDE_CODE_LINE,
				      &code) >= 0) {
		file = code.file;
		line = code.line;
	}
	if (!file)
		Py_RETURN_NONE;
	return Py_BuildValue("(Nk)", text_object(file, strlen(file)), (unsigned long)line);
}

static PyObject *stack_frame_inlined(struct py_frame *f, void *unused)
{
	(void)unused;
	return PyBool_FromLong(f->frame.flags & SONDE_FRAME_INLINED);
}

static PyObject *stack_frame_repr(struct py_frame *f)
{
	struct sonde_location loc;
	const char *sym;
	char ip[24];

	if (session_check_event(f->event) < 0)
		return NULL;
	loc = stack_locate(f->event, &f->frame);
	sym = f->frame.sym ? f->frame.sym : loc.sym;
	PyOS_snprintf(ip, sizeof(ip), "0x%llx", (unsigned long long)f->frame.ip);
	return PyUnicode_FromFormat("<sonde.Frame %s %s (%s)>", ip, sym ? sym : "[unknown]",
				    loc.dso ? loc.dso : "[unknown]");
}

static PyGetSetDef stack_frame_getset[] = {
	{ "ip", (getter)stack_frame_ip, NULL,
	  "int: the address in memory; of callers, where the call returns to", NULL },
	{ "cpumode", (getter)stack_frame_cpumode, NULL,
	  "int: 0 unknown 1 kernel 2 user 3 hypervisor 4 guest kernel 5 guest user", NULL },
	{ "symbol", (getter)stack_frame_symbol, NULL,
	  "str or None: the function's name, from symbols of the recording's kernel or of the file "
	  "that "
	  "was mapped; None if no symbol has the address",
	  NULL },
	{ "offset", (getter)stack_frame_offset, NULL,
	  "int or None: bytes from the function's start; None if it is inlined", NULL },
	{ "dso", (getter)stack_frame_dso, NULL,
	  "str or None: the file mapped there, '[kernel.kallsyms]' for the kernel; None if unknown",
	  NULL },
	{ "srcline", (getter)stack_frame_srcline, NULL,
	  "(str, int) or None: source file and line; needs debug information", NULL },
	{ "inlined", (getter)stack_frame_inlined, NULL,
	  "bool: inlined into the next frame; only for frames unwound from copied stacks", NULL },
	{ NULL }
};

PyTypeObject *stack_frame_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc, "One step of a call chain, as of its event's time." },
		{ Py_tp_dealloc, stack_frame_dealloc },
		{ Py_tp_repr, stack_frame_repr },
		{ Py_tp_getset, stack_frame_getset },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Frame", sizeof(struct py_frame), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}

/* ---- Stack ----------------------------------------------------------------------------------- */

PyObject *stack_of_event(struct py_event *e)
{
	const struct sonde_frame *frames = NULL;
	struct py_stack *o;
	int nr;

	if (session_check_event(e) < 0)
		return NULL;
	nr = sonde_event_callchain(e->ev, &frames);
	if (nr < 0)
		return module_error(e->session->m, nr);
	o = PyObject_New(struct py_stack, e->session->m->stack);
	if (!o)
		return NULL;
	Py_INCREF((PyObject *)e);
	o->event = e;
	o->nr = 0;
	o->hash = -1;
	o->frames = malloc((size_t)nr * sizeof(*frames) + 1);
	if (!o->frames) {
		Py_DECREF((PyObject *)o);
		return PyErr_NoMemory();
	}
	if (nr)
		memcpy(o->frames, frames, (size_t)nr * sizeof(*frames));
	o->nr = nr;
	return (PyObject *)o;
}

static void stack_dealloc(struct py_stack *o)
{
	PyTypeObject *type = Py_TYPE((PyObject *)o);

	free(o->frames);
	Py_XDECREF((PyObject *)o->event);
	PyObject_Free(o);
	Py_DECREF(type);
}

static Py_ssize_t stack_len(struct py_stack *o)
{
	return o->nr;
}

static PyObject *stack_item(struct py_stack *o, Py_ssize_t i)
{
	if (i < 0 || i >= o->nr) {
		PyErr_SetString(PyExc_IndexError, "the stack has no such frame");
		return NULL;
	}
	return stack_frame(o->event, &o->frames[i]);
}

static PyObject *stack_iter(PyObject *self)
{
	return PySeqIter_New(self);
}

static Py_hash_t stack_hash(struct py_stack *o)
{
	uint64_t h = (uint64_t)o->nr;

	if (o->hash != -1)
		return o->hash;
	for (Py_ssize_t i = 0; i < o->nr; i++) {
		h = (h ^ o->frames[i].ip) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 32;
	}
	o->hash = (Py_hash_t)h == -1 ? -2 : (Py_hash_t)h;
	return o->hash;
}

/* True if an address is the same place of the same file in both events. */
static bool stack_same_place(struct py_stack *a, struct py_stack *b, Py_ssize_t i)
{
	struct sonde_location x = stack_locate(a->event, &a->frames[i]);
	struct sonde_location y = stack_locate(b->event, &b->frames[i]);

	if (!x.dso || !y.dso)
		return x.dso == y.dso;
	return x.dso_off == y.dso_off &&
	       (x.dso_id == y.dso_id ||
		(a->event->session != b->event->session && !strcmp(x.dso, y.dso) &&
		 !strcmp(x.dso_build_id, y.dso_build_id)));
}

static bool stack_equal(struct py_stack *a, struct py_stack *b)
{
	bool same_maps = a->event->session == b->event->session &&
			 a->event->ev->pid == b->event->ev->pid && a->event->ev->map_epoch &&
			 a->event->ev->map_epoch == b->event->ev->map_epoch;

	if (a == b)
		return true;
	if (a->nr != b->nr || stack_hash(a) != stack_hash(b))
		return false;
	for (Py_ssize_t i = 0; i < a->nr; i++)
		if (a->frames[i].ip != b->frames[i].ip ||
		    a->frames[i].cpumode != b->frames[i].cpumode ||
		    (a->frames[i].flags ^ b->frames[i].flags) & SONDE_FRAME_INLINED)
			return false;
	for (Py_ssize_t i = 0; !same_maps && i < a->nr; i++)
		if (a->frames[i].cpumode != 1 && !stack_same_place(a, b, i))
			return false;
	return true;
}

static PyObject *stack_compare(PyObject *self, PyObject *other, int op)
{
	struct py_stack *a = (struct py_stack *)self, *b = (struct py_stack *)other;

	if ((op != Py_EQ && op != Py_NE) || Py_TYPE(self) != Py_TYPE(other))
		Py_RETURN_NOTIMPLEMENTED;
	if (session_check_event(a->event) < 0 || session_check_event(b->event) < 0)
		return NULL;
	return PyBool_FromLong(stack_equal(a, b) == (op == Py_EQ));
}

/* folded(sep=";") */
static PyObject *stack_folded(struct py_stack *o, PyObject *args, PyObject *kw)
{
	static char *keywords[] = { "sep", NULL };
	PyObject *sep = NULL, *parts, *text = NULL;

	if (!PyArg_ParseTupleAndKeywords(args, kw, "|U", keywords, &sep) ||
	    session_check_event(o->event) < 0)
		return NULL;
	sep = sep ? PySequence_GetSlice(sep, 0, PyUnicode_GetLength(sep))
		  : PyUnicode_FromString(";");
	parts = sep ? PyList_New(0) : NULL;
	for (Py_ssize_t i = o->nr; parts && i-- > 0;) {
		const char *sym = stack_symbol(o->event, &o->frames[i]);
		PyObject *part = values_name(o->event->session->v, sym ? sym : "[unknown]");

		if (!part || PyList_Append(parts, part) < 0)
			Py_CLEAR(parts);
		Py_XDECREF(part);
	}
	if (parts)
		text = PyUnicode_Join(sep, parts);
	Py_XDECREF(sep);
	Py_XDECREF(parts);
	return text;
}

static PyObject *stack_complete(struct py_stack *o, void *unused)
{
	(void)unused;
	if (!o->nr)
		Py_RETURN_NONE;
	return PyBool_FromLong(!(o->frames[o->nr - 1].flags & SONDE_FRAME_CUT));
}

static PyObject *stack_repr(struct py_stack *o)
{
	PyObject *folded = PyObject_CallMethod((PyObject *)o, "folded", NULL), *text;

	text = folded ? PyUnicode_FromFormat("<sonde.Stack %U>", folded) : NULL;
	Py_XDECREF(folded);
	return text;
}

static PyMethodDef stack_methods[] = {
	{ "folded", (PyCFunction)(void (*)(void))stack_folded, METH_VARARGS | METH_KEYWORDS,
	  "folded(sep=';') -> str\n\nThe functions, outermost first, '[unknown]' without a "
	  "name: a line of this and a\ncount is the input of flame graphs." },
	{ NULL }
};

static PyGetSetDef stack_getset[] = {
	{ "complete", (getter)stack_complete, NULL,
	  "bool or None: False if callers are or may be missing: the chain reached the limit of "
	  "its "
	  "recording\n(127 frames if the recording names none), or unwinding a copied stack ended "
	  "early. None if there\nis no call chain.",
	  NULL },
	{ NULL }
};

PyTypeObject *stack_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc,
		  "A call chain: a sequence of Frame, innermost first.\n\n"
		  "Stacks are equal if they have the same addresses and the same files are mapped "
		  "there, and may be\nkeys of a dict or Counter. A Stack keeps its event." },
		{ Py_tp_dealloc, stack_dealloc },
		{ Py_tp_repr, stack_repr },
		{ Py_tp_hash, stack_hash },
		{ Py_tp_richcompare, stack_compare },
		{ Py_tp_iter, stack_iter },
		{ Py_sq_length, stack_len },
		{ Py_sq_item, stack_item },
		{ Py_mp_length, stack_len },
		{ Py_mp_subscript, sequence_get },
		{ Py_tp_methods, stack_methods },
		{ Py_tp_getset, stack_getset },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Stack", sizeof(struct py_stack), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
