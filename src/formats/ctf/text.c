/* SPDX-License-Identifier: MIT */
#include "formats/ctf/text.h"

#include <stdio.h>

#include "base/err.h"
#include "base/json.h"

#define TEXT_PUT(out, literal) outbuf_put(out, literal, sizeof(literal) - 1)

/* ---- numbers --------------------------------------------------------------------------------- */

/* Hexadecimal and octal digits of a negative number: its bits, rounded up to complete digits. */
static uint64_t text_mask(uint64_t v, unsigned bits, unsigned digit_bits)
{
	const unsigned width = (bits + digit_bits - 1) / digit_bits * digit_bits;

	return width < 64 ? v & ((UINT64_C(1) << width) - 1) : v;
}

static void text_put_hex(struct outbuf *out, uint64_t v)
{
	char digits[16], *at = digits + sizeof(digits);

	do
		*--at = "0123456789ABCDEF"[v & 15];
	while (v >>= 4);
	TEXT_PUT(out, "0x");
	outbuf_put(out, at, (size_t)(digits + sizeof(digits) - at));
}

static void text_put_octal(struct outbuf *out, uint64_t v)
{
	char digits[23], *at = digits + sizeof(digits);

	do
		*--at = (char)('0' + (v & 7));
	while (v >>= 3);
	*--at = '0';
	outbuf_put(out, at, (size_t)(digits + sizeof(digits) - at));
}

static void text_put_binary(struct outbuf *out, uint64_t v, unsigned bits)
{
	char *to = outbuf_room(out, 66);

	if (!to)
		return;
	*to++ = '0';
	*to++ = 'b';
	for (unsigned i = bits; i--;)
		*to++ = (char)('0' + (v >> i & 1));
	outbuf_advance(out, bits + 2);
}

static void text_put_integer(const struct ctf_step *s, uint64_t v, struct outbuf *out)
{
	const unsigned bits = s->is_leb ? 64 : s->bits;

	switch (s->base) {
	case 16:
		text_put_hex(out, text_mask(v, bits, 4));
		return;
	case 8:
		text_put_octal(out, s->is_signed ? text_mask(v, bits, 3) : v);
		return;
	case 2:
		text_put_binary(out, v, bits);
		return;
	}
	if (s->is_signed)
		outbuf_i64(out, (int64_t)v);
	else
		outbuf_u64(out, v);
}

static void text_put_float(const struct ctf_step *s, uint64_t v, struct outbuf *out)
{
	const uint32_t half = (uint32_t)v;
	float single;
	double d;

	if (s->bits == 32) {
		memcpy(&single, &half, sizeof(single));
		d = (double)single;
	} else {
		memcpy(&d, &v, sizeof(d));
	}
	outbuf_fmt(out, "%g", d);
}

/* ---- text ------------------------------------------------------------------------------------ */

/* Writes the escape of a byte. Returns its length, at most 4. */
static size_t text_write_escape(char *to, uint8_t c)
{
	static const char from[] = "\a\b\033\f\n\r\t\v\\'\"?", letters[] = "abefnrtv\\'\"?";
	const char *found = memchr(from, c, sizeof(from) - 1);

	to[0] = '\\';
	if (found) {
		to[1] = letters[found - from];
		return 2;
	}
	to[1] = 'x';
	to[2] = "0123456789abcdef"[c >> 4];
	to[3] = "0123456789abcdef"[c & 15];
	return 4;
}

static void text_put_escaped(struct outbuf *out, uint8_t c)
{
	char *to = outbuf_room(out, 4);

	if (to)
		outbuf_advance(out, text_write_escape(to, c));
}

/* Bytes that need no escape. */
static const bool text_is_plain[256] = { [' ' ... '!'] = true, ['#' ... '&'] = true,
					 ['(' ... '>'] = true, ['@' ... '['] = true,
					 [']' ... '~'] = true, [0x80 ... 0xff] = true };

static void text_put_string(struct outbuf *out, const uint8_t *p, size_t len)
{
	const uint8_t *const end = p + len;
	char *to = outbuf_room(out, len + 2);

	if (!to)
		return;
	*to++ = '"';
	while (p < end && text_is_plain[*p])
		*to++ = (char)*p++;
	if (p == end)
		*to++ = '"';
	out->len = (size_t)(to - out->data);
	if (p == end)
		return;
	while (p < end) {
		const uint8_t *from = p;

		while (p < end && text_is_plain[*p])
			p++;
		outbuf_put(out, from, (size_t)(p - from));
		if (p < end)
			text_put_escaped(out, *p++);
	}
	outbuf_char(out, '"');
}

