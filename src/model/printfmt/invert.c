/* SPDX-License-Identifier: MIT */
#include "model/printfmt/invert.h"

#include "model/printfmt/printfmt_internal.h"

#include <string.h>

#include "model/value.h"

enum {
	MOST_STEPS = 256,  /* one level of recursion for each */
	MOST_TRIES = 4096, /* ends of texts that are tried in a line */
	MOST_DEPTH = 64    /* of an expression or condition */
};

struct invert {
	const struct printfmt *pf;
	const char *end;
	uint8_t *bytes;
	uint32_t room, len;
	unsigned tries;
	uint8_t *shown; /* set in place of bytes: a mark for each byte of a shown field */
	bool is_dry;    /* asks if there is an inverse, and changes nothing */
};

/* ---- numbers --------------------------------------------------------------------------------- */

/* The bytes that an expression loads; 0 if it is none. */
static uint32_t invert_load_width(const struct pf_expr *e)
{
	switch (e->code) {
	case PF_E_LOAD1:
	case PF_E_LOADS1:
		return 1;
	case PF_E_LOAD2:
	case PF_E_LOADS2:
		return 2;
	case PF_E_LOAD4:
	case PF_E_LOADS4:
	case PF_E_MASK4:
		return 4;
	case PF_E_LOAD8:
	case PF_E_MASK8:
		return 8;
	case PF_E_INDEX:
		return e->a->code == PF_E_CONST && value_has_width(e->width) ? e->width : 0;
	}
	return 0;
}

static uint64_t invert_load_offset(const struct pf_expr *e)
{
	return e->offset + (e->code == PF_E_INDEX ? e->a->value * e->value : 0);
}

static void invert_put(uint8_t *to, uint64_t v, uint32_t width)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(to, &v, width);
#else
	memcpy(to, (uint8_t *)&v + 8 - width, width);
#endif
}

/* Sets the bits of mask in the bytes that e loads. */
static bool invert_store(struct invert *inv, const struct pf_expr *e, uint64_t v, uint64_t mask)
{
	const uint32_t width = invert_load_width(e);
	const uint64_t at = invert_load_offset(e);
	uint64_t old = 0;

	if (!width || at > inv->room || width > inv->room - at)
		return false;
	if (inv->is_dry)
		return true;
	if (inv->shown) {
		memset(inv->shown + at, 1, width);
		return true;
	}
	if (e->code == PF_E_MASK4 || e->code == PF_E_MASK8)
		mask &= e->value;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	memcpy(&old, inv->bytes + at, width);
#else
	memcpy((uint8_t *)&old + 8 - width, inv->bytes + at, width);
#endif
	invert_put(inv->bytes + at, (old & ~mask) | (v & mask), width);
	return true;
}

/*
 * Makes the bits of mask in the value of e those of v. False if e has no inverse: then nothing has
 * changed.
 */
static bool invert_number(struct invert *inv, const struct pf_expr *e, uint64_t v, uint64_t mask)
{
	const uint64_t all = UINT64_MAX;

	for (unsigned depth = 0; depth < MOST_DEPTH; depth++) {
		const uint64_t c = e->b && e->b->code == PF_E_CONST ? e->b->value : 0;

		if (invert_load_width(e))
			return invert_store(inv, e, v, mask);
		switch (e->code) {
		case PF_E_TRUNC1:
		case PF_E_SEXT1:
			mask &= UINT8_MAX;
			break;
		case PF_E_TRUNC2:
		case PF_E_SEXT2:
			mask &= UINT16_MAX;
			break;
		case PF_E_TRUNC4:
		case PF_E_SEXT4:
			mask &= UINT32_MAX;
			break;
		case PF_E_NOT:
			v = ~v;
			break;
		default:
			if (!e->b || e->b->code != PF_E_CONST)
				return false;
			if (e->code == PF_E_AND)
				mask &= c;
			else if (e->code == PF_E_OR)
				mask &= ~c;
			else if (e->code == PF_E_XOR)
				v ^= c;
			else if ((e->code == PF_E_SHR || e->code == PF_E_SSHR) && c < 64)
				v <<= c, mask <<= c;
			else if (e->code == PF_E_SHL && c < 64)
				v >>= c, mask >>= c;
			else if (e->code == PF_E_ADD && (mask == all || mask == UINT32_MAX))
				v -= c;
			else if (e->code == PF_E_SUB && (mask == all || mask == UINT32_MAX))
				v += c;
			else
				return false;
		}
		e = e->a;
	}
	return false;
}

