/* SPDX-License-Identifier: MIT */
#include "model/field_program.h"

#include <string.h>

#include "model/field_text.h"
#include "model/printfmt/digits.h"
#include "model/value.h"

enum step_form {
	STEP_U8,
	STEP_S8,
	STEP_U16,
	STEP_S16,
	STEP_U32,
	STEP_S32,
	STEP_U64,
	STEP_S64,
	STEP_NUMBER, /* of any width, in the other byte order, or a pointer */
	STEP_COMM,   /* a text of 16 bytes */
	STEP_TEXT,   /* a text of `width` bytes */
	STEP_DYNAMIC_TEXT,
	STEP_OTHER /* field_text_put() */
};

enum {
	LABEL_COPY = 32, /* bytes of a label that are always copied */
	NUMBER_ROOM = 32 /* "-" and 20 digits, and what digits.h touches behind them */
};

struct field_step {
	char label[LABEL_COPY]; /* " name=", as far as it fits */
	uint32_t label_len;     /* of the complete one */
	uint8_t form;           /* enum step_form */
	bool swap;              /* NUMBER */
	uint32_t offset, width;
	const char *label_end; /* what follows `label`, if label_len is larger */
	const struct sonde_field *field;
};

struct field_program {
	struct field_step *steps;
	size_t nr;
	uint32_t need; /* bytes of payload that the steps read without a check */
	size_t room;   /* for all labels, numbers and fixed texts */
};

static enum step_form program_number(const struct sonde_field *f, bool *ret_swap)
{
	*ret_swap = field_swap(f, false);
	if (f->bit_width || !value_has_width(f->width) || f->offset > UINT32_MAX - f->width)
		return STEP_OTHER;
	if (*ret_swap || f->is_pointer)
		return STEP_NUMBER;
	switch (f->width) {
	case 1:
		return f->is_signed ? STEP_S8 : STEP_U8;
	case 2:
		return f->is_signed ? STEP_S16 : STEP_U16;
	case 4:
		return f->is_signed ? STEP_S32 : STEP_U32;
	default:
		return f->is_signed ? STEP_S64 : STEP_U64;
	}
}

static enum step_form program_form(const struct sonde_field *f, bool *ret_swap)
{
	*ret_swap = false;
	if (f->kind == SONDE_FIELD_INT && !f->is_dynamic)
		return program_number(f, ret_swap);
	if (f->kind != SONDE_FIELD_STRING || f->width > UINT32_MAX - f->offset)
		return STEP_OTHER;
	if (f->is_dynamic)
		return STEP_DYNAMIC_TEXT;
	/* A width of 0 means the rest of the payload. */
	return f->width == 16 ? STEP_COMM : f->width ? STEP_TEXT : STEP_OTHER;
}

static bool program_add(struct field_program *p, const struct sonde_schema *sc,
			const struct sonde_field *f)
{
	struct field_step *s = &p->steps[p->nr];
	const size_t name = strlen(f->name), n = name + 1 + (p->nr > 0);
	char *label = arena_alloc(sc->arena, n + LABEL_COPY);

	if (!label || n > UINT32_MAX)
		return false;
	label[0] = ' ';
	memcpy(label + n - 1 - name, f->name, name);
	label[n - 1] = '=';
	memset(label + n, 0, LABEL_COPY);
	*s = (struct field_step){
		.label_end = label + LABEL_COPY,
		.label_len = (uint32_t)n,
		.offset = f->offset,
		.width = f->width,
		.field = f,
	};
	memcpy(s->label, label, LABEL_COPY);
	s->form = (uint8_t)program_form(f, &s->swap);
	p->room += n + LABEL_COPY + NUMBER_ROOM;
	p->nr++;
	if (s->form == STEP_DYNAMIC_TEXT || s->form == STEP_OTHER)
		return true;
	if (s->form == STEP_TEXT)
		p->room += f->width;
	if (f->offset + f->width > p->need)
		p->need = f->offset + f->width;
	return true;
}

