/* SPDX-License-Identifier: MIT */
/*
 * Runs a program. The usual steps write directly to the output buffer, because each step has a
 * limit on the room that it needs. Fixed fields need no check, because a record that is too short
 * is first copied and padded with zeros.
 */
#include "model/printfmt/printfmt_internal.h"

#include "base/bytes.h"
#include "model/printfmt/digits.h"
#include "model/value.h"

/*
 * Copies in fixed portions. 32 bytes after the end of source and target must be accessible.
 */
static inline char *run_put_prefix(char *to, const char *from, uint32_t len)
{
	memcpy(to, from, 16);
	memcpy(to + 16, from + 16, 16);
	if (__builtin_expect(len > 32, 0))
		memcpy(to + 32, from + 32, len - 32);
	return to + len;
}

static void run_put_char(struct outbuf *o, uint64_t v, const struct pf_spec *spec)
{
	char c = (char)v;
	size_t pad = spec->width > 1 ? spec->width - 1 : 0;

	if (!spec->left)
		outbuf_pad(o, ' ', pad);
	if (c)
		outbuf_char(o, c);
	if (spec->left)
		outbuf_pad(o, ' ', pad);
}

/* Puts a length given by an argument into the spec, with C's rules for negative lengths. */
static struct pf_spec run_with_star(const struct pf_spec *spec, int32_t star)
{
	struct pf_spec s = *spec;

	if (s.star_prec) {
		s.has_prec = star >= 0;
		s.prec = star < 0 ? 0 : (uint32_t)star;
	} else {
		s.left |= star < 0;
		s.width = star < 0 ? -(uint32_t)star : (uint32_t)star;
		if (s.width > 65536)
			s.width = 65536;
	}
	if (s.has_prec && s.conv != 's' && s.prec > 65536)
		s.prec = 65536;
	return s;
}

/* Steps that need more than a copy. */
static void run_other(const struct pf_run *r, const struct pf_step *s)
{
	int32_t star = s->star ? (int32_t)pf_eval(r, s->star) : -1;
	struct pf_spec spec;

	if (s->code == PF_S_POINTER) {
		pf_put_pointer(r, s, star);
		return;
	}
	spec = s->star ? run_with_star(s->spec, star) : *s->spec;
	if (s->code == PF_S_NUMBER)
		pf_put_number(r->out, pf_eval(r, s->num), &spec);
	else if (s->code == PF_S_CHAR)
		run_put_char(r->out, pf_eval(r, s->num), &spec);
	else
		pf_put_text(r, s->text, &spec);
}

static inline uint64_t run_truncate(uint64_t v, const struct pf_spec *spec)
{
	unsigned unused = 64u - spec->bits;

	return v << unused >> unused;
}

static inline int64_t run_truncate_signed(uint64_t v, const struct pf_spec *spec)
{
	unsigned unused = 64u - spec->bits;

	return (int64_t)(v << unused) >> unused;
}

/* The source that a chain of conditions selects. */
static inline const struct pf_text *run_choose(const struct pf_run *r, const struct pf_text *t)
{
	while (t->kind == PF_T_COND)
		t = pf_eval(r, t->num) ? t->a : t->b;
	return t;
}

static inline __attribute__((always_inline)) void run_steps(const struct pf_step *s, size_t nr,
							    const struct pf_run *r)
{
	const struct pf_step *end = s + nr;
	const uint8_t *bytes = r->bytes, *at;
	struct outbuf *o = r->out;
	const struct pf_text *t;
	/* The place of the next byte. o->len is set at the end and before others write. */
	char *to, *limit;
	size_t n;

	if (__builtin_expect(!o->data, 0) && !outbuf_grow(o, 1))
		return;
	to = o->data + o->len;
	limit = o->data + o->capacity;
	for (; s < end; s++) {
		if (__builtin_expect((size_t)(limit - to) < s->room, 0)) {
			o->len = (size_t)(to - o->data);
			if (!outbuf_grow(o, s->room))
				return;
			to = o->data + o->len;
			limit = o->data + o->capacity;
		}
		to = run_put_prefix(to, s->prefix, s->prefix_len);
		at = bytes + s->offset;
		switch (s->code) {
		case PF_S_TEXT:
			continue;
		case PF_S_DEC4S:
			to = pf_write_i64(to, (int32_t)load_u32(at));
			continue;
		case PF_S_DEC4U:
			to = pf_write_u64(to, load_u32(at));
			continue;
		case PF_S_DEC8S:
			to = pf_write_i64(to, (int64_t)load_u64(at));
			continue;
		case PF_S_DEC8U:
			to = pf_write_u64(to, load_u64(at));
			continue;
		case PF_S_HEX4:
			to = pf_write_hex(to, load_u32(at));
			continue;
		case PF_S_HEX8:
			to = pf_write_hex(to, load_u64(at));
			continue;
		case PF_S_COMM:
			memcpy(to, at, 16);
			to += value_comm_len(at);
			continue;
		case PF_S_BYTES:
			n = strnlen((const char *)at, s->width);
			memcpy(to, at, n);
			to += n;
			continue;
		case PF_S_DEC:
			to = pf_write_i64(to, run_truncate_signed(pf_eval(r, s->num), s->spec));
			continue;
		case PF_S_UDEC:
			to = pf_write_u64(to, run_truncate(pf_eval(r, s->num), s->spec));
			continue;
		case PF_S_HEX:
			to = pf_write_hex(to, run_truncate(pf_eval(r, s->num), s->spec));
			continue;
		case PF_S_STR:
			t = run_choose(r, s->text);
			/* 16 bytes after its end are readable */
			if (t->kind == PF_T_CONST && t->len <= 16) {
				memcpy(to, t->text, 16);
				to += t->len;
				continue;
			}
			o->len = (size_t)(to - o->data);
			pf_put_text(r, t, NULL);
			break;
		default:
			o->len = (size_t)(to - o->data);
			run_other(r, s);
			break;
		}
		if (o->failed)
			return;
		to = o->data + o->len;
		limit = o->data + o->capacity;
	}
	o->len = (size_t)(to - o->data);
}