/* True if a condition's value follows from the text that it selected. */
static bool invert_condition(struct invert *inv, const struct pf_expr *e, bool is_true)
{
	for (unsigned depth = 0; depth < MOST_DEPTH; depth++) {
		const struct pf_expr *b = e->b;
		const bool is_const = b && b->code == PF_E_CONST;

		if (e->code == PF_E_LNOT || (e->code == PF_E_EQ && is_const && !b->value)) {
			is_true = !is_true;
			e = e->a;
		} else if (e->code == PF_E_NE && is_const && !b->value) {
			e = e->a;
		} else if (e->code == PF_E_EQ && is_const) {
			return is_true && invert_number(inv, e->a, b->value, UINT64_MAX);
		} else if (!is_true) {
			return invert_number(inv, e, 0, UINT64_MAX);
		} else {
			uint64_t bit = 0;

			if (e->code == PF_E_AND && is_const)
				bit = b->value;
			else if (e->code == PF_E_MASK4 || e->code == PF_E_MASK8)
				bit = e->value;
			return __builtin_popcountll(bit) == 1 && invert_number(inv, e, bit, bit);
		}
	}
	return false;
}

static unsigned invert_digit(char c)
{
	return c >= '0' && c <= '9'                 ? (unsigned)(c - '0')
	       : (c | 32) >= 'a' && (c | 32) <= 'f' ? (unsigned)((c | 32) - 'a' + 10)
						    : 99;
}

/* Reads a number. Returns the place after it; NULL if there is none. */
static const char *invert_digits(const char *at, const char *end, unsigned base, uint64_t *ret)
{
	const char *first = at;
	uint64_t v = 0;

	for (; at < end && invert_digit(*at) < base; at++)
		v = v * base + invert_digit(*at);
	*ret = v;
	return at > first ? at : NULL;
}

/* A number as printf() writes it, with its padding. */
static const char *invert_printed(const char *at, const char *end, char conv, uint64_t *ret)
{
	const unsigned base = conv == 'x' || conv == 'X' ? 16 : conv == 'o' ? 8 : 10;
	bool is_negative;

	while (at < end && *at == ' ')
		at++;
	is_negative = at < end && *at == '-';
	if (at < end && (*at == '-' || *at == '+'))
		at++;
	if (base == 16 && end - at > 2 && at[0] == '0' && (at[1] | 32) == 'x')
		at += 2;
	at = invert_digits(at, end, base, ret);
	if (at && is_negative)
		*ret = -*ret;
	return at;
}