const struct field_program *field_program_new(const struct sonde_schema *sc)
{
	struct field_program *p = arena_alloc(sc->arena, sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct field_program){
		.steps = arena_array(sc->arena, sc->nr_fields + 1, sizeof(*p->steps)),
		.need = 1, /* an event without a payload may have no text at all */
	};
	for (size_t i = 0; p->steps && i < sc->nr_fields; i++)
		if (!sc->fields[i].is_common && !program_add(p, sc, &sc->fields[i]))
			return NULL;
	return p->steps ? p : NULL;
}

static inline char *program_put_label(char *to, const struct field_step *s)
{
	memcpy(to, s->label, LABEL_COPY);
	if (__builtin_expect(s->label_len > LABEL_COPY, 0))
		memcpy(to + LABEL_COPY, s->label_end, s->label_len - LABEL_COPY);
	return to + s->label_len;
}

static inline char *program_put_number(char *to, const struct field_step *s, const uint8_t *at)
{
	const uint64_t v = value_u64(at, s->width, s->swap);
	const bool is_signed = s->field->is_signed;

	if (s->field->is_pointer) {
		memcpy(to, "0x", 2);
		return pf_write_hex(to + 2,
				    is_signed ? (uint64_t)value_sign_extend(v, s->width) : v);
	}
	return is_signed ? pf_write_i64(to, value_sign_extend(v, s->width)) : pf_write_u64(to, v);
}

/* Writes what has no limit of its length. Returns the place after it, with room for the rest. */
static char *program_put_long(char *to, const struct field_program *p, const struct field_step *s,
			      const uint8_t *bytes, uint32_t len, struct outbuf *out)
{
	uint32_t n = 0;
	const uint8_t *from;

	out->len = (size_t)(to - out->data);
	if (s->form == STEP_DYNAMIC_TEXT) {
		from = field_bytes(s->field, bytes, len, false, &n);
		outbuf_put(out, from, from ? strnlen((const char *)from, n) : 0);
	} else {
		field_text_put(s->field, bytes, len, false, out);
	}
	return outbuf_room(out, p->room);
}

bool field_program_run(const struct field_program *p, const uint8_t *bytes, uint32_t len,
		       struct outbuf *out)
{
	char *to;
	size_t n;

	if (len < p->need)
		return false;
	to = outbuf_room(out, p->room);
	for (const struct field_step *s = p->steps, *end = s + p->nr; to && s < end; s++) {
		const uint8_t *at = bytes + s->offset;

		to = program_put_label(to, s);
		switch ((enum step_form)s->form) {
		case STEP_U8:
			to = pf_write_u64(to, *at);
			break;
		case STEP_S8:
			to = pf_write_i64(to, (int8_t)*at);
			break;
		case STEP_U16:
			to = pf_write_u64(to, get_u16(at, false));
			break;
		case STEP_S16:
			to = pf_write_i64(to, (int16_t)get_u16(at, false));
			break;
		case STEP_U32:
			to = pf_write_u64(to, get_u32(at, false));
			break;
		case STEP_S32:
			to = pf_write_i64(to, (int32_t)get_u32(at, false));
			break;
		case STEP_U64:
			to = pf_write_u64(to, get_u64(at, false));
			break;
		case STEP_S64:
			to = pf_write_i64(to, (int64_t)get_u64(at, false));
			break;
		case STEP_NUMBER:
			to = program_put_number(to, s, at);
			break;
		case STEP_COMM:
			memcpy(to, at, 16);
			to += value_comm_len(at);
			break;
		case STEP_TEXT:
			n = strnlen((const char *)at, s->width);
			memcpy(to, at, n);
			to += n;
			break;
		case STEP_DYNAMIC_TEXT:
		case STEP_OTHER:
			to = program_put_long(to, p, s, bytes, len, out);
			break;
		}
	}
	if (to)
		out->len = (size_t)(to - out->data);
	return true;
}
