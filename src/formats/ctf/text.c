/* SPDX-License-Identifier: MIT */
#include "formats/ctf/text.h"

#include <stdio.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "base/err.h"
#include "model/printfmt/digits.h"

#define TEXT_PUT(out, literal) outbuf_put(out, literal, sizeof(literal) - 1)

/* ---- numbers --------------------------------------------------------------------------------- */

/* Hexadecimal and octal digits of a negative number: its bits, rounded up to complete digits. */
static uint64_t text_mask(uint64_t v, unsigned bits, unsigned digit_bits)
{
	const unsigned width = (bits + digit_bits - 1) / digit_bits * digit_bits;

	return width < 64 ? v & ((UINT64_C(1) << width) - 1) : v;
}

/* Hexadecimal digits as babeltrace2 prints them: capital letters. */
static inline char *text_write_hex(char *to, uint64_t v)
{
	const unsigned digits = (67 - (unsigned)__builtin_clzll(v | 1)) / 4;

	*to++ = '0';
	*to++ = 'x';
	for (char *at = to + digits; at > to; v >>= 4)
		*--at = "0123456789ABCDEF"[v & 15];
	return to + digits;
}

static void text_put_hex(struct outbuf *out, uint64_t v)
{
	char digits[CTF_NUMBER_BYTES];

	outbuf_put(out, digits, (size_t)(text_write_hex(digits, v) - digits));
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

/* Bytes that need no escape. */
static const bool text_is_plain[256] = { [' ' ... '!'] = true, ['#' ... '&'] = true,
					 ['(' ... '>'] = true, ['@' ... '['] = true,
					 [']' ... '~'] = true, [0x80 ... 0xff] = true };

/*
 * Copies 16 bytes, and returns how many of them, from the first one on, need no escape. The bytes
 * that do are \0 to \x1f, \x7f and the four in text_write_escape().
 */
static inline unsigned text_copy_16(char *to, const uint8_t *p)
{
#ifdef __SSE2__
	const __m128i v = _mm_loadu_si128((const __m128i *)p);
	__m128i bad = _mm_cmpeq_epi8(_mm_min_epu8(v, _mm_set1_epi8(0x1f)), v);

	bad = _mm_or_si128(bad, _mm_cmpeq_epi8(v, _mm_set1_epi8('"')));
	bad = _mm_or_si128(bad, _mm_cmpeq_epi8(v, _mm_set1_epi8('\'')));
	bad = _mm_or_si128(bad, _mm_cmpeq_epi8(v, _mm_set1_epi8('?')));
	bad = _mm_or_si128(bad, _mm_cmpeq_epi8(v, _mm_set1_epi8('\\')));
	bad = _mm_or_si128(bad, _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f)));
	_mm_storeu_si128((__m128i *)to, v);
	return (unsigned)__builtin_ctz((unsigned)_mm_movemask_epi8(bad) | 1u << 16);
#else
	unsigned n = 0;

	memcpy(to, p, 16);
	while (n < 16 && text_is_plain[p[n]])
		n++;
	return n;
#endif
}

/*
 * Writes len bytes, up to a NUL. `readable` bytes from p on may be read. There is room for 4
 * characters for each byte, and 16 more.
 */
static inline char *text_write_bytes(char *to, const uint8_t *p, size_t len, size_t readable)
{
	const uint8_t *const end = p + len, *const last = p + readable;

	while (p < end) {
		size_t n = 0;

		if (last - p >= 16)
			n = text_copy_16(to, p);
		else
			while (p + n < end && text_is_plain[p[n]]) {
				to[n] = (char)p[n];
				n++;
			}
		if (n >= (size_t)(end - p))
			return to + (end - p);
		to += n;
		p += n;
		if (n == 16)
			continue;
		if (!*p)
			break;
		to += text_write_escape(to, *p++);
	}
	return to;
}

