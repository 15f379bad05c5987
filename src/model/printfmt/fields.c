/* SPDX-License-Identifier: MIT */
/* " name=value" for each field: the text of events whose print format was refused. */
#include "model/printfmt/printfmt_internal.h"

#include "model/printfmt/digits.h"
#include "model/value.h"

/* True if all bytes before the first NUL are printable or white space. */
static bool fields_is_printable(const uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n && p[i]; i++)
		if (!((p[i] >= 0x20 && p[i] < 0x7f) || (p[i] >= '\t' && p[i] <= '\r')))
			return false;
	return true;
}

static void fields_put_array(const struct printfmt *pf, const struct pf_run *r,
			     const struct sonde_field *f)
{
	static const char hex[] = "0123456789abcdef";
	uint8_t *not_text = &pf->not_text[f - pf->schema->fields];
	struct pf_place pl = { .field = f };
	uint32_t n, rest;
	const uint8_t *p = pf_place_bytes(r, &pl, &n);

	if (f->is_text && !*not_text && p && fields_is_printable(p, n)) {
		/* perf uses the length only to check the bytes, and prints up to a NUL. */
		if (pf->dialect->endless_text)
			p = pf_place_rest(r, &pl, &rest);
		else
			rest = n;
		outbuf_put(r->out, p, strnlen((const char *)p, rest));
		return;
	}
	outbuf_str(r->out, "ARRAY[");
	for (uint32_t i = 0; p && i < n; i++) {
		char two[4] = { ',', ' ', hex[p[i] >> 4], hex[p[i] & 15] };

		outbuf_put(r->out, i ? two : two + 2, i ? 4 : 2);
	}
	outbuf_char(r->out, ']');
	if (pf->dialect->sticky_text)
		*not_text = 1;
}

void pf_put_field(const struct printfmt *pf, const struct pf_run *r, const struct sonde_field *f)
{
	uint64_t v = field_u64(f, r->bytes, r->len, r->swap);

	if (pf_has_brackets(f)) {
		fields_put_array(pf, r, f);
		return;
	}
	if (f->is_pointer || (f->is_long && (!f->is_signed || f->width == 4))) {
		pf_put_0x(r->out, v);
		return;
	}
	if (!f->is_signed)
		outbuf_u64(r->out, v);
	else if (f->width == 2) /* perf's %2d */
		outbuf_i64_width(r->out, (int16_t)v, 2);
	else
		outbuf_i64(r->out, value_sign_extend(v, f->width));
}

static void fields_put(const struct printfmt *pf, const struct pf_run *r)
{
	const struct sonde_schema *sc = pf->schema;

	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];

		if (f->is_common)
			continue;
		outbuf_char(r->out, ' ');
		outbuf_str(r->out, f->name);
		outbuf_char(r->out, '=');
		pf_put_field(pf, r, f);
	}
}

void pf_put_fields(const struct printfmt *pf, const struct pf_run *r)
{
	outbuf_str(r->out, "[FAILED TO PARSE]");
	fields_put(pf, r);
}

void printfmt_put_fields(const struct printfmt *pf, const struct sonde_field *f,
			 const uint8_t *bytes, uint32_t len, struct outbuf *out)
{
	const struct pf_run r = pf_run_of(pf, NULL, bytes, len, out);

	uint8_t *not_text, before;

	if (!f) {
		fields_put(pf, &r);
		return;
	}
	not_text = &pf->not_text[f - pf->schema->fields];
	before = *not_text;
	*not_text = 0;
	pf_put_field(pf, &r, f);
	*not_text = before;
}
