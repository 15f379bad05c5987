/* SPDX-License-Identifier: MIT */
/*
 * Counts of events by keys. A key's value is a number of 64 bits: an id, a field's number, or the
 * number of a text in `texts`. Python objects are made once for each row, at the end.
 *
 *	event --> values of the keys --> row (hash table) --> count
 */
#include "count.h"

#include <string.h>

#define COUNT_KEYS 8 /* limit on keys */

enum count_key_kind {
	COUNT_NAME,
	COUNT_CPU,
	COUNT_PID,
	COUNT_TID,
	COUNT_COMM,
	COUNT_INDEX,
	COUNT_FIELD
};

struct count_key {
	enum count_key_kind kind;
	PyObject *name; /* borrowed from the caller's tuple */
	char *field;    /* owned; for COUNT_FIELD */
	/* The field in each schema, by id; NULL where the schema has no such field. */
	const struct sonde_field **fields;
	size_t nr_fields;
	bool is_met; /* a schema has the field */
};

struct count_row {
	uint64_t values[COUNT_KEYS];
	const struct sonde_field *fields[COUNT_KEYS]; /* of the row's first event */
	uint64_t count;
	uint32_t absent; /* bit i: the event has no value for key i */
	uint32_t hash;
};

/* A byte string of a field. */
struct count_text {
	uint8_t *bytes; /* owned */
	size_t len;
	uint32_t hash;
};

struct counts {
	struct count_key keys[COUNT_KEYS];
	size_t nr_keys;
	struct count_row *rows; /* open addressing; unused where count is 0 */
	size_t nr_rows, room;
	/* One key whose values are small: counts by value, in place of rows. */
	uint64_t small[4096];
	struct count_text *texts;
	size_t nr_texts, texts_room;
	uint32_t *text_table; /* open addressing: number of a text + 1 */
	size_t text_slots;
	uint64_t total, first_ns, last_ns;
};

static uint64_t count_mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15ull;
	return h ^ h >> 29;
}

/* ---- texts ----------------------------------------------------------------------------------- */

static int count_grow_texts(struct counts *c)
{
	size_t slots = c->text_slots ? c->text_slots * 2 : 64;
	uint32_t *table = calloc(slots, sizeof(*table));

	if (!table)
		return -1;
	for (size_t i = 0; i < c->nr_texts; i++) {
		size_t at = c->texts[i].hash & (slots - 1);

		while (table[at])
			at = (at + 1) & (slots - 1);
		table[at] = (uint32_t)i + 1;
	}
	free(c->text_table);
	c->text_table = table;
	c->text_slots = slots;
	return 0;
}

