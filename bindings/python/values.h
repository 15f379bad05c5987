/* SPDX-License-Identifier: MIT */
/* Values of fields as Python objects: bytes -> int, str, bytearray, float, dict. */
#ifndef SONDE_PY_VALUES_H
#define SONDE_PY_VALUES_H

#include "cpython.h"
#include "prelude/prelude.h"
#include "sonde/sonde.h"

enum conv_kind {
	CONV_U8,
	CONV_U16,
	CONV_U32,
	CONV_U64,
	CONV_S8,
	CONV_S16,
	CONV_S32,
	CONV_S64,
	CONV_COMM, /* text of 16 bytes: task names, which are cached */
	CONV_TEXT, /* any other fixed text */
	CONV_BYTES,
	CONV_DYNAMIC_TEXT,
	CONV_DYNAMIC_BYTES,
	CONV_THREAD, /* the event's thread, not a field */
	CONV_ZERO,
	/* Numbers that are not plain: bit-fields, enums, fields with a byte order of their own. */
	CONV_UNSIGNED,
	CONV_SIGNED,
	CONV_FLOAT,
	CONV_NESTED
};

/* How one field of one schema becomes a Python value. */
struct conv {
	enum conv_kind kind;
	uint32_t offset, width; /* width 0: up to the end of the payload */
	const struct sonde_field *field;
};

#define SMALL_NEGATIVE 5
#define SMALL_INTS     (SMALL_NEGATIVE + 257) /* -5 .. 256 */
#define INTS           1024
#define TEXTS          1024
#define NAMES          1024

/*
 * Values that repeat, per session. All tables are direct-mapped: a new value replaces the old one.
 */
struct values {
	struct sonde_session *s;
	const struct sonde_rules *rules;
	PyObject **comms; /* by text id */
	size_t nr_comms;
	uint64_t last_secs;
	PyObject *last_secs_obj;
	PyObject *small[SMALL_INTS];
	struct {
		uint64_t value;
		PyObject *obj;
	} ints[INTS];
	struct {
		uint64_t bytes[2];
		PyObject *obj;
	} texts[TEXTS];
	struct {
		const char *name; /* borrowed from the session: equal pointers are equal names */
		PyObject *obj;
	} names[NAMES];
};

struct values *values_new(struct sonde_session *s);
void values_free(struct values *v);
void conv_init(struct conv *c, const struct sonde_field *f, const struct sonde_rules *rules);
/*
 * These return new references; NULL with an exception set. perf's sticky rule (7.4) turns c into
 * bytes for the rest of the script's run.
 */
PyObject *values_field(struct values *v, struct conv *c, const struct sonde_event *ev);
PyObject *values_comm(struct values *v, uint32_t id);
/* The object of a borrowed name; NULL counts as "". */
PyObject *values_name(struct values *v, const char *borrowed);
PyObject *values_secs(struct values *v, uint64_t secs);
PyObject *values_int(struct values *v, int64_t value); /* see int_object() */
/* See field_object(). */
PyObject *values_task_name(struct values *v, struct conv *c, const uint8_t *bytes, size_t at);
PyObject *text_object(const char *text, size_t len);
/*
 * text_object() for a complete name that is used as a key: interned. Names of events and fields may
 * contain any bytes.
 */
PyObject *name_object(const char *name);
/*
 * A struct sequence of the nr members, whose references it takes. NULL with an exception, also if a
 * member is NULL.
 */
PyObject *sequence_object(PyTypeObject *type, PyObject *const *take, size_t nr);
/* self[key] of a sequence whose items sq_item makes: an item, or a list of them for a slice. */
PyObject *sequence_get(PyObject *self, PyObject *key);

static inline PyObject *u64_object(uint64_t value)
{
#if LONG_MAX > 0x7fffffff
	if (value <= LONG_MAX)
		return PyLong_FromLong((long)value);
#endif
	return PyLong_FromUnsignedLongLong(value);
}

/*
 * An int that served one event and that nobody else holds is reused for the next event: no code can
 * observe that the object is the same. This relies on the interpreter of this build: one digit of
 * 30 bits, and small ints that belong to the interpreter.
 */
