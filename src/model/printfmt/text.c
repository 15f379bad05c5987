/* SPDX-License-Identifier: MIT */
/* Text sources: the arguments of %s. */
#include "model/printfmt/printfmt_internal.h"

#include "model/printfmt/digits.h"

#include <string.h>

/* The limit on printed elements of an array or dump. No record contains more. */
#define MAX_ELEMENTS 65536u

void pf_put_str(struct outbuf *o, const char *s, size_t n, const struct pf_spec *spec)
{
	size_t pad;

	if (!spec) {
		outbuf_put(o, s, n);
		return;
	}
	if (spec->has_prec && n > spec->prec)
		n = spec->prec;
	pad = spec->width > n ? spec->width - n : 0;
	if (pad && !spec->left)
		outbuf_pad(o, ' ', pad);
	outbuf_put(o, s, n);
	if (pad && spec->left)
		outbuf_pad(o, ' ', pad);
}

static void text_put_flags(const struct pf_run *r, const struct pf_text *t,
			   const struct pf_spec *spec)
{
	uint64_t v = pf_eval(r, t->num);
	bool first = true;

	for (uint32_t i = 0; i < t->nr_entries; i++) {
		const struct pf_entry *e = &t->entries[i];

		if (!v) {
			if (!t->none_entry)
				return;
			if (e->matches_none) {
				pf_put_str(r->out, e->name, e->len, spec);
				break;
			}
		}
		if (e->never || (v & e->value) != e->value)
			continue;
		if (!first)
			outbuf_put(r->out, t->text, t->len);
		first = false;
		pf_put_str(r->out, e->name, e->len, spec);
		v &= ~e->value;
	}
	if (!v)
		return;
	if (!first)
		outbuf_put(r->out, t->text, t->len);
	pf_put_0x(r->out, v);
}

static void text_put_symbol(const struct pf_run *r, const struct pf_text *t,
			    const struct pf_spec *spec)
{
	uint64_t v = pf_eval(r, t->num);

	for (uint32_t i = 0; i < t->nr_entries; i++) {
		const struct pf_entry *e = &t->entries[i];

		if (e->value == v && !e->never) {
			pf_put_str(r->out, e->name, e->len, spec);
			return;
		}
	}
	pf_put_0x(r->out, v);
}

static void text_put_hex(const struct pf_run *r, const struct pf_text *t)
{
	uint32_t n, left;
	const uint8_t *p = pf_place_rest(r, &t->place, &left);
	int64_t count = (int32_t)pf_eval(r, t->count);

	if (!p || count <= 0)
		return;
	n = count < left ? (uint32_t)count : left;
	for (uint32_t i = 0; i < n; i++) {
		char *to = outbuf_room(r->out, 3), *start = to;

		if (!to)
			return;
		if (i && !t->compact)
			*to++ = ' ';
		*to++ = "0123456789abcdef"[p[i] >> 4];
		*to++ = "0123456789abcdef"[p[i] & 15];
		outbuf_advance(r->out, (size_t)(to - start));
	}
}

static uint64_t text_element(const struct pf_run *r, const uint8_t *p, uint32_t width)
{
	struct pf_run run = { .bytes = p, .len = width, .swap = r->swap };
	struct pf_expr zero = { .code = PF_E_CONST },
		       e = { .code = PF_E_INDEX, .width = (uint8_t)width, .a = &zero };

	return pf_eval(&run, &e);
}

/*
 * The kernel prints {0x1,0x2}. perf prints 1 2, and a complaint if no number has the element's
 * size.
 */
