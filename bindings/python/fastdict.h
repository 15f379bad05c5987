/* SPDX-License-Identifier: MIT */
/*
 * Fills copies of a template dict. The template has all keys in the wanted order and is copied in
 * one piece. If this build is for exactly one CPython whose dict we know (FASTDICT), values are
 * then stored at their places without a search. Otherwise, and whenever the dict does not look as
 * expected, PyDict_SetItem stores them.
 *
 *	struct filling f;
 *
 *	if (filling_begin(&f, template, &kept) < 0 || filling_put(&f, key, value) < 0 ...)
 *		return NULL;
 *	dict = filling_end(&f, &kept);
 *	... the script uses it ...
 *	kept_dict_put(&kept, dict);
 *
 * Keys are put in the template's order; some may be skipped. The template contains at least one
 * list or dict, so that the garbage collector tracks the copies too.
 */
#ifndef SONDE_PY_FASTDICT_H
#define SONDE_PY_FASTDICT_H

#ifdef FASTDICT
#define Py_BUILD_CORE_MODULE 1 /* before Python.h */
#endif
#include "script.h"
#ifdef FASTDICT
#include "internal/pycore_dict.h"
#endif

#ifdef FASTDICT
/*
 * The value of an interned key that was entry number `at` before; borrowed. NULL if the key is no
 * longer there. An entry owns its key while the key is in the dict, so comparing the entry is
 * sufficient.
 */
static inline PyObject *dict_value_at(PyObject *dict, Py_ssize_t at, PyObject *key)
{
	const PyDictObject *d = (PyDictObject *)dict;

	if (d->ma_values || !DK_IS_UNICODE(d->ma_keys) || at >= d->ma_keys->dk_nentries ||
	    DK_UNICODE_ENTRIES(d->ma_keys)[at].me_key != key)
		return NULL;
	return DK_UNICODE_ENTRIES(d->ma_keys)[at].me_value;
}

/* The number of a key's entry; -1 if unknown. */
static inline Py_ssize_t dict_place_of(PyObject *dict, PyObject *key)
{
	const PyDictObject *d = (PyDictObject *)dict;

	if (d->ma_values || !DK_IS_UNICODE(d->ma_keys))
		return -1;
	for (Py_ssize_t i = 0; i < d->ma_keys->dk_nentries; i++)
		if (DK_UNICODE_ENTRIES(d->ma_keys)[i].me_key == key)
			return i;
	return -1;
}
#endif

struct filling {
	PyObject *dict; /* NULL after a failure, which freed it */
#ifdef FASTDICT
	PyDictUnicodeEntry *next, *end; /* if equal, PyDict_SetItem stores the values */
#endif
};

/*
 * Only for interpreters that number the states of a dict. A dict that nobody else holds after the
 * call, and whose number is still the one it had when filled, is filled again for the next event.
 */
#if defined(FASTDICT) && PY_VERSION_HEX < 0x030c0000
#define DICT_STATE(d) (((PyDictObject *)(d))->ma_version_tag)
#endif

/* Checks again, because a garbage collector or a debugger may have reached the dict in between. */
static inline PyObject *kept_dict_take(struct kept_dict *kept)
{
	PyObject *d = kept->dict;

	kept->dict = NULL;
#ifdef DICT_STATE
	if (d && (Py_REFCNT(d) != kept->refs || DICT_STATE(d) != kept->version))
		Py_CLEAR(d);
#endif
	return d;
}

/* Takes the reference. Returns true if the dict is kept. */
static inline bool kept_dict_put(struct kept_dict *kept, PyObject *d)
{
#ifdef DICT_STATE
	if (!kept->dict && ONLY_MINE(d) && DICT_STATE(d) == kept->version) {
		kept->dict = d;
		kept->refs = 1;
		return true;
	}
#endif
	Py_DECREF(d);
	return false;
}

/* Keeps a dict that another kept dict contains; d is borrowed. */
static inline void kept_dict_put_inner(struct kept_dict *kept, PyObject *d)
{
#ifdef DICT_STATE
	if (!kept->dict && ONLY_MINE(d) && DICT_STATE(d) == kept->version) {
		Py_INCREF(d);
		kept->dict = d;
		kept->refs = 2;
	}
#endif
}

static inline int filling_begin(struct filling *f, PyObject *template, struct kept_dict *kept)
{
	*f = (struct filling){ .dict = kept_dict_take(kept) };
	if (!f->dict)
		f->dict = PyDict_Copy(template);
	if (!f->dict)
		return -1;
#ifdef FASTDICT
	PyDictObject *d = (PyDictObject *)f->dict;

	if (!d->ma_values && DK_IS_UNICODE(d->ma_keys)) {
		f->next = DK_UNICODE_ENTRIES(d->ma_keys);
		f->end = f->next + d->ma_used;
	}
#endif
	return 0;
}

/* Returns the finished dict as a new reference. */
static inline PyObject *filling_end(struct filling *f, struct kept_dict *kept)
{
#ifdef DICT_STATE
	kept->version = DICT_STATE(f->dict);
#endif
	return f->dict;
}

/*
 * Takes the reference of value. value may be NULL after a failure whose exception is already set.
 * Keys are interned.
 */
static inline int filling_put(struct filling *f, PyObject *key, PyObject *value)
{
	if (!value || !f->dict) {
		Py_XDECREF(value);
		Py_CLEAR(f->dict);
		return -1;
	}
#ifdef FASTDICT
	for (; f->next < f->end; f->next++) {
		if (f->next->me_key == key) {
			PyObject *old = f->next->me_value;

			f->next->me_value = value;
			f->next++;
			Py_DECREF(old);
			return 0;
		}
	}
#endif
	if (dict_take(f->dict, key, value) < 0) {
		Py_CLEAR(f->dict);
		return -1;
	}
	return 0;
}

#endif
