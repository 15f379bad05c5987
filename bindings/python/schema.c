/* SPDX-License-Identifier: MIT */
/* Schema and Field: names, declarations and the names of values. */
#include "schema.h"

#include <string.h>

#include "event_sample.h"

/* ---- names of values ------------------------------------------------------------------------- */

/* The steps of one field: -1 .. end in the schema's definitions. */
static const struct sonde_define *schema_defines_of(const struct schema_info *info, size_t i,
						    size_t *ret_nr)
{
	const char *name = info->convs[i].field->name;
	const struct sonde_define *d;
	size_t nr, first = 0, end;

	d = sonde_schema_defines(info->sc, &nr);
	while (first < nr && strcmp(d[first].field, name))
		first++;
	end = first;
	while (end < nr && !strcmp(d[end].field, name))
		end++;
	*ret_nr = end - first;
	return end > first ? d + first : NULL;
}

/* The value of a step as perf and the kernel compare it: with as many bits as the field has. */
static uint64_t schema_value_of(const struct schema_info *info, size_t i, uint64_t value)
{
	uint32_t width = info->convs[i].field->elem_width;

	return width >= 1 && width < 8 ? value & ((1ull << width * 8) - 1) : value;
}

static PyObject *schema_flag_names(const struct sonde_define *d, size_t nr, uint64_t value)
{
	PyObject *parts = PyList_New(0), *sep, *text = NULL;
	const char *delimiter = nr && *d->text ? d->text : "|";
	const bool is_zero = !value;

	for (size_t k = 0; parts && k < nr; k++) {
		PyObject *part;

		/* A name of the value 0 holds only if no flag is set. */
		if (d[k].kind != SONDE_DEFINE_FLAG_VALUE ||
		    (d[k].value ? (value & d[k].value) != d[k].value : !is_zero))
			continue;
		value &= ~d[k].value;
		part = text_object(d[k].text, strlen(d[k].text));
		if (!part || PyList_Append(parts, part) < 0)
			Py_CLEAR(parts);
		Py_XDECREF(part);
	}
	if (parts && value) {    /* bits without a name */
		char digits[24]; /* PyUnicode_FromFormat() has %llx from Python 3.12 on only */
		PyObject *part;

		PyOS_snprintf(digits, sizeof(digits), "0x%llx", (unsigned long long)value);
		part = PyUnicode_FromString(digits);
		if (!part || PyList_Append(parts, part) < 0)
			Py_CLEAR(parts);
		Py_XDECREF(part);
	}
	sep = parts ? text_object(delimiter, strlen(delimiter)) : NULL;
	if (sep)
		text = PyUnicode_Join(sep, parts);
	Py_XDECREF(sep);
	Py_XDECREF(parts);
	return text;
}

PyObject *schema_value_names(struct schema_info *info, size_t i, uint64_t value)
{
	const struct sonde_field *f = info->convs[i].field;
	const struct sonde_define *d;
	const char *label;
	size_t nr;

	if (f->kind == SONDE_FIELD_ENUM) {
		label = sonde_field_label(f, value);
		return text_object(label ? label : "", label ? strlen(label) : 0);
	}
	d = schema_defines_of(info, i, &nr);
	value = schema_value_of(info, i, value);
	for (size_t k = 0; k < nr; k++)
		if (d[k].kind == SONDE_DEFINE_SYMBOLIC_VALUE &&
		    schema_value_of(info, i, d[k].value) == value)
			return text_object(d[k].text, strlen(d[k].text));
	if (d && d->kind == SONDE_DEFINE_FLAG_FIELD)
		return schema_flag_names(d, nr, value);
	return PyUnicode_FromStringAndSize("", 0);
}

/* ---- Field ----------------------------------------------------------------------------------- */