static void text_put_array(const struct pf_run *r, const struct pf_text *t)
{
	uint32_t left, width = (uint32_t)pf_eval(r, t->elem), step = width;
	const uint8_t *p = pf_place_rest(r, &t->place, &left);
	int64_t count = (int32_t)pf_eval(r, t->count);
	bool known = width == 1 || width == 2 || width == 4 || width == 8;

	if (!known)
		step = 1; /* perf complains once and continues with bytes */
	if (t->braces)
		outbuf_char(r->out, '{');
	for (int64_t i = 0; p && i < count && i < MAX_ELEMENTS && left >= step;
	     i++, p += step, left -= step) {
		if (i)
			outbuf_char(r->out, t->braces ? ',' : ' ');
		if (!known && !i) {
			outbuf_fmt(r->out, "BAD SIZE:%d 0x%x", (int)width, *p);
		} else if (t->braces) {
			pf_put_0x(r->out, text_element(r, p, step));
		} else {
			outbuf_u64(r->out, text_element(r, p, step));
		}
	}
	if (t->braces)
		outbuf_char(r->out, '}');
}

/* A bit of a mask that consists of the recorded machine's longs. */
static bool text_mask_bit(const struct pf_run *r, const uint8_t *p, uint32_t n, uint32_t bit)
{
	uint32_t byte = bit / 8, word = byte / r->long_bytes * r->long_bytes;

	if (r->big_endian)
		byte = word + r->long_bytes - 1 - (byte - word);
	return byte < n && p[byte] >> (bit % 8) & 1;
}

static void text_put_bit_list(const struct pf_run *r, struct outbuf *o, const uint8_t *p,
			      uint32_t n, uint32_t bits)
{
	bool first = true;

	for (uint32_t i = 0; i < bits; i++) {
		uint32_t last = i;

		if (!text_mask_bit(r, p, n, i))
			continue;
		while (last + 1 < bits && text_mask_bit(r, p, n, last + 1))
			last++;
		if (!first)
			outbuf_char(o, ',');
		first = false;
		outbuf_u64(o, i);
		if (last > i) {
			outbuf_char(o, '-');
			outbuf_u64(o, last);
		}
		i = last;
	}
}

/* Writes a mask as hexadecimal groups of 32 bits, the highest first. */
static void text_put_bit_groups(const struct pf_run *r, struct outbuf *o, const uint8_t *p,
				uint32_t n, uint32_t bits)
{
	for (uint32_t nibble = (bits + 3) / 4; nibble-- > 0;) {
		unsigned v = 0;

		for (uint32_t i = 4; i-- > 0;)
			v = v << 1 |
			    (nibble * 4 + i < bits && text_mask_bit(r, p, n, nibble * 4 + i));
		outbuf_char(o, "0123456789abcdef"[v]);
		if (nibble && nibble % 8 == 0)
			outbuf_char(o, ',');
	}
}

/* Like perf, treats the mask as one number in the recorded byte order, not as an array of longs. */
static void text_put_bytes_groups(const struct pf_run *r, struct outbuf *o, const uint8_t *p,
				  uint32_t n)
{
	for (uint32_t i = n; i-- > 0;) {
		uint8_t v = p[r->big_endian ? n - 1 - i : i];

		outbuf_char(o, "0123456789abcdef"[v >> 4]);
		outbuf_char(o, "0123456789abcdef"[v & 15]);
		if (i && i % 4 == 0)
			outbuf_char(o, ',');
	}
}

void pf_put_bitmask(const struct pf_run *r, const uint8_t *p, uint32_t n, uint32_t bits,
		    bool is_list, const struct pf_spec *spec)
{
	struct outbuf *o = r->out;
	size_t start = o->len, len, pad;
	char *at;

	if (is_list)
		text_put_bit_list(r, o, p, n, bits);
	else if (r->perf)
		text_put_bytes_groups(r, o, p, n);
	else
		text_put_bit_groups(r, o, p, n, bits);
	if (!spec || o->failed)
		return;
	/* Width and precision apply to the complete text, so it is changed afterwards, in place. */
	len = o->len - start;
	if (spec->has_prec && len > spec->prec)
		len = spec->prec;
	o->len = start + len;
	pad = spec->width > len ? spec->width - len : 0;
	outbuf_pad(o, ' ', pad);
	if (!pad || spec->left || o->failed)
		return;
	at = o->data + start;
	memmove(at + pad, at, len);
	memset(at, ' ', pad);
}