bool ctf_is_text_array(const struct ctf_step *array)
{
	const struct ctf_step *elem = array + 1;

	return elem->kind == CTF_INT && elem->is_text && elem->bits == 8 && !(elem->align % 8);
}

/* ---- enums ----------------------------------------------------------------------------------- */

static bool text_label_has(const struct ctf_step *s, const struct sonde_label *l, uint64_t v)
{
	return s->is_signed ? (int64_t)l->from <= (int64_t)v && (int64_t)v <= (int64_t)l->to
			    : l->from <= v && v <= l->to;
}

/* True if an earlier range that has v has the same label. */
static bool text_is_label_put(const struct ctf_step *s, uint32_t label, uint64_t v)
{
	const struct sonde_label *labels = s->type->labels;

	for (uint32_t i = 0; i < label; i++)
		if (text_label_has(s, &labels[i], v) && !strcmp(labels[i].text, labels[label].text))
			return true;
	return false;
}

static void text_put_enum(const struct ctf_step *s, uint64_t v, struct outbuf *out)
{
	bool is_known = false;

	TEXT_PUT(out, "( ");
	for (uint32_t i = 0; i < s->type->nr_labels; i++) {
		const struct sonde_label *l = &s->type->labels[i];

		if (!text_label_has(s, l, v) || (is_known && text_is_label_put(s, i, v)))
			continue;
		if (is_known)
			TEXT_PUT(out, ", ");
		is_known = true;
		text_put_string(out, (const uint8_t *)l->text, strlen(l->text));
	}
	if (!is_known)
		TEXT_PUT(out, "<unknown>");
	TEXT_PUT(out, " : container = ");
	text_put_integer(s, v, out);
	TEXT_PUT(out, " )");
}

/* ---- compounds ------------------------------------------------------------------------------- */

/* Copies a label in pieces: more than len bytes may be read and written. */
static inline char *text_copy_label(char *to, const char *from, size_t len)
{
	for (size_t i = 0; i < len; i += CTF_LABEL_SLACK)
		memcpy(to + i, from + i, CTF_LABEL_SLACK);
	return to + len;
}

static inline char *text_write_number(char *to, const struct ctf_step *s, uint64_t v)
{
	if (s->base == 16) {
		unsigned digits = (67 - (unsigned)__builtin_clzll(v | 1)) / 4;

		*to++ = '0';
		*to++ = 'x';
		for (char *at = to + digits; at > to; v >>= 4)
			*--at = "0123456789ABCDEF"[v & 15];
		return to + digits;
	}
	if (s->is_signed) {
		v = ctf_sign_extend(v, s->bits);
		if ((int64_t)v < 0) {
			*to++ = '-';
			v = -v;
		}
	}
	return json_write_u64(to, v);
}

/* A text array of len bytes, which ends at a NUL or with the array. */
static inline char *text_write_array(char *to, const uint8_t *p, uint64_t len)
{
	*to++ = '"';
	for (const uint8_t *const end = p + len; p < end && *p; p++) {
		if (text_is_plain[*p])
			*to++ = (char)*p;
		else
			to += text_write_escape(to, *p);
	}
	*to++ = '"';
	return to;
}

/* Writes the quick steps from i on, with their names: one check, and memory for all of them. */
static int text_put_run(const struct ctf_step *steps, uint32_t i, struct ctf_reader *rd,
			bool has_any, struct outbuf *out)
{
	const uint32_t end = steps[i].quick_next;
	char *to = outbuf_room(out, steps[i].quick_room + CTF_LABEL_SLACK);
	uint64_t pos = ctf_align(rd, steps[i].align);
	size_t skip = !has_any; /* the first name has a blank in front of it in place of ", " */

	TRY(ctf_has(rd, pos, steps[i].quick_bits));
	if (!to)
		return -ENOMEM;
	for (; i < end; i = steps[i].next) {
		const struct ctf_step *s = &steps[i];

		rd->pos = pos;
		pos = ctf_align(rd, s->align);
		to = text_copy_label(to, s->label + skip, s->label_len - skip);
		skip = 0;
		to = s->kind == CTF_ARRAY
			     ? text_write_array(to, rd->bytes + pos / 8, s->count)
			     : text_write_number(to, s,
						 ctf_read_bits(rd->bytes, pos, s->bits, s->is_big));
		pos += s->fixed_bits;
	}
	rd->pos = pos;
	out->len = (size_t)(to - out->data);
	return 0;
}

static int text_put_struct(const struct ctf_step *steps, uint32_t at, struct ctf_reader *rd,
			   struct outbuf *out, bool *ret_has_any)
{
	const uint32_t end = steps[at].next;
	bool has_any = false;