static void run_on(const struct printfmt *pf, const struct pf_run *r)
{
	if (pf->is_bprint)
		pf_put_bprint(pf, r);
	else if (pf->refused)
		pf_put_fields(pf, r);
	else
		run_steps(pf->steps, pf->nr_steps, r);
}

/* ---- fields by their conversions ------------------------------------------------------------- */

/* The step whose argument is the field, from `from` on and then from the first; NULL if none is. */
static const struct pf_step *run_step_of(const struct printfmt *pf, const struct sonde_field *f,
					 size_t from)
{
	for (size_t i = 0; i < pf->nr_steps; i++) {
		const struct pf_step *s = &pf->steps[(from + i) % pf->nr_steps];

		if (s->only == f)
			return s;
	}
	return NULL;
}

static void run_value(const struct pf_run *r, const struct pf_step *s)
{
	struct pf_step value = *s;

	if (s->prefix_len > 1 && !memcmp(s->prefix + s->prefix_len - 2, "0x", 2))
		outbuf_str(r->out, "0x");
	value.prefix_len = 0;
	run_steps(&value, 1, r);
}

/* An array up to the record's end has no size for libtraceevent, and is text if it may be. */
static void run_open_array(const struct pf_run *r, const struct sonde_field *f)
{
	const struct pf_place place = { .field = f };
	uint32_t n;
	const uint8_t *p = f->is_text ? pf_place_rest(r, &place, &n) : NULL;

	if (p)
		outbuf_put(r->out, p, strnlen((const char *)p, n));
	else
		outbuf_str(r->out, f->is_text ? "" : "ARRAY[]");
}

static void run_fields(const struct printfmt *pf, const struct pf_run *r)
{
	const struct sonde_schema *sc = pf->schema;
	size_t from = pf->refused || pf->is_bprint ? pf->nr_steps : 0;

	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];
		const struct pf_step *s = NULL;

		if (f->is_common)
			continue;
		outbuf_char(r->out, ' ');
		outbuf_str(r->out, f->name);
		outbuf_char(r->out, '=');
		if (from < pf->nr_steps && !pf_has_brackets(f))
			s = run_step_of(pf, f, from);
		if (pf_has_brackets(f) && !f->width) {
			run_open_array(r, f);
		} else if (s) {
			run_value(r, s);
			from = (size_t)(s - pf->steps) + 1;
		} else {
			pf_put_field(pf, r, f);
		}
	}
}

/* ---- records --------------------------------------------------------------------------------- */

/* Runs a program for a record without some fixed fields. The missing bytes read as zero. */
static __attribute__((noinline)) void run_short(const struct printfmt *pf, struct pf_run *r,
						void (*run)(const struct printfmt *,
							    const struct pf_run *))
{
	uint8_t padded[PF_MAX_OFFSET];

	if (r->len)
		memcpy(padded, r->bytes, r->len);
	memset(padded + r->len, 0, pf->need - r->len);
	r->bytes = padded;
	run(pf, r);
}

void printfmt_run(const struct printfmt *pf, const struct printfmt_env *env, const uint8_t *bytes,
		  uint32_t len, struct outbuf *out)
{
	struct pf_run r = pf_run_of(pf, env, bytes, len, out);

	if (__builtin_expect(len < pf->need, 0))
		run_short(pf, &r, run_on);
	else
		run_on(pf, &r);
}

void printfmt_run_fields(const struct printfmt *pf, const struct printfmt_env *env,
			 const uint8_t *bytes, uint32_t len, struct outbuf *out)
{
	struct pf_run r = pf_run_of(pf, env, bytes, len, out);

	if (len < pf->need)
		run_short(pf, &r, run_fields);
	else
		run_fields(pf, &r);
}