/* The format of the field's column in Arrow's C data interface. */
static const char *schema_arrow(const struct sonde_field *f)
{
	static const char *const unsigned_formats[] = { "C", "S", "I", "L" };
	static const char *const signed_formats[] = { "c", "s", "i", "l" };
	int log2 = f->elem_width == 1 ? 0 : f->elem_width == 2 ? 1 : f->elem_width == 4 ? 2 : 3;

	switch (f->kind) {
	case SONDE_FIELD_STRING:
		return "u";
	case SONDE_FIELD_ARRAY:
		return "+l";
	case SONDE_FIELD_FLOAT:
		return f->elem_width == 4 ? "f" : "g";
	case SONDE_FIELD_INT:
	case SONDE_FIELD_ENUM:
	case SONDE_FIELD_BITS:
		return (f->is_signed ? signed_formats : unsigned_formats)[log2];
	default:
		return "z";
	}
}

static PyObject *schema_field_values(struct schema_info *info, size_t i, bool *is_flags)
{
	const struct sonde_field *f = info->convs[i].field;
	PyObject *values = PyDict_New(), *key;
	const struct sonde_define *d;
	size_t nr;

	d = schema_defines_of(info, i, &nr);
	*is_flags = d && d->kind == SONDE_DEFINE_FLAG_FIELD;
	for (size_t k = 0; values && k < nr; k++) {
		if (d[k].kind != SONDE_DEFINE_FLAG_VALUE &&
		    d[k].kind != SONDE_DEFINE_SYMBOLIC_VALUE)
			continue;
		key = f->is_signed ? PyLong_FromLongLong((int64_t)d[k].value)
				   : u64_object(schema_value_of(info, i, d[k].value));
		if (!key || dict_take(values, key, text_object(d[k].text, strlen(d[k].text))) < 0)
			Py_CLEAR(values);
		Py_XDECREF(key);
	}
	return values;
}

static PyObject *schema_field(struct py_session *s, struct schema_info *info, size_t i)
{
	const struct sonde_field *f = info->convs[i].field;
	bool is_flags = false;
	PyObject *values = schema_field_values(info, i, &is_flags), *members[] = {
		name_object(f->name),
		name_object(f->type ? f->type : ""),
		PyLong_FromUnsignedLong(f->width),
		PyBool_FromLong(f->is_signed),
		PyBool_FromLong(f->is_array),
		PyUnicode_FromString(schema_arrow(f)),
		values,
		PyBool_FromLong(is_flags),
	};

	return sequence_object(s->m->field, members, sizeof(members) / sizeof(members[0]));
}

PyTypeObject *schema_field_type_new(void)
{
	static PyStructSequence_Field members[] = {
		{ "name", "str: as in the event's format; e[name] is the value" },
		{ "type", "str: the declaration without the name: 'unsigned long', '__data_loc "
			  "char[]'" },
		{ "size", "int: bytes; 0 if the field runs to the end of the payload" },
		{ "signed", "bool: the number may be negative" },
		{ "array", "bool: [...] in the declaration, or of varying length" },
		{ "arrow", "str: the format of its column in Arrow's C data interface: 'i', 'u'" },
		{ "values", "dict of int to str: names of values in the event's print format" },
		{ "flags", "bool: values are bits that are combined" },
		{ NULL, NULL },
	};
	static PyStructSequence_Desc desc = { "sonde.Field", "A field of an event type.", members,
					      8 };

	return PyStructSequence_NewType(&desc);
}

/* ---- Schema ---------------------------------------------------------------------------------- */

PyObject *schema_new(struct py_session *s, struct schema_info *info)
{
	struct py_schema *o = PyObject_New(struct py_schema, s->m->schema);

	if (!o)
		return NULL;
	Py_INCREF((PyObject *)s);
	o->session = s;
	o->info = info;
	return (PyObject *)o;
}

static void schema_dealloc(struct py_schema *o)
{
	PyTypeObject *type = Py_TYPE((PyObject *)o);

	Py_XDECREF((PyObject *)o->session);
	PyObject_Free(o);
	Py_DECREF(type);
}

static PyObject *schema_name(struct py_schema *o, void *unused)
{
	(void)unused;
	Py_INCREF(o->info->name);
	return o->info->name;
}

/* Returns the library's schema; the session must still be open. */
static const struct sonde_schema *schema_of(struct py_schema *o)
{
	return session_check(o->session) < 0 ? NULL : o->info->sc;
}