	outbuf_char(out, '{');
	for (uint32_t i = at + 1; i < end;) {
		const struct ctf_step *s = &steps[i];

		if (s->is_hidden) {
			TRY(ctf_walk_steps(steps, i, s->next, rd));
			i = s->next;
			continue;
		}
		if (s->quick_next) {
			TRY(text_put_run(steps, i, rd, has_any, out));
			i = s->quick_next;
		} else {
			outbuf_put(out, s->label + !has_any, s->label_len - !has_any);
			TRY(ctf_text_put_value(steps, i, rd, out));
			i = s->next;
		}
		has_any = true;
	}
	TEXT_PUT(out, " }");
	if (ret_has_any)
		*ret_has_any = has_any;
	return 0;
}

static int text_put_text_array(const struct ctf_step *steps, uint64_t count, struct ctf_reader *rd,
			       struct outbuf *out)
{
	const uint8_t *p;

	(void)steps;
	if (count > UINT64_MAX / 8)
		return ctf_walk_bad(rd, "a length is beyond the content of its packet");
	TRY(ctf_has(rd, rd->pos, 8 * count));
	p = rd->bytes + rd->pos / 8;
	text_put_string(out, p, strnlen((const char *)p, count));
	rd->pos += 8 * count;
	return 0;
}

static int text_put_array(const struct ctf_step *steps, uint32_t at, uint64_t count,
			  struct ctf_reader *rd, struct outbuf *out)
{
	if (ctf_is_text_array(&steps[at]))
		return text_put_text_array(steps, count, rd, out);
	TEXT_PUT(out, "[ ");
	for (uint64_t i = 0; i < count; i++) {
		TRY(ctf_spend(rd, 1));
		if (i)
			TEXT_PUT(out, ", ");
		outbuf_char(out, '[');
		outbuf_u64(out, i);
		TEXT_PUT(out, "] = ");
		TRY(ctf_text_put_value(steps, at + 1, rd, out));
	}
	if (count)
		outbuf_char(out, ' ');
	outbuf_char(out, ']');
	return 0;
}

static int text_put_variant(const struct ctf_step *steps, uint32_t at, struct ctf_reader *rd,
			    struct outbuf *out)
{
	const uint32_t option = ctf_choose(&steps[at], rd->slots[steps[at].ref]);

	if (!option) {
		TEXT_PUT(out, "{ }");
		return steps[at].is_optional
			       ? 0
			       : ctf_walk_bad(rd, "the tag of a variant chooses no option");
	}
	TEXT_PUT(out, "{ ");
	TRY(ctf_text_put_value(steps, option, rd, out));
	TEXT_PUT(out, " }");
	return 0;
}

int ctf_text_put_value(const struct ctf_step *steps, uint32_t at, struct ctf_reader *rd,
		       struct outbuf *out)
{
	const struct ctf_step *s = &steps[at];
	uint64_t v;

	if (s->kind != CTF_VARIANT)
		rd->pos = ctf_align(rd, s->align);
	switch ((enum ctf_kind)s->kind) {
	case CTF_INT:
		TRY(ctf_read_number(s, rd, &v));
		text_put_integer(s, v, out);
		return 0;
	case CTF_ENUM:
		TRY(ctf_read_number(s, rd, &v));
		text_put_enum(s, v, out);
		return 0;
	case CTF_FLOAT:
		TRY(ctf_read_number(s, rd, &v));
		text_put_float(s, v, out);
		return 0;
	case CTF_STRING:
		TRY(ctf_read_string(rd, &v));
		text_put_string(out, rd->bytes + rd->pos / 8, v);
		rd->pos += 8 * (v + 1);
		return 0;
	case CTF_STRUCT:
		return text_put_struct(steps, at, rd, out, NULL);
	case CTF_ARRAY:
		return text_put_array(steps, at, s->count, rd, out);
	case CTF_SEQUENCE:
		return text_put_array(steps, at, rd->slots[s->ref], rd, out);
	case CTF_VARIANT:
		return text_put_variant(steps, at, rd, out);
	}
	return 0;
}

int ctf_text_put(const struct ctf_program *program, struct ctf_reader *rd, const char *before,
		 struct outbuf *out)
{
	const size_t start = out->len;
	bool has_any;

	if (!program->nr)
		return 0;
	outbuf_str(out, before);
	rd->pos = ctf_align(rd, program->steps[0].align);
	TRY(text_put_struct(program->steps, 0, rd, out, &has_any));
	if (has_any || program->nr == 1) /* declared without fields */
		return 1;
	out->len = start;
	return 0;
}