#if !defined(Py_LIMITED_API) && PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000 && \
	PYLONG_BITS_IN_DIGIT == 30
#define REUSES_INTS 1
#endif

static inline bool int_may_serve(PyObject *o)
{
#ifdef REUSES_INTS
	return ONLY_MINE(o) && PyLong_CheckExact(o) && Py_SIZE(o) == 1;
#else
	(void)o;
	return false;
#endif
}

/* Takes the reference of spare, for which int_may_serve() was true; NULL is allowed. */
static inline PyObject *int_from(PyObject *spare, int64_t value)
{
#ifdef REUSES_INTS
	if (spare && value > 256 && value < 1 << 30) {
		((PyLongObject *)spare)->ob_digit[0] = (digit)value;
		return spare;
	}
#endif
	Py_XDECREF(spare);
	return PyLong_FromLongLong(value);
}

/* Stores value in an object for which int_may_serve() would be true. Returns false otherwise. */
static inline bool int_serves_again(PyObject *o, int64_t value)
{
#ifdef REUSES_INTS
	if (value > 256 && value < 1 << 30 && int_may_serve(o)) {
		((PyLongObject *)o)->ob_digit[0] = (digit)value;
		return true;
	}
#endif
	(void)o;
	(void)value;
	return false;
}

/* True for an int that the session always holds. */
static inline bool int_is_small(int64_t value)
{
	return (uint64_t)value + SMALL_NEGATIVE < SMALL_INTS;
}

/* For numbers of up to 32 bits that are likely to repeat: task ids, cpus, priorities. */
static inline PyObject *int_object(struct values *v, int64_t value)
{
	if (int_is_small(value)) {
		PyObject *o = v->small[value + SMALL_NEGATIVE];

		Py_INCREF(o);
		return o;
	}
	return values_int(v, value);
}

/*
 * values_field() with the most frequent cases inline: words in this machine's byte order, and task
 * names seen before.
 */
static inline PyObject *field_object(struct values *v, struct conv *c, const struct sonde_event *ev)
{
	const uint8_t *p = ev->bytes + c->offset;

	if ((ev->flags & SONDE_EVENT_SWAPPED) || (uint64_t)c->offset + c->width > ev->bytes_len)
		return values_field(v, c, ev);
	switch (c->kind) {
	case CONV_U32:
	case CONV_S32: {
		uint32_t n;

		memcpy(&n, p, 4);
		return int_object(v, c->kind == CONV_S32 ? (int64_t)(int32_t)n : (int64_t)n);
	}
	case CONV_U64:
	case CONV_S64: {
		uint64_t n;

		memcpy(&n, p, 8);
		return c->kind == CONV_S64 ? PyLong_FromLongLong((int64_t)n) : u64_object(n);
	}
	case CONV_COMM: {
		uint64_t key[2];
		size_t at;

		memcpy(key, p, 16);
		at = (key[0] * 0x9e3779b97f4a7c15ull ^ key[1] * 0xc2b2ae3d27d4eb4full) >> 54;
		if (v->texts[at].bytes[0] == key[0] && v->texts[at].bytes[1] == key[1] &&
		    v->texts[at].obj) {
			Py_INCREF(v->texts[at].obj);
			return v->texts[at].obj;
		}
		return values_task_name(v, c, p, at);
	}
	default:
		return values_field(v, c, ev);
	}
}

static inline PyObject *comm_object(struct values *v, uint32_t id)
{
	if (id < v->nr_comms && v->comms[id]) {
		Py_INCREF(v->comms[id]);
		return v->comms[id];
	}
	return values_comm(v, id);
}

/* PyDict_SetItem that takes the reference of value; -1 also if value is NULL. */
static inline int dict_take(PyObject *dict, PyObject *key, PyObject *value)
{
	int r;

	if (!value)
		return -1;
	r = PyDict_SetItem(dict, key, value);
	Py_DECREF(value);
	return r;
}

static inline int dict_take_str(PyObject *dict, const char *key, PyObject *value)
{
	int r;

	if (!value)
		return -1;
	r = PyDict_SetItemString(dict, key, value);
	Py_DECREF(value);
	return r;
}

#endif
