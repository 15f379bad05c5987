/* SPDX-License-Identifier: MIT */
#include "model/field_text.h"

#include <string.h>

#include "model/printfmt/digits.h"
#include "model/value.h"

static void field_text_put_number(const struct sonde_field *f, uint64_t v, struct outbuf *out)
{
	if (f->is_pointer) {
		outbuf_put(out, "0x", 2);
		outbuf_hex(out, v);
	} else if (f->is_signed) {
		outbuf_i64(out, (int64_t)v);
	} else {
		outbuf_u64(out, v);
	}
}

static void field_text_put_elements(const struct sonde_field *f, const uint8_t *p, uint32_t len,
				    bool swap, struct outbuf *out)
{
	const uint32_t width = f->elem_width;

	outbuf_char(out, '[');
	for (uint32_t at = 0; at + width <= len; at += width) {
		const uint64_t v = value_u64(p + at, width, swap);

		if (at)
			outbuf_put(out, ", ", 2);
		field_text_put_number(f, f->is_signed ? (uint64_t)value_sign_extend(v, width) : v,
				      out);
	}
	outbuf_char(out, ']');
}

static void field_text_put_hex(const uint8_t *p, uint32_t len, struct outbuf *out)
{
	for (uint32_t i = 0; i < len; i++)
		outbuf_hex_width(out, p[i], 2, '0');
}

void field_text_put(const struct sonde_field *f, const uint8_t *bytes, uint32_t len, bool swap,
		    struct outbuf *out)
{
	uint32_t n;
	const uint8_t *p = field_bytes(f, bytes, len, swap, &n);
	const char *label = NULL;
	uint64_t v;

	if (!p)
		return;
	switch ((enum sonde_field_kind)f->kind) {
	case SONDE_FIELD_INT:
	case SONDE_FIELD_ENUM:
	case SONDE_FIELD_BITS:
		v = field_sign_extend(f, field_number(f, bytes, len, swap));
		if (f->kind == SONDE_FIELD_ENUM)
			label = field_label(f, v);
		if (label)
			outbuf_str(out, label);
		else
			field_text_put_number(f, v, out);
		return;
	case SONDE_FIELD_FLOAT:
		outbuf_double(out, field_double(f, bytes, len, swap), f->width == sizeof(float));
		return;
	case SONDE_FIELD_NESTED:
		outbuf_char(out, '{');
		fields_text_put(f->fields, f->nr_fields, bytes, len, swap, out);
		outbuf_char(out, '}');
		return;
	case SONDE_FIELD_STRING:
		outbuf_put(out, p, strnlen((const char *)p, n));
		return;
	case SONDE_FIELD_ARRAY:
		if (value_has_width(f->elem_width)) {
			field_text_put_elements(f, p, n, field_swap(f, swap), out);
			return;
		}
		break;
	case SONDE_FIELD_STRUCT:
		break;
	}
	field_text_put_hex(p, n, out);
}

/* Room for a number, and for what pf_write_u64() touches behind it. */
enum { FIELD_TEXT_NUMBER = 48 };

/* Writes the values that most fields have, if their name left room. NULL for other fields. */
static inline char *field_text_write_integer(char *to, const struct sonde_field *f,
					     const uint8_t *bytes, uint32_t len, bool swap)
{
	uint64_t v;

	if (f->kind != SONDE_FIELD_INT || f->is_pointer || field_is_special(f) ||
	    !field_is_inside(f, len))
		return NULL;
	v = value_u64(bytes + f->offset, f->width, swap);
	return f->is_signed ? pf_write_i64(to, value_sign_extend(v, f->width))
			    : pf_write_u64(to, v);
}

void fields_text_put(const struct sonde_field *fields, size_t nr, const uint8_t *bytes,
		     uint32_t len, bool swap, struct outbuf *out)
{
	bool begun = false;

	for (size_t i = 0; i < nr; i++) {
		const struct sonde_field *f = &fields[i];
		const size_t n = strlen(f->name);
		char *to = outbuf_room(out, n + 2 + FIELD_TEXT_NUMBER), *end;

		if (f->is_common)
			continue;
		if (!to)
			return;
		*to = ' ';
		to += begun;
		begun = true;
		memcpy(to, f->name, n);
		to[n] = '=';
		end = field_text_write_integer(to + n + 1, f, bytes, len, swap);
		out->len = (size_t)((end ? end : to + n + 1) - out->data);
		if (!end)
			field_text_put(f, bytes, len, swap, out);
	}
}

const char *field_text_advice(const char *name)
{
	if (strcmp(name, "pid") != 0 && strcmp(name, "tid") != 0)
		return "";
	return ": the thread that an event happened in is common_pid";
}
