/* SPDX-License-Identifier: MIT */
/*
 * Filling copies of a template dict. The template has all keys in the wanted order; a copy of it is
 * made in one piece, and where this build is made for exactly one CPython whose dict we know
 * (FASTDICT), values are then put where they belong without a search. Elsewhere, and whenever the
 * dict does not look as expected, PyDict_SetItem does it.
 *
 *	struct filling f;
 *
 *	if (filling_begin(&f, template, &kept) < 0 || filling_put(&f, key, value) < 0 ...)
 *		return NULL;
 *	dict = filling_end(&f, &kept);
 *	... the script has it ...
 *	kept_dict_put(&kept, dict);
 *
 * Keys are put in the template's order (some may be passed over). The template holds at least one
 * list or dict, so that the garbage collector follows the copies too.
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
 * The value of an interned key that was once found as the at-th entry, borrowed; NULL: it is not
 * there any more. An entry holds its key as long as that is in the dict, so nothing but the entry
 * itself need be looked at.
 */
static inline PyObject *dict_value_at(PyObject *dict, Py_ssize_t at, PyObject *key)
{
	const PyDictObject *d = (PyDictObject *)dict;

	if (d->ma_values || !DK_IS_UNICODE(d->ma_keys) || at >= d->ma_keys->dk_nentries ||
	    DK_UNICODE_ENTRIES(d->ma_keys)[at].me_key != key)
		return NULL;
	return DK_UNICODE_ENTRIES(d->ma_keys)[at].me_value;
}

/* Which entry a key is; -1: that cannot be told. */
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
	PyObject *dict; /* NULL: failed, and released */
#ifdef FASTDICT
	PyDictUnicodeEntry *next, *end; /* equal: the slow way */
#endif
};

/*
 * Where the interpreter numbers a dict's states, a dict that nobody holds after the call and whose
 * number is still the one it was filled at is filled again for the next event.
 */
#if defined(FASTDICT) && PY_VERSION_HEX < 0x030c0000
#define DICT_STATE(d) (((PyDictObject *)(d))->ma_version_tag)
#endif

/* A collector's or a debugger's eye may have found it in between: looked at again. */
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

/* Takes the reference. Whether it is kept. */
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

/* Keeps a dict that another one, which is kept, holds; borrowed. */
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

/* The finished dict, a new reference. */
static inline PyObject *filling_end(struct filling *f, struct kept_dict *kept)
{
#ifdef DICT_STATE
	kept->version = DICT_STATE(f->dict);
#endif
	return f->dict;
}

/*
 * Takes the value's reference, NULL is a failure that already has its exception. Keys are interned.
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
