/* SPDX-License-Identifier: MIT */
/*
 * Dicts and lists that are built when they are first read. A handler gets one if its code cannot
 * name it, so only a debugger or code that inspects frames can read it. Such a reader must find the
 * same values as with perf.
 *
 * They are real subclasses, and the dict is never empty: it begins as a copy of the event type's
 * keys. Every slot and method that reads or changes the object first stores the values, and then
 * calls that of dict or list. Memory:
 *
 *	| dict or list, as this interpreter makes it | struct lazy |
 *
 * No destructor is needed: struct lazy owns nothing. Methods that a later Python adds are not
 * covered, so the launcher uses these types only on versions of Python that the tests ran.
 */
#include "lazy.h"

#include <string.h>

#include "dicts.h"
#include "keys.h"
#include "sample.h"

/* Offsets of struct lazy; equal in all interpreters of a process. */
static size_t dict_off, list_off;

static struct lazy *lazy_at(PyObject *o, size_t off)
{
	return (struct lazy *)((char *)o + off);
}

/*
 * Values that were already read by key stay the same objects, because the script may hold or have
 * changed them.
 */
static int lazy_put_read_keys(PyObject *dict, const struct python_run *r, const struct lazy *l)
{
	int code = 0;

	for (size_t i = 0; !code && i < r->nr_read_keys; i++)
		if (r->read_keys[i].by == l)
			code = PyDict_SetItem(dict, r->read_keys[i].key, r->read_keys[i].value);
	return code;
}

static int lazy_fill_dict(PyObject *o, struct lazy *l)
{
	struct python_run *r = l->run;
	PyObject *real, *values;
	int code;

	l->rests = false;
	if (!r)
		return 0;
	l->run = NULL;
	real = l->kind == LAZY_FIELDS   ? dict_fields(r)
	       : l->kind == LAZY_SAMPLE ? dict_sample(r)
					: dict_sample_values(r);
	if (!real)
		return -1;
	PyDict_Clear(o);
	code = PyDict_Update(o, real);
	Py_DECREF(real);
	if (!code)
		code = lazy_put_read_keys(o, r, l);
	if (code || !l->inner)
		return code;
	values = PyDict_GetItemWithError(o, r->keys->dict[ITEM_SAMPLE]);
	if (!values)
		return PyErr_Occurred() ? -1 : 0;
	return lazy_put_read_keys(values, r, lazy_at(l->inner, dict_off));
}

/* The value of one key. NULL without an exception if the complete dict must be built. */
static PyObject *lazy_value(struct lazy *l, PyObject *key)
{
	struct python_run *r = l->run;
	struct read_key *t = r->read_keys, *end = t + r->nr_read_keys;
	PyObject *value;

	if (l->inner && key == r->keys->dict[ITEM_SAMPLE]) {
		Py_INCREF(l->inner);
		return l->inner;
	}
	for (; t < end; t++) {
		if (t->by == l && t->key == key) {
			Py_INCREF(t->value);
			return t->value;
		}
	}
	if (r->nr_read_keys == MAX_READ_KEYS)
		return NULL;
	value = l->kind == LAZY_FIELDS ? dict_field(r, key)
				       : dict_sample_value(r, key, l->kind == LAZY_SAMPLE_VALUES);
	if (value) {
		Py_INCREF(value);
		r->read_keys[r->nr_read_keys++] =
			(struct read_key){ .by = l, .kind = l->kind, .key = key, .value = value };
	}
	return value;
}

/*
 * The value of one key, if it can be made alone. Otherwise NULL; unless an exception is set, the
 * complete dict must be built.
 */
static inline PyObject *lazy_value_if_alone(PyObject *self, PyObject *key)
{
	struct lazy *l = lazy_at(self, dict_off);

	return l->run && l->by_key ? lazy_value(l, key) : NULL;
}

void lazy_forget_read_keys(struct python_run *r, struct slot *slot)
{
	while (r->nr_read_keys) {
		struct read_key t = r->read_keys[--r->nr_read_keys];

		if (t.kind == LAZY_SAMPLE && t.key == r->keys->dict[ITEM_SAMPLE])
			dict_sample_values_done(slot, t.value);
		else
			Py_DECREF(t.value);
	}
}