static PyObject *schema_fields(struct py_schema *o, void *unused)
{
	const struct sonde_schema *sc = schema_of(o);
	PyObject *d = sc ? PyDict_New() : NULL;

	(void)unused;
	for (size_t i = 0; d && i < o->info->nr_fields; i++)
		if (dict_take(d, PyTuple_GetItem(o->info->keys, (Py_ssize_t)i),
			      schema_field(o->session, o->info, i)) < 0)
			Py_CLEAR(d);
	return d;
}

static PyObject *schema_id(struct py_schema *o, void *unused)
{
	const struct sonde_schema *sc = schema_of(o);

	(void)unused;
	return sc ? PyLong_FromUnsignedLong(sonde_schema_id(sc)) : NULL;
}

static PyObject *schema_family(struct py_schema *o, void *unused)
{
	const struct sonde_schema *sc = schema_of(o);

	(void)unused;
	return sc ? PyLong_FromUnsignedLong(sonde_schema_family(sc)) : NULL;
}

static PyObject *schema_kind(struct py_schema *o, void *unused)
{
	static const char *const kinds[] = { "tracepoint", "sample", "record", "defect" };
	const struct sonde_schema *sc = schema_of(o);

	(void)unused;
	return sc ? PyUnicode_FromString(kinds[sonde_schema_kind(sc)]) : NULL;
}

/* The fields as C declares them, a line each. */
static PyObject *schema_format(struct py_schema *o, void *unused)
{
	const struct sonde_schema *sc = schema_of(o);
	PyObject *lines = sc ? PyList_New(0) : NULL, *sep, *text = NULL;

	(void)unused;
	for (size_t i = 0; lines && i < o->info->nr_fields; i++) {
		const struct sonde_field *f = o->info->convs[i].field;
		PyObject *type = name_object(f->type ? f->type : ""), *line = NULL;

		if (type)
			line = PyUnicode_FromFormat("%U %U; offset:%u; size:%u; signed:%d\n", type,
						    PyTuple_GetItem(o->info->keys, (Py_ssize_t)i),
						    f->offset, f->width, f->is_signed);
		if (!line || PyList_Append(lines, line) < 0)
			Py_CLEAR(lines);
		Py_XDECREF(type);
		Py_XDECREF(line);
	}
	sep = lines ? PyUnicode_FromString("") : NULL;
	if (sep)
		text = PyUnicode_Join(sep, lines);
	Py_XDECREF(sep);
	Py_XDECREF(lines);
	return text;
}

static PyObject *schema_sampled(struct py_schema *o, void *unused)
{
	(void)unused;
	return event_sample_present(sonde_schema_sampled(o->info->sc));
}

static PyObject *schema_repr(struct py_schema *o)
{
	return PyUnicode_FromFormat("<sonde.Schema %U>", o->info->name);
}

static PyGetSetDef getset[] = {
	{ "name", (getter)schema_name, NULL, "str: 'sched:sched_switch', 'cpu-clock'", NULL },
	{ "id", (getter)schema_id, NULL, "int: dense per session, never reused", NULL },
	{ "family", (getter)schema_family, NULL, "int: id of the first schema of this name", NULL },
	{ "kind", (getter)schema_kind, NULL, "str: tracepoint, sample, record or defect", NULL },
	{ "fields", (getter)schema_fields, NULL,
	  "dict of str to Field: the fields, in the order of the format, common_* first", NULL },
	{ "_sampled", (getter)schema_sampled, NULL,
	  "frozenset of str: values of the samples, named as in Sample.present", NULL },
	{ "format", (getter)schema_format, NULL,
	  "str: a line per field: declaration, offset and size in bytes, sign", NULL },
	{ NULL }
};

PyTypeObject *schema_type_new(PyObject *module)
{
	static PyType_Slot slots[] = {
		{ Py_tp_new, (void *)module_refuse_new },
		{ Py_tp_doc, "An event type: its names and its fields." },
		{ Py_tp_dealloc, schema_dealloc },
		{ Py_tp_repr, schema_repr },
		{ Py_tp_getset, getset },
		{ 0, NULL },
	};
	static PyType_Spec spec = { "sonde.Schema", sizeof(struct py_schema), 0, Py_TPFLAGS_DEFAULT,
				    slots };

	(void)module;
	return (PyTypeObject *)PyType_FromSpec(&spec);
}