/* The number of a text; -1 if there is no memory. */
static int64_t count_text(struct counts *c, const uint8_t *bytes, size_t len)
{
	uint64_t h = len;
	size_t at;

	for (size_t i = 0; i < len; i++)
		h = (h ^ bytes[i]) * 0x100000001b3ull;
	h = count_mix(h, 0);
	if (c->nr_texts * 2 >= c->text_slots && count_grow_texts(c) < 0)
		return -1;
	for (at = (uint32_t)h & (c->text_slots - 1); c->text_table[at];
	     at = (at + 1) & (c->text_slots - 1)) {
		const struct count_text *t = &c->texts[c->text_table[at] - 1];

		if (t->hash == (uint32_t)h && t->len == len && !memcmp(t->bytes, bytes, len))
			return c->text_table[at] - 1;
	}
	if (c->nr_texts == c->texts_room) {
		size_t room = c->texts_room ? c->texts_room * 2 : 32;
		struct count_text *bigger = realloc(c->texts, room * sizeof(*bigger));

		if (!bigger)
			return -1;
		c->texts = bigger;
		c->texts_room = room;
	}
	c->texts[c->nr_texts] = (struct count_text){ malloc(len + 1), len, (uint32_t)h };
	if (!c->texts[c->nr_texts].bytes)
		return -1;
	if (len)
		memcpy(c->texts[c->nr_texts].bytes, bytes, len);
	c->text_table[at] = (uint32_t)++c->nr_texts;
	return (int64_t)c->nr_texts - 1;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static int count_grow(struct counts *c)
{
	size_t room = c->room ? c->room * 2 : 256;
	struct count_row *rows = calloc(room, sizeof(*rows));

	if (!rows)
		return -1;
	for (size_t i = 0; i < c->room; i++) {
		size_t at = c->rows[i].hash & (room - 1);

		if (!c->rows[i].count)
			continue;
		while (rows[at].count)
			at = (at + 1) & (room - 1);
		rows[at] = c->rows[i];
	}
	free(c->rows);
	c->rows = rows;
	c->room = room;
	return 0;
}

static int count_add(struct counts *c, const struct count_row *row, uint64_t count)
{
	uint64_t h = row->absent;
	size_t at;

	for (size_t i = 0; i < c->nr_keys; i++)
		h = count_mix(h, row->values[i]);
	if (c->nr_rows * 2 >= c->room && count_grow(c) < 0)
		return -1;
	for (at = (uint32_t)h & (c->room - 1); c->rows[at].count; at = (at + 1) & (c->room - 1)) {
		if (c->rows[at].absent == row->absent &&
		    !memcmp(c->rows[at].values, row->values, c->nr_keys * sizeof(row->values[0]))) {
			c->rows[at].count += count;
			return 0;
		}
	}
	c->rows[at] = *row;
	c->rows[at].count = count;
	c->rows[at].hash = (uint32_t)h;
	c->nr_rows++;
	return 0;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* The key's field in the schema of an event; NULL if it has none. -1 if there is no memory. */
static int count_find_field(struct count_key *key, struct sonde_session *s, uint32_t schema,
			    const struct sonde_field **ret)
{
	if (schema >= key->nr_fields) {
		size_t nr = sonde_session_schemas(s);
		const struct sonde_field **bigger =
			realloc(key->fields, nr * sizeof(key->fields[0]));

		if (!bigger)
			return -1;
		key->fields = bigger;
		for (size_t i = key->nr_fields; i < nr; i++)
			bigger[i] = sonde_schema_field(sonde_session_schema(s, (uint32_t)i),
						       key->field);
		key->nr_fields = nr;
	}
	*ret = key->fields[schema];
	return 0;
}

static bool count_is_number(const struct sonde_field *f)
{
	return f->kind == SONDE_FIELD_INT || f->kind == SONDE_FIELD_ENUM ||
	       f->kind == SONDE_FIELD_BITS;
}

static int count_field_value(struct counts *c, struct sonde_session *s,
			     const struct sonde_event *ev, size_t i, struct count_row *row)
{
	const struct sonde_field *f;
	const uint8_t *bytes;
	size_t len;
	int64_t text;

	if (count_find_field(&c->keys[i], s, ev->schema, &f) < 0)
		return -1;
	row->fields[i] = f;
	if (!f) {
		row->absent |= 1u << i;
		return 0;
	}
	c->keys[i].is_met = true;
	if (count_is_number(f)) {
		row->values[i] =
			f->is_signed ? (uint64_t)sonde_event_i64(ev, f) : sonde_event_u64(ev, f);
		return 0;
	}
	bytes = sonde_event_bytes(ev, f, &len);
	if (bytes && f->kind == SONDE_FIELD_STRING)
		len = strnlen((const char *)bytes, len);
	text = count_text(c, bytes, bytes ? len : 0);
	row->values[i] = (uint64_t)text;
	return text < 0 ? -1 : 0;
}

static int count_value(struct counts *c, struct sonde_session *s, const struct sonde_event *ev,
		       size_t i, struct count_row *row)
{
	switch (c->keys[i].kind) {
	case COUNT_NAME:
		row->values[i] = sonde_schema_family(sonde_session_schema(s, ev->schema));
		return 0;
	case COUNT_CPU:
		row->values[i] = (uint64_t)(int64_t)ev->cpu;
		return 0;
	case COUNT_PID:
		row->values[i] = (uint64_t)(int64_t)ev->pid;
		return 0;
	case COUNT_TID:
		row->values[i] = (uint64_t)(int64_t)ev->tid;
		return 0;
	case COUNT_COMM:
		row->values[i] = ev->comm;
		return 0;
	case COUNT_INDEX:
		row->values[i] = sonde_event_input(ev);
		return 0;
	case COUNT_FIELD:
		break;
	}
	return count_field_value(c, s, ev, i, row);
}

#define COUNT_SMALL (sizeof(((struct counts *)NULL)->small) / sizeof(uint64_t))

static int count_event(struct counts *c, struct sonde_session *s, const struct sonde_event *ev)
{
	struct count_row row;

	memset(row.values, 0, sizeof(row.values));
	row.absent = 0;
	for (size_t i = 0; i < c->nr_keys; i++)
		if (count_value(c, s, ev, i, &row) < 0)
			return -1;
	if (c->nr_keys == 1 && c->keys[0].kind != COUNT_FIELD && row.values[0] < COUNT_SMALL) {
		c->small[row.values[0]]++;
		return 0;
	}
	return count_add(c, &row, 1);
}

static int count_batch(struct counts *c, struct py_session *s)
{
	for (size_t i = s->at; i < s->nr_batch; i++) {
		const struct sonde_event *ev = s->batch[i];

		if (ev->time_ns != SONDE_NO_TIME) {
			if (c->first_ns == SONDE_NO_TIME || ev->time_ns < c->first_ns)
				c->first_ns = ev->time_ns;
			if (c->last_ns == SONDE_NO_TIME || ev->time_ns > c->last_ns)
				c->last_ns = ev->time_ns;
		}
		if (c->nr_keys && count_event(c, s->s, ev) < 0)
			return -1;
	}
	c->total += s->nr_batch - s->at;
	return 0;
}

/* Reads to the end. Returns 0, -1 with an exception. */
static int count_read(struct counts *c, struct py_session *s)
{
	int r;

	while ((r = session_fill(s)) > 0) {
		r = count_batch(c, s);
		s->at = s->nr_batch;
		if (r < 0) {
			PyErr_NoMemory();
			return -1;
		}
	}
	return r;
}

/* ---- the result ------------------------------------------------------------------------------ */

static PyObject *count_field_object(struct counts *c, const struct count_row *row, size_t i)
{
	const struct sonde_field *f = row->fields[i];
	const struct count_text *t;

	if (count_is_number(f))
		return f->is_signed ? PyLong_FromLongLong((int64_t)row->values[i])
				    : u64_object(row->values[i]);
	t = &c->texts[row->values[i]];
	if (f->kind == SONDE_FIELD_STRING)
		return text_object((const char *)t->bytes, t->len);
	return PyBytes_FromStringAndSize((const char *)t->bytes, (Py_ssize_t)t->len);
}

static PyObject *count_object(struct counts *c, struct py_session *s, const struct count_row *row,
			      size_t i)
{
	if (row->absent & 1u << i)
		Py_RETURN_NONE;
	switch (c->keys[i].kind) {
	case COUNT_NAME: {
		struct schema_info *info = session_schema(s, (uint32_t)row->values[i]);

		if (info)
			Py_INCREF(info->name);
		return info ? info->name : NULL;
	}
	case COUNT_COMM:
		return comm_object(s->v, (uint32_t)row->values[i]);
	case COUNT_CPU:
	case COUNT_PID:
	case COUNT_TID:
	case COUNT_INDEX:
		return PyLong_FromLongLong((int64_t)row->values[i]);
	case COUNT_FIELD:
		break;
	}
	return count_field_object(c, row, i);
}

/* Adds a row to the dict; equal objects of different rows (a comm of two ids) are added up. */
static int count_put(struct counts *c, struct py_session *s, PyObject *dict,
		     const struct count_row *row)
{
	PyObject *key =
		c->nr_keys > 1 ? PyTuple_New((Py_ssize_t)c->nr_keys) : count_object(c, s, row, 0);
	PyObject *before;
	uint64_t count = row->count;
	int r = -1;

	for (size_t i = 0; key && c->nr_keys > 1 && i < c->nr_keys; i++) {
		PyObject *part = count_object(c, s, row, i);

		if (!part)
			Py_CLEAR(key);
		else
			PyTuple_SetItem(key, (Py_ssize_t)i, part);
	}
	if (key) {
		before = PyDict_GetItemWithError(dict, key);
		if (before)
			count += PyLong_AsUnsignedLongLong(before);
		if (!PyErr_Occurred())
			r = dict_take(dict, key, u64_object(count));
	}
	Py_XDECREF(key);
	return r;
}

static PyObject *count_result(struct counts *c, struct py_session *s)
{
	PyObject *dict;

	if (!c->nr_keys)
		return u64_object(c->total);
	dict = PyDict_New();
	for (size_t i = 0; dict && c->nr_keys == 1 && i < COUNT_SMALL; i++) {
		struct count_row row = { .values = { i }, .count = c->small[i] };

		if (row.count && count_put(c, s, dict, &row) < 0)
			Py_CLEAR(dict);
	}
	for (size_t i = 0; dict && i < c->room; i++)
		if (c->rows[i].count && count_put(c, s, dict, &c->rows[i]) < 0)
			Py_CLEAR(dict);
	return dict;
}

/* ---- keys ------------------------------------------------------------------------------------ */

static int count_key_init(struct count_key *key, PyObject *name)
{
	/* In the order of enum count_key_kind. "f_pid" is the field of that name. */
	static const char *const own[] = { "name", "cpu", "pid", "tid", "comm", "index" };
	PyObject *bytes = PyUnicode_AsEncodedString(name, "utf-8", "surrogateescape");
	const char *text = bytes ? PyBytes_AsString(bytes) : NULL;
	bool is_field = false;

	key->name = name;
	key->kind = COUNT_FIELD;
	for (size_t i = 0; text && i < sizeof(own) / sizeof(own[0]); i++) {
		if (!strcmp(text, own[i]))
			key->kind = (enum count_key_kind)i;
		is_field |= !strncmp(text, "f_", 2) && !strcmp(text + 2, own[i]);
	}
	if (text && key->kind == COUNT_FIELD) {
		key->field = strdup(is_field ? text + 2 : text);
		if (!key->field)
			PyErr_NoMemory();
	}
	Py_XDECREF(bytes);
	return PyErr_Occurred() ? -1 : 0;
}

/* A field that no event type of the recording has is an error. */
static int count_check_fields(struct counts *c, struct py_session *s)
{
	for (size_t i = 0; i < c->nr_keys; i++) {
		struct count_key *key = &c->keys[i];
		PyObject *names, *what;
		size_t nr = sonde_session_schemas(s->s);
		bool is_known = key->kind != COUNT_FIELD || key->is_met || !nr;

		for (size_t k = 0; !is_known && k < nr; k++)
			is_known = sonde_schema_field(sonde_session_schema(s->s, (uint32_t)k),
						      key->field);
		if (is_known)
			continue;
		names = PyList_New(0);
		for (size_t k = 0; names && k < nr; k++) {
			struct schema_info *info = session_schema(s, (uint32_t)k);
			Py_ssize_t end = info ? PyList_Size(names) : 0;

			if (!info || PyList_SetSlice(names, end, end, info->keys) < 0)
				Py_CLEAR(names);
		}
		what = names ? PyUnicode_FromString("the recording") : NULL;
		if (what)
			module_unknown(s->m, key->name, what, names);
		Py_XDECREF(what);
		Py_XDECREF(names);
		return -1;
	}
	return 0;
}

static void counts_free(struct counts *c)
{
	for (size_t i = 0; i < c->nr_keys; i++) {
		free(c->keys[i].field);
		free(c->keys[i].fields);
	}
	for (size_t i = 0; i < c->nr_texts; i++)
		free(c->texts[i].bytes);
	free(c->texts);
	free(c->text_table);
	free(c->rows);
	free(c);
}

PyObject *count_of_session(struct py_session *s, PyObject *args)
{
	PyObject *by = NULL, *result = NULL;
	struct counts *c;
	Py_ssize_t nr;

	if (!PyArg_ParseTuple(args, "|O!", &PyTuple_Type, &by) || session_check(s) < 0 ||
	    session_keep_lent(s) < 0)
		return NULL;
	nr = by ? PyTuple_Size(by) : 0;
	if (nr > COUNT_KEYS)
		return PyErr_Format(PyExc_ValueError, "count() takes at most %d keys", COUNT_KEYS);
	c = calloc(1, sizeof(*c));
	if (!c)
		return PyErr_NoMemory();
	c->first_ns = c->last_ns = SONDE_NO_TIME;
	for (Py_ssize_t i = 0; i < nr; i++) {
		PyObject *name = PyTuple_GetItem(by, i);

		if (!PyUnicode_Check(name)) {
			PyErr_SetString(PyExc_TypeError, "a key of count() is a str");
			goto out;
		}
		c->nr_keys++;
		if (count_key_init(&c->keys[i], name) < 0)
			goto out;
	}
	s->owner = PyThread_get_thread_ident();
	if (count_check_fields(c, s) >= 0 && count_read(c, s) >= 0 && count_check_fields(c, s) >= 0)
		result = count_result(c, s);
	s->owner = 0;
	s->first_ns = c->first_ns;
	s->last_ns = c->last_ns;
out:
	counts_free(c);
	return result;
}