static int lazy_fill_list(PyObject *o, struct lazy *l)
{
	struct python_run *r = l->run;
	PyObject *real;
	int code;

	l->rests = false;
	if (!r)
		return 0;
	l->run = NULL;
	real = list_callchain(r);
	if (!real)
		return -1;
	code = PyList_SetSlice(o, 0, PyList_Size(o), real);
	Py_DECREF(real);
	return code;
}

int lazy_fill(PyObject *o, struct lazy *l)
{
	return l->kind == LAZY_CALLCHAIN ? lazy_fill_list(o, l) : lazy_fill_dict(o, l);
}

/* Calls base.name(self, *args, **kw) after storing the values. */
static PyObject *lazy_do_as_base(PyTypeObject *base, const char *name, PyObject *self,
				 PyObject *args, PyObject *kw)
{
	PyObject *method = NULL, *all = NULL, *result = NULL;
	Py_ssize_t nr = args ? PyTuple_Size(args) : 0;

	if (base == &PyDict_Type ? lazy_fill_dict(self, lazy_at(self, dict_off))
				 : lazy_fill_list(self, lazy_at(self, list_off)))
		return NULL;
	method = PyObject_GetAttrString((PyObject *)base, name);
	all = PyTuple_New(nr + 1);
	if (!method || !all)
		goto out;
	Py_INCREF(self);
	PyTuple_SetItem(all, 0, self);
	for (Py_ssize_t i = 0; i < nr; i++) {
		PyObject *arg = PyTuple_GetItem(args, i);

		Py_INCREF(arg);
		PyTuple_SetItem(all, i + 1, arg);
	}
	result = PyObject_Call(method, all, kw);
out:
	Py_XDECREF(method);
	Py_XDECREF(all);
	return result;
}

static PyObject *lazy_do_with(PyTypeObject *base, const char *name, PyObject *self, PyObject *arg)
{
	PyObject *args = PyTuple_New(1), *result;

	if (!args)
		return NULL;
	Py_INCREF(arg);
	PyTuple_SetItem(args, 0, arg);
	result = lazy_do_as_base(base, name, self, args, NULL);
	Py_DECREF(args);
	return result;
}

static int lazy_truth_of(PyObject *result)
{
	int truth = result ? PyObject_IsTrue(result) : -1;

	Py_XDECREF(result);
	return truth;
}

static Py_ssize_t lazy_size_of(PyObject *result)
{
	Py_ssize_t size = result ? PyLong_AsSsize_t(result) : -1;

	Py_XDECREF(result);
	return size;
}

static int lazy_done(PyObject *result)
{
	Py_XDECREF(result);
	return result ? 0 : -1;
}

static PyObject *lazy_compare(PyTypeObject *base, PyObject *self, PyObject *other, int op)
{
	static const char *const names[] = { "__lt__", "__le__", "__eq__",
					     "__ne__", "__gt__", "__ge__" };

	return lazy_do_with(base, names[op], self, other);
}

/* pickle and copy get an ordinary object: (dict, (dict(self),)). */
static PyObject *lazy_reduce(PyTypeObject *base, PyObject *self)
{
	PyObject *plain, *result;

	plain = lazy_do_as_base(base, "copy", self, NULL, NULL);
	if (!plain)
		return NULL;
	result = Py_BuildValue("(O(O))", base, plain);
	Py_DECREF(plain);
	return result;
}

/* ---- dict ------------------------------------------------------------------------------------ */

#define D &PyDict_Type

/* clang-format off */
#define DICT_METHODS(M)                                                                            \
	M(clear) M(copy) M(items) M(keys) M(pop) M(popitem) M(setdefault) M(update) M(values)      \
	M(__reversed__) M(__sizeof__)

/* Methods that dict has in addition to the slots: their messages about wrong arguments differ. */
#define DICT_COEXISTING(M) M(__contains__) M(__getitem__)
/* clang-format on */