/* "0x1f" or "31", all of the text. */
static bool invert_whole_number(const char *at, const char *end, uint64_t *ret)
{
	const bool is_hex = end - at > 2 && at[0] == '0' && at[1] == 'x';

	return invert_digits(at + (is_hex ? 2 : 0), end, is_hex ? 16 : 10, ret) == end;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* True if the values of some names are not known: then a text says little about the value. */
static bool invert_has_unknown(const struct pf_text *t)
{
	for (uint32_t i = 0; i < t->nr_entries; i++)
		if (t->entries[i].never)
			return true;
	return false;
}

/* A value that has no inverse is passed over, except while fields are marked. */
static bool invert_opaque(struct invert *inv, const struct pf_expr *e, uint64_t v)
{
	return invert_number(inv, e, v, UINT64_MAX) || !inv->shown;
}

static bool invert_symbol(struct invert *inv, const struct pf_text *t, const char *at,
			  const char *end)
{
	uint64_t v = 0;

	if (invert_has_unknown(t))
		return !inv->shown;
	for (uint32_t i = 0; i < t->nr_entries && !inv->shown; i++) {
		const struct pf_entry *e = &t->entries[i];

		if (!e->never && e->len == (size_t)(end - at) && !memcmp(e->name, at, e->len))
			return invert_opaque(inv, t->num, e->value);
	}
	return (inv->shown || invert_whole_number(at, end, &v)) && invert_opaque(inv, t->num, v);
}

/* The entry with the longest name at this place. */
static const struct pf_entry *invert_find_flag(const struct pf_text *t, const char *at,
					       const char *end)
{
	const struct pf_entry *best = NULL;

	for (uint32_t i = 0; i < t->nr_entries; i++) {
		const struct pf_entry *e = &t->entries[i];

		if (!e->never && e->len && e->len <= (size_t)(end - at) &&
		    !memcmp(e->name, at, e->len) && (!best || e->len > best->len))
			best = e;
	}
	return best;
}

static bool invert_flags(struct invert *inv, const struct pf_text *t, const char *at,
			 const char *end)
{
	uint64_t v = 0, rest;

	if (invert_has_unknown(t))
		return !inv->shown;
	while (at < end && !inv->shown) {
		const struct pf_entry *e = invert_find_flag(t, at, end);

		if (!e && invert_whole_number(at, end, &rest)) {
			v |= rest;
			break;
		}
		if (!e)
			return false;
		v |= e->value;
		at += e->len;
		if (at == end)
			break;
		if (t->len >= (size_t)(end - at) || memcmp(at, t->text, t->len) != 0)
			return false;
		at += t->len;
	}
	return invert_opaque(inv, t->num, v);
}

/* Text of a dynamic field goes to the record's end. */
static bool invert_append(struct invert *inv, const struct sonde_field *f, const void *at, size_t n,
			  bool is_string)
{
	const uint32_t base = f->is_relative ? f->offset + 4 : 0;
	uint32_t word;

	if (f->offset > inv->room || inv->room - f->offset < 4)
		return false;
	if (inv->shown) {
		memset(inv->shown + f->offset, 1, 4);
		return true;
	}
	if (inv->len >= inv->room || n + 1 > inv->room - inv->len || inv->len - base > UINT16_MAX ||
	    n + 1 > UINT16_MAX)
		return false;
	word = (uint32_t)(n + is_string) << 16 | (inv->len - base);
	memcpy(inv->bytes + f->offset, &word, 4);
	memcpy(inv->bytes + inv->len, at, n);
	inv->bytes[inv->len + n] = '\0';
	inv->len += (uint32_t)(n + is_string);
	return true;
}

static bool invert_fixed(struct invert *inv, uint32_t offset, uint32_t width, const void *at,
			 size_t n)
{
	if (offset > inv->room || width > inv->room - offset || n > width)
		return false;
	if (inv->shown) {
		memset(inv->shown + offset, 1, width);
		return true;
	}
	memset(inv->bytes + offset, 0, width);
	memcpy(inv->bytes + offset, at, n);
	return true;
}

static bool invert_bytes(struct invert *inv, const struct pf_text *t, const char *at, size_t n)
{
	const struct sonde_field *f = t->place.field;

	if (!f || t->place.skip)
		return false;
	if (f->is_dynamic && !t->place.itself)
		return invert_append(inv, f, at, n, true);
	return f->width && invert_fixed(inv, f->offset, f->width, at, n);
}

/* ---- arrays ---------------------------------------------------------------------------------- */

static const struct pf_expr *invert_without_casts(const struct pf_expr *e)
{
	while (e->code >= PF_E_TRUNC1 && e->code <= PF_E_SEXT4)
		e = e->a;
	return e;
}

/* The bytes of an element; 0 if they are not constant. */
static uint32_t invert_element(const struct pf_text *t)
{
	const struct pf_expr *e = t->elem ? invert_without_casts(t->elem) : NULL;

	if (t->kind == PF_T_HEX)
		return 1;
	return e && e->code == PF_E_CONST && value_has_width((uint32_t)e->value)
		       ? (uint32_t)e->value
		       : 0;
}

/* True if the count of a text is that of all elements of its field. */
static bool invert_is_all(const struct pf_text *t, const struct sonde_field *f, uint32_t width)
{
	const struct pf_expr *e = invert_without_casts(t->count);

	if (!f->is_dynamic)
		return e->code == PF_E_CONST && f->width && e->value * width == f->width;
	if ((e->code == PF_E_DIV || e->code == PF_E_SDIV) && width > 1) {
		const struct pf_expr *by = invert_without_casts(e->b);

		if (by->code != PF_E_CONST || by->value != width)
			return false;
		e = invert_without_casts(e->a);
	} else if (width > 1) {
		return false;
	}
	return e->code == PF_E_DYNLEN && e->field == f;
}

static bool invert_hex_byte(const char *at, const char *end, uint8_t *ret)
{
	if (end - at < 2 || invert_digit(at[0]) > 15 || invert_digit(at[1]) > 15)
		return false;
	*ret = (uint8_t)(invert_digit(at[0]) << 4 | invert_digit(at[1]));
	return true;
}

/* Reads "01 ff", "01ff" or "{0x1,0xff}". Returns the bytes; <0 if the text is none of these. */
static int invert_elements(const struct pf_text *t, uint32_t width, const char *at, const char *end,
			   uint8_t *ret, size_t room)
{
	size_t n = 0;

	if (t->braces && t->kind == PF_T_ARRAY && (end - at < 2 || *at++ != '{' || *--end != '}'))
		return -1;
	while (at < end) {
		uint64_t v = 0;

		if (room - n < width)
			return -1;
		if (n && !(t->kind == PF_T_HEX && t->compact) &&
		    *at++ != (t->kind == PF_T_ARRAY ? ',' : ' '))
			return -1;
		if (t->kind == PF_T_HEX) {
			if (!invert_hex_byte(at, end, &ret[n]))
				return -1;
			at += 2;
		} else {
			if (end - at < 3 || at[0] != '0' || at[1] != 'x')
				return -1;
			at = invert_digits(at + 2, end, 16, &v);
			if (!at)
				return -1;
			invert_put(ret + n, v, width);
		}
		n += width;
	}
	return (int)n;
}

/* An array that the text does not show completely is passed over. */
static bool invert_array(struct invert *inv, const struct pf_text *t, const char *at,
			 const char *end)
{
	enum { MOST_BYTES = 4096 };
	const struct sonde_field *f = t->place.field;
	const uint32_t width = invert_element(t);
	uint8_t bytes[MOST_BYTES];
	int n;

	if (!f || t->place.skip || (f->is_dynamic && t->place.itself) || !width ||
	    !invert_is_all(t, f, width))
		return !inv->shown;
	n = inv->shown ? 0 : invert_elements(t, width, at, end, bytes, sizeof(bytes));
	if (n < 0)
		return false;
	return f->is_dynamic ? invert_append(inv, f, bytes, (size_t)n, false)
			     : invert_fixed(inv, f->offset, f->width, bytes, (size_t)n);
}

/*
 * Takes the text at[0..end-at) as that of t. False if it cannot be, or while fields are marked: if
 * it does not show all that t depends on.
 */
static bool invert_text(struct invert *inv, const struct pf_text *t, const char *at,
			const char *end, unsigned depth)
{
	const size_t n = (size_t)(end - at);

	if (depth > MOST_DEPTH)
		return false;
	switch (t->kind) {
	case PF_T_NOTHING:
		return inv->shown || !n;
	case PF_T_CONST:
		return inv->shown || (n == t->len && !memcmp(at, t->text, n));
	case PF_T_BYTES:
	case PF_T_CSTR:
		return invert_bytes(inv, t, at, n) || !inv->shown;
	case PF_T_SYMBOL:
		return invert_symbol(inv, t, at, end);
	case PF_T_FLAGS:
		return invert_flags(inv, t, at, end);
	case PF_T_HEX:
	case PF_T_ARRAY:
		return invert_array(inv, t, at, end);
	}
	return !inv->shown;
}

/* A text that a condition selects. A constant is tried first. */
static bool invert_choice(struct invert *inv, const struct pf_text *t, const char *at,
			  const char *end, unsigned depth)
{
	const bool b_first = t->kind == PF_T_COND && t->b->kind == PF_T_CONST;

	if (depth > MOST_DEPTH)
		return false;
	if (t->kind != PF_T_COND)
		return invert_text(inv, t, at, end, depth);
	for (unsigned i = 0; i < 2; i++) {
		const bool is_b = b_first == (i == 0);

		if (invert_choice(inv, is_b ? t->b : t->a, at, end, depth + 1)) {
			/* It may say nothing about the condition. */
			invert_condition(inv, t->num, !is_b);
			return true;
		}
	}
	return false;
}

/*
 * Marks what the text shows. True if it shows all that it depends on. One bit of a field is not the
 * field, so a condition marks nothing.
 */
static bool invert_mark_text(struct invert *inv, const struct pf_text *t, unsigned depth)
{
	bool is_full;

	if (depth > MOST_DEPTH)
		return false;
	if (t->kind != PF_T_COND)
		return invert_text(inv, t, "", "", depth);
	is_full = invert_mark_text(inv, t->a, depth + 1);
	is_full &= invert_mark_text(inv, t->b, depth + 1);
	inv->is_dry = true;
	is_full &= invert_condition(inv, t->num, false) &&
		   (t->a->kind != PF_T_CONST || invert_condition(inv, t->num, true));
	inv->is_dry = false;
	return is_full;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* The expression whose value a step prints as a number, or the field that it prints. */
static bool invert_step_number(struct invert *inv, const struct pf_step *s, uint64_t v)
{
	return !s->star && invert_number(inv, s->num, v, UINT64_MAX);
}

static bool invert_is_number(const struct pf_step *s)
{
	switch (s->code) {
	case PF_S_DEC4S:
	case PF_S_DEC4U:
	case PF_S_DEC8S:
	case PF_S_DEC8U:
	case PF_S_HEX4:
	case PF_S_HEX8:
	case PF_S_DEC:
	case PF_S_UDEC:
	case PF_S_HEX:
	case PF_S_NUMBER:
		return true;
	}
	return false;
}

/* Takes a text with its padding. False if it is none of the step. */
static bool invert_step_text(struct invert *inv, const struct pf_step *s, const char *at,
			     const char *end)
{
	if (s->code == PF_S_STR_SPEC && s->spec->width && !s->spec->left)
		while (at < end && *at == ' ')
			at++;
	if (s->code == PF_S_STR_SPEC && s->spec->width && s->spec->left)
		while (at < end && end[-1] == ' ')
			end--;
	if (s->code == PF_S_COMM || s->code == PF_S_BYTES)
		return invert_fixed(inv, s->offset, s->width, at, (size_t)(end - at));
	if (s->code == PF_S_STR || s->code == PF_S_STR_SPEC)
		return inv->shown ? invert_mark_text(inv, s->text, 0)
				  : invert_choice(inv, s->text, at, end, 0);
	return !inv->shown; /* not the address of a pointer, nor a character */
}

/* Takes the text from `at` on as that of the steps from s on. */
static bool invert_steps(struct invert *inv, size_t i, const char *at)
{
	const struct pf_step *s = &inv->pf->steps[i], *next = s + 1;
	const size_t nr = inv->pf->nr_steps;
	uint64_t v;

	if (i == nr)
		return at == inv->end;
	if ((size_t)(inv->end - at) < s->prefix_len || memcmp(at, s->prefix, s->prefix_len) != 0)
		return false;
	at += s->prefix_len;
	if (s->code == PF_S_TEXT)
		return invert_steps(inv, i + 1, at);
	if (invert_is_number(s)) {
		at = invert_printed(at, inv->end, s->spec->conv, &v);
		if (!at)
			return false;
		invert_step_number(inv, s, v);
		return invert_steps(inv, i + 1, at);
	}
	for (const char *end = i + 1 == nr ? inv->end : at; end <= inv->end; end++) {
		const uint32_t len = inv->len;

		if (i + 1 < nr && ((size_t)(inv->end - end) < next->prefix_len ||
				   memcmp(end, next->prefix, next->prefix_len) != 0))
			continue;
		if (++inv->tries > MOST_TRIES)
			return false;
		if (invert_step_text(inv, s, at, end) && invert_steps(inv, i + 1, end))
			return true;
		inv->len = len;
	}
	return false;
}

/* Marks the bytes of all shown fields. True if the text shows all that it depends on. */
static bool invert_mark(const struct printfmt *pf, uint8_t shown[PF_MAX_OFFSET])
{
	struct invert inv = { .pf = pf, .room = PF_MAX_OFFSET, .shown = shown };
	bool is_full = true;

	if (pf->is_bprint || pf->refused || pf->nr_steps > MOST_STEPS)
		return false;
	for (size_t i = 0; i < pf->nr_steps; i++) {
		const struct pf_step *s = &pf->steps[i];

		if (s->code == PF_S_TEXT)
			continue;
		is_full &= invert_is_number(s) ? invert_step_number(&inv, s, 0)
					       : invert_step_text(&inv, s, "", "");
	}
	return is_full;
}

/* ---- the interface --------------------------------------------------------------------------- */

bool printfmt_inverts(const struct printfmt *pf, const struct sonde_field *f)
{
	uint8_t shown[PF_MAX_OFFSET] = { 0 };
	const uint32_t width = f->is_dynamic ? 4 : f->width;

	invert_mark(pf, shown);
	return width && f->offset < PF_MAX_OFFSET && width <= PF_MAX_OFFSET - f->offset &&
	       memchr(shown + f->offset, 1, width);
}

bool printfmt_inverts_text(const struct printfmt *pf)
{
	uint8_t shown[PF_MAX_OFFSET] = { 0 };

	return invert_mark(pf, shown);
}

bool printfmt_invert(const struct printfmt *pf, const char *text, size_t text_len, uint8_t *bytes,
		     uint32_t room, uint32_t *len)
{
	struct invert inv = {
		.pf = pf,
		.end = text + text_len,
		.bytes = bytes,
		.room = room,
		.len = *len,
	};

	if (pf->is_bprint || pf->refused || pf->nr_steps > MOST_STEPS ||
	    !invert_steps(&inv, 0, text))
		return false;
	*len = inv.len;
	return true;
}