void pf_put_hex_dump(const struct pf_run *r, const struct pf_text *t)
{
	uint32_t left, row = (uint32_t)pf_eval(r, t->row), group = (uint32_t)pf_eval(r, t->group);
	const uint8_t *p = pf_place_rest(r, &t->place, &left);
	int64_t count = (int32_t)pf_eval(r, t->count);
	uint64_t prefix_type = pf_eval(r, t->prefix_type);
	struct outbuf *o = r->out;
	uint32_t n = !p || count <= 0 ? 0 : count < left ? (uint32_t)count : left, width;

	/* The kernel's rules: 16 or 32 bytes in a row, groups of 1, 2, 4 or 8 that fill the row. */
	row = row == 32 ? 32 : 16;
	group = (group == 2 || group == 4 || group == 8) && n % group == 0 ? group : 1;
	width = row / group * (2 * group + 1);
	for (uint32_t at = 0; at < n; at += row) {
		uint32_t m = n - at < row ? n - at : row;
		size_t start;

		outbuf_put(o, t->text, t->len);
		/* The buffer's address is now meaningless, so both prefix types print offsets. */
		if (prefix_type) {
			outbuf_hex_width(o, at, 8, '0');
			outbuf_put(o, ": ", 2);
		}
		start = o->len;
		for (uint32_t i = 0; i < m; i += group) {
			if (i)
				outbuf_char(o, ' ');
			outbuf_hex_width(o, text_element(r, p + at + i, group), 2 * group, '0');
		}
		if (pf_eval(r, t->ascii)) {
			outbuf_pad(o, ' ',
				   start + width + 1 > o->len ? start + width + 1 - o->len : 1);
			for (uint32_t i = 0; i < m; i++)
				outbuf_char(o, p[at + i] >= ' ' && p[at + i] < 127 ? (char)p[at + i]
										   : '.');
		}
		if (at + row < n)
			outbuf_char(o, '\n');
	}
}

void pf_put_text(const struct pf_run *r, const struct pf_text *t, const struct pf_spec *spec)
{
	const uint8_t *p;
	uint32_t n;
	const char *s;

	switch (t->kind) {
	case PF_T_CONST:
		pf_put_str(r->out, t->text, t->len, spec);
		return;
	case PF_T_COND:
		pf_put_text(r, pf_eval(r, t->num) ? t->a : t->b, spec);
		return;
	case PF_T_BYTES:
	case PF_T_CSTR:
		if (t->kind == PF_T_CSTR && t->compact && (!pf_place_bytes(r, &t->place, &n) || !n))
			return;
		p = t->kind == PF_T_CSTR ? pf_place_rest(r, &t->place, &n)
					 : pf_place_bytes(r, &t->place, &n);
		s = p ? (const char *)p : "";
		pf_put_str(r->out, s, strnlen(s, n), spec);
		return;
	case PF_T_POINTER:
		s = r->env && r->env->printk ? r->env->printk(r->env->ctx, pf_eval(r, t->num))
					     : NULL;
		if (s)
			outbuf_str(r->out, s);
		else
			outbuf_hex(r->out, pf_eval(r, t->num));
		return;
	case PF_T_FLAGS:
		text_put_flags(r, t, spec);
		return;
	case PF_T_SYMBOL:
		text_put_symbol(r, t, spec);
		return;
	case PF_T_HEX:
		text_put_hex(r, t);
		return;
	case PF_T_ARRAY:
		text_put_array(r, t);
		return;
	case PF_T_BITMASK:
		p = pf_place_bytes(r, &t->place, &n);
		if (p)
			pf_put_bitmask(r, p, n, n * 8, t->is_list, spec);
		return;
	case PF_T_HEX_DUMP:
		pf_put_hex_dump(r, t);
		return;
	}
}