#define M(name)                                                                    \
	static PyObject *dict_##name(PyObject *self, PyObject *args, PyObject *kw) \
	{                                                                          \
		return lazy_do_as_base(D, #name, self, args, kw);                  \
	}
DICT_METHODS(M)
DICT_COEXISTING(M)
#undef M

static PyObject *dict_get(PyObject *self, PyObject *args, PyObject *kw)
{
	Py_ssize_t nr = kw ? 0 : PyTuple_Size(args);
	PyObject *value =
		nr == 1 || nr == 2 ? lazy_value_if_alone(self, PyTuple_GetItem(args, 0)) : NULL;

	return value || PyErr_Occurred() ? value : lazy_do_as_base(D, "get", self, args, kw);
}

static PyObject *dict_reduce(PyObject *self, PyObject *unused)
{
	(void)unused;
	return lazy_reduce(D, self);
}

/* A class method of dict: makes dicts, not lazy ones. */
static PyObject *dict_fromkeys(PyObject *cls, PyObject *args)
{
	PyObject *method = PyObject_GetAttrString((PyObject *)D, "fromkeys"), *result = NULL;

	(void)cls;
	if (method)
		result = PyObject_Call(method, args, NULL);
	Py_XDECREF(method);
	return result;
}

static PyMethodDef dict_methods[] = {
#define M(name) \
	{ #name, (PyCFunction)(void (*)(void))dict_##name, METH_VARARGS | METH_KEYWORDS, NULL },
	DICT_METHODS(M) M(get)
#undef M
#define M(name)                                            \
	{ #name, (PyCFunction)(void (*)(void))dict_##name, \
	  METH_VARARGS | METH_KEYWORDS | METH_COEXIST, NULL },
		DICT_COEXISTING(M)
#undef M
			{ "__reduce__", dict_reduce, METH_NOARGS, NULL },
	{ "__reduce_ex__", dict_reduce, METH_O, NULL },
	{ "fromkeys", dict_fromkeys, METH_VARARGS | METH_CLASS, NULL },
	{ NULL }
};

static PyObject *dict_repr(PyObject *self)
{
	return lazy_do_as_base(D, "__repr__", self, NULL, NULL);
}

static PyObject *dict_iter(PyObject *self)
{
	return lazy_do_as_base(D, "__iter__", self, NULL, NULL);
}

static PyObject *dict_compare(PyObject *self, PyObject *other, int op)
{
	return lazy_compare(D, self, other, op);
}

static Py_ssize_t dict_length(PyObject *self)
{
	return lazy_size_of(lazy_do_as_base(D, "__len__", self, NULL, NULL));
}

static PyObject *dict_subscript(PyObject *self, PyObject *key)
{
	PyObject *value = lazy_value_if_alone(self, key);

	return value || PyErr_Occurred() ? value : lazy_do_with(D, "__getitem__", self, key);
}

static int dict_ass_subscript(PyObject *self, PyObject *key, PyObject *value)
{
	PyObject *args;
	int code;

	if (!value)
		return lazy_done(lazy_do_with(D, "__delitem__", self, key));
	args = Py_BuildValue("(OO)", key, value);
	if (!args)
		return -1;
	code = lazy_done(lazy_do_as_base(D, "__setitem__", self, args, NULL));
	Py_DECREF(args);
	return code;
}

static int dict_contains(PyObject *self, PyObject *key)
{
	PyObject *value = lazy_value_if_alone(self, key);

	if (!value && PyErr_Occurred())
		return -1;
	if (!value)
		return lazy_truth_of(lazy_do_with(D, "__contains__", self, key));
	Py_DECREF(value);
	return 1;
}

/* Either operand of a binary operator may be a lazy one. */
static int lazy_fill_if_lazy(PyObject *o, PyObject *(*repr)(PyObject *))
{
	if (PyType_GetSlot(Py_TYPE(o), Py_tp_repr) != (void *)repr)
		return 0;
	return repr == dict_repr ? lazy_fill_dict(o, lazy_at(o, dict_off))
				 : lazy_fill_list(o, lazy_at(o, list_off));
}

static bool lazy_is_heap_type(PyObject *o)
{
	return PyType_HasFeature(Py_TYPE(o),
				 /* on 3.9 PyType_GetSlot() accepts no other types */
				 Py_TPFLAGS_HEAPTYPE);
}

static PyObject *dict_or(PyObject *a, PyObject *b)
{
	PyObject *plain, *result = NULL;

	if (!PyDict_Check(a) || !PyDict_Check(b))
		Py_RETURN_NOTIMPLEMENTED;
	if ((lazy_is_heap_type(a) && lazy_fill_if_lazy(a, dict_repr) < 0) ||
	    (lazy_is_heap_type(b) && lazy_fill_if_lazy(b, dict_repr) < 0))
		return NULL;
	plain = PyDict_Copy(a);
	if (plain && !PyDict_Update(plain, b))
		result = plain;
	else
		Py_XDECREF(plain);
	return result;
}

static PyObject *dict_ior(PyObject *self, PyObject *other)
{
	return lazy_do_with(D, "__ior__", self, other);
}

/* ---- list ------------------------------------------------------------------------------------ */

#define L &PyList_Type

/* clang-format off */
#define LIST_METHODS(M)                                                                            \
	M(append) M(clear) M(copy) M(count) M(extend) M(index) M(insert) M(pop) M(remove)          \
	M(reverse) M(sort) M(__reversed__) M(__sizeof__)
/* clang-format on */

#define M(name)                                                                    \
	static PyObject *list_##name(PyObject *self, PyObject *args, PyObject *kw) \
	{                                                                          \
		return lazy_do_as_base(L, #name, self, args, kw);                  \
	}
LIST_METHODS(M)
M(__getitem__)
#undef M

static PyObject *list_reduce(PyObject *self, PyObject *unused)
{
	(void)unused;
	return lazy_reduce(L, self);
}

static PyMethodDef list_methods[] = {
#define M(name) \
	{ #name, (PyCFunction)(void (*)(void))list_##name, METH_VARARGS | METH_KEYWORDS, NULL },
	LIST_METHODS(M)
#undef M
		{ "__getitem__", (PyCFunction)(void (*)(void))list___getitem__,
		  METH_VARARGS | METH_KEYWORDS | METH_COEXIST, NULL },
	{ "__reduce__", list_reduce, METH_NOARGS, NULL },
	{ "__reduce_ex__", list_reduce, METH_O, NULL },
	{ NULL }
};

static PyObject *list_repr(PyObject *self)
{
	return lazy_do_as_base(L, "__repr__", self, NULL, NULL);
}

static PyObject *list_iter(PyObject *self)
{
	return lazy_do_as_base(L, "__iter__", self, NULL, NULL);
}

static PyObject *list_compare(PyObject *self, PyObject *other, int op)
{
	return lazy_compare(L, self, other, op);
}

static Py_ssize_t list_length(PyObject *self)
{
	return lazy_size_of(lazy_do_as_base(L, "__len__", self, NULL, NULL));
}

static PyObject *list_subscript(PyObject *self, PyObject *key)
{
	return lazy_do_with(L, "__getitem__", self, key);
}

static int list_ass_subscript(PyObject *self, PyObject *key, PyObject *value)
{
	PyObject *args;
	int code;

	if (!value)
		return lazy_done(lazy_do_with(L, "__delitem__", self, key));
	args = Py_BuildValue("(OO)", key, value);
	if (!args)
		return -1;
	code = lazy_done(lazy_do_as_base(L, "__setitem__", self, args, NULL));
	Py_DECREF(args);
	return code;
}

static PyObject *lazy_with_index(PyObject *self, Py_ssize_t i,
				 PyObject *(*get)(PyObject *, PyObject *))
{
	PyObject *index = PyLong_FromSsize_t(i), *result;

	if (!index)
		return NULL;
	result = get(self, index);
	Py_DECREF(index);
	return result;
}

static PyObject *list_item(PyObject *self, Py_ssize_t i)
{
	return lazy_with_index(self, i, list_subscript);
}

static int list_ass_item(PyObject *self, Py_ssize_t i, PyObject *value)
{
	PyObject *index = PyLong_FromSsize_t(i);
	int code;

	if (!index)
		return -1;
	code = list_ass_subscript(self, index, value);
	Py_DECREF(index);
	return code;
}

static int list_contains(PyObject *self, PyObject *value)
{
	return lazy_truth_of(lazy_do_with(L, "__contains__", self, value));
}

static PyObject *list_concat(PyObject *self, PyObject *other)
{
	return lazy_do_with(L, "__add__", self, other);
}

static PyObject *list_iconcat(PyObject *self, PyObject *other)
{
	return lazy_do_with(L, "__iadd__", self, other);
}

static PyObject *lazy_multiply(PyObject *self, PyObject *n)
{
	return lazy_do_with(L, "__mul__", self, n);
}

static PyObject *list_repeat(PyObject *self, Py_ssize_t n)
{
	return lazy_with_index(self, n, lazy_multiply);
}

static PyObject *lazy_multiply_in_place(PyObject *self, PyObject *n)
{
	return lazy_do_with(L, "__imul__", self, n);
}

static PyObject *list_irepeat(PyObject *self, Py_ssize_t n)
{
	return lazy_with_index(self, n, lazy_multiply_in_place);
}

/* ---- the types ------------------------------------------------------------------------------- */

/*
 * pprint recognises dicts and lists by comparing their type's __repr__ with that of dict or list.
 * The lazy types have a different one, because it must store the values first. So the name is
 * removed from the class, where only such comparisons look it up.
 */
static int lazy_hide_repr(PyObject *type)
{
	PyObject *gc = PyImport_ImportModule("gc"),
		 *proxy = PyObject_GetAttrString(type, "__dict__"), *names = NULL;
	int code = -1;

	if (gc && proxy)
		names = PyObject_CallMethod(gc, "get_referents", "O", proxy);
	if (names && PyList_Size(names) == 1 && PyDict_Check(PyList_GetItem(names, 0))) {
		code = PyDict_DelItemString(PyList_GetItem(names, 0), "__repr__");
		PyType_Modified((PyTypeObject *)type);
	}
	Py_XDECREF(names);
	Py_XDECREF(proxy);
	Py_XDECREF(gc);
	return code;
}

/*
 * Gives the type the name of its base, which messages print ("unhashable type: 'dict'"). __module__
 * does not change.
 */
static int lazy_take_name(PyObject *type, PyTypeObject *base)
{
	PyObject *name = PyObject_GetAttrString((PyObject *)base, "__name__");
	int code = name ? PyObject_SetAttrString(type, "__name__", name) : -1;

	Py_XDECREF(name);
	return code;
}

/*
 * Makes a subclass of base with room for a struct lazy after the memory that base needs in this
 * interpreter.
 */
static PyTypeObject *lazy_subclass(PyTypeObject *base, const char *name, PyType_Slot *slots,
				   size_t *ret_off)
{
	PyObject *basic = PyObject_GetAttrString((PyObject *)base, "__basicsize__");
	Py_ssize_t size = basic ? PyLong_AsSsize_t(basic) : -1;
	PyType_Spec spec = { .name = name, .flags = Py_TPFLAGS_DEFAULT, .slots = slots };
	PyObject *type;

	Py_XDECREF(basic);
	if (size < 0)
		return NULL;
	size = (size + 7) & ~(Py_ssize_t)7;
	spec.basicsize = (int)((size_t)size + sizeof(struct lazy));
	slots[0] = (PyType_Slot){ Py_tp_base, base };
	type = PyType_FromSpec(&spec);
	if (!type)
		return NULL;
	*ret_off = (size_t)size;
	if (lazy_take_name(type, base) < 0 || lazy_hide_repr(type) < 0)
		Py_CLEAR(type);
	return (PyTypeObject *)type;
}

PyTypeObject *lazy_dict_type_new(size_t *ret_off)
{
	PyType_Slot slots[] = {
		{ Py_tp_base, NULL },
		{ Py_tp_doc, "A dict that is built when first read." },
		{ Py_tp_repr, dict_repr },
		{ Py_tp_iter, dict_iter },
		{ Py_tp_richcompare, dict_compare },
		{ Py_tp_hash, PyObject_HashNotImplemented },
		{ Py_mp_length, dict_length },
		{ Py_mp_subscript, dict_subscript },
		{ Py_mp_ass_subscript, dict_ass_subscript },
		{ Py_sq_contains, dict_contains },
		{ Py_nb_or, dict_or },
		{ Py_nb_inplace_or, dict_ior },
		{ Py_tp_methods, dict_methods },
		{ 0, NULL },
	};
	PyTypeObject *type = lazy_subclass(D, "sonde.LazyDict", slots, &dict_off);

	*ret_off = dict_off;
	return type;
}

PyTypeObject *lazy_list_type_new(size_t *ret_off)
{
	PyType_Slot slots[] = {
		{ Py_tp_base, NULL },
		{ Py_tp_doc, "A list that is built when first read." },
		{ Py_tp_repr, list_repr },
		{ Py_tp_iter, list_iter },
		{ Py_tp_richcompare, list_compare },
		{ Py_tp_hash, PyObject_HashNotImplemented },
		{ Py_mp_length, list_length },
		{ Py_sq_length, list_length },
		{ Py_sq_item, list_item },
		{ Py_sq_ass_item, list_ass_item },
		{ Py_mp_subscript, list_subscript },
		{ Py_mp_ass_subscript, list_ass_subscript },
		{ Py_sq_contains, list_contains },
		{ Py_sq_concat, list_concat },
		{ Py_sq_inplace_concat, list_iconcat },
		{ Py_sq_repeat, list_repeat },
		{ Py_sq_inplace_repeat, list_irepeat },
		{ Py_tp_methods, list_methods },
		{ 0, NULL },
	};
	PyTypeObject *type = lazy_subclass(L, "sonde.LazyList", slots, &list_off);

	*ret_off = list_off;
	return type;
}

struct lazy *lazy_of(struct module_state *m, PyObject *o)
{
	if (Py_TYPE(o) == m->lazy_dict)
		return lazy_at(o, m->lazy_dict_off);
	if (Py_TYPE(o) == m->lazy_list)
		return lazy_at(o, m->lazy_list_off);
	return NULL;
}

/*
 * Puts keys without values, so that the dict is not empty. Keys that depend on the current event
 * are omitted, because they would need a lookup of its addresses.
 */
static int lazy_put_keys(struct python_run *r, PyObject *o, enum lazy_kind kind)
{
	bool of_values = kind == LAZY_SAMPLE_VALUES;
	const struct prelude_key *keys = of_values ? prelude_sample_keys : prelude_dict_keys;
	PyObject *const *names = of_values ? r->keys->sample : r->keys->dict;
	struct slot *slot = r->ev_slot;

	if (kind == LAZY_FIELDS)
		return dict_keys_put(r, o);
	for (size_t i = 0; keys[i].name; i++) {
		if (prelude_key_there(&keys[i], &slot->sampled, 0, 0) &&
		    PyDict_SetItem(o, names[i], Py_None) < 0)
			return -1;
	}
	return 0;
}

PyObject *lazy_new(struct python_run *r, enum lazy_kind kind)
{
	PyTypeObject *type = kind == LAZY_CALLCHAIN ? r->m->lazy_list : r->m->lazy_dict;
	PyObject *o = PyObject_CallObject((PyObject *)type, NULL);
	struct lazy *l;

	if (!o || (kind != LAZY_CALLCHAIN && lazy_put_keys(r, o, kind) < 0)) {
		Py_XDECREF(o);
		return NULL;
	}
	l = lazy_of(r->m, o);
	l->kind = kind;
	l->run = r;
	return o;
}