/* A text of len bytes in quotes, up to a NUL. `readable` bytes from p on may be read. */
static void text_put_string(struct outbuf *out, const uint8_t *p, size_t len, size_t readable)
{
	/* Long texts are put in pieces: few of their bytes need four characters. */
	enum { PIECE = 4096 };
	bool has_ended = false;

	outbuf_char(out, '"');
	do {
		const size_t n = len < PIECE ? len : PIECE;
		char *to = outbuf_room(out, 4 * n + CTF_LABEL_SLACK + 1);

		if (!to)
			return;
		has_ended = n == len || memchr(p, 0, n);
		to = text_write_bytes(to, p, n, readable);
		if (has_ended)
			*to++ = '"';
		out->len = (size_t)(to - out->data);
		p += n;
		len -= n;
		readable -= n;
	} while (!has_ended);
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
		text_put_string(out, (const uint8_t *)l->text, strlen(l->text), strlen(l->text));
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

/* Most numbers have one digit or two. */
static inline char *text_write_decimal(char *to, uint64_t v)
{
	if (v - 10 < 90) {
		memcpy(to, digit_pairs + 2 * v, 2);
		return to + 2;
	}
	return pf_write_u64(to, v);
}

static inline char *text_write_signed(char *to, int64_t v)
{
	if (v >= 0)
		return text_write_decimal(to, (uint64_t)v);
	*to = '-';
	return text_write_decimal(to + 1, -(uint64_t)v);
}

static inline char *text_write_number(char *to, const struct ctf_quick *q, uint64_t v)
{
	if (q->base == 16)
		return text_write_hex(to, v);
	return q->is_signed ? text_write_signed(to, (int64_t)ctf_sign_extend(v, q->bits))
			    : text_write_decimal(to, v);
}

static inline char *text_write_quick(char *to, const struct ctf_quick *q, const uint8_t *p,
				     size_t readable)
{
	switch ((enum ctf_quick_form)q->form) {
	case QUICK_TEXT:
		*to++ = '"';
		to = text_write_bytes(to, p, q->count, readable);
		*to++ = '"';
		return to;
	case QUICK_U32:
		return text_write_decimal(to, ctf_read_bits(p, 0, 32, false));
	case QUICK_I32:
		return text_write_signed(to, (int32_t)ctf_read_bits(p, 0, 32, false));
	case QUICK_U64:
		return text_write_decimal(to, ctf_read_bits(p, 0, 64, false));
	case QUICK_I64:
		return text_write_signed(to, (int64_t)ctf_read_bits(p, 0, 64, false));
	case QUICK_NUMBER:
		break;
	}
	return text_write_number(to, q, ctf_read_bits(p, 0, q->bits, q->is_big));
}

/*
 * Writes the quick steps from s on, with their names: one check, and memory for all of them and
 * TEXT_SLACK. The first name has a blank in front of it in place of ", ". Returns where the text
 * ends; NULL if the bytes do not fit (*ret) or memory ran out.
 */
static char *text_write_run(const struct ctf_step *s, struct ctf_reader *rd, bool has_any, char *to)
{
	const struct ctf_quick *q = s->quick, *const end = q + s->nr_quick;
	const uint8_t *p = rd->bytes + rd->pos / 8;
	const size_t readable = (size_t)(rd->avail - rd->pos) / 8;
	size_t skip = !has_any;

	for (; q < end; q++, skip = 0) {
		to = text_copy_label(to, q->label + skip, q->label_len - skip);
		to = text_write_quick(to, q, p + q->off, readable - q->off);
	}
	rd->pos += s->quick_bits;
	return to;
}

static int text_put_run(const struct ctf_step *s, struct ctf_reader *rd, bool has_any,
			struct outbuf *out)
{
	char *to = outbuf_room(out, s->quick_room + CTF_LABEL_SLACK);

	rd->pos = ctf_align(rd, s->align);
	TRY(ctf_has(rd, rd->pos, s->quick_bits));
	if (!to)
		return -ENOMEM;
	out->len = (size_t)(text_write_run(s, rd, has_any, to) - out->data);
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
			TRY(text_put_run(s, rd, has_any, out));
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
	text_put_string(out, p, count, (size_t)(rd->avail - rd->pos) / 8);
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
		text_put_string(out, rd->bytes + rd->pos / 8, v, (size_t)(rd->avail - rd->pos) / 8);
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

	outbuf_str(out, before);
	rd->pos = ctf_align(rd, program->steps[0].align);
	TRY(text_put_struct(program->steps, 0, rd, out, &has_any));
	if (has_any || program->nr == 1) /* declared without fields */
		return 1;
	out->len = start;
	return 0;
}
