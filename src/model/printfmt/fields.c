/* SPDX-License-Identifier: MIT */
/* " name=value" for each field: the text of events whose print format was refused. */
#include "model/printfmt/printfmt_internal.h"

#include "model/value.h"

/* perf's idea of text: bytes up to a NUL that are printable or white space, and the last byte a NUL. */
static bool is_printable(const uint8_t *p, uint32_t n)
{
	if (!n || p[n - 1])
		return false;
	for (uint32_t i = 0; i < n && p[i]; i++) {
		uint8_t c = p[i];

		if (!((c >= 0x20 && c < 0x7f) || (c >= '\t' && c <= '\r')))
			return false;
	}
	return true;
}

static void put_array(const struct printfmt *pf, const struct pf_run *r, const struct sonde_field *f)
{
	struct pf_place pl = { .field = f };
	uint32_t n;
	const uint8_t *p = pf_place_bytes(r, &pl, &n);
	uint8_t *not_text = &pf->not_text[f - pf->schema->fields];
	static const char hex[] = "0123456789abcdef";

	if (!p)
		n = 0;
	if (f->is_text && !*not_text && p && is_printable(p, n)) {
		outbuf_put(r->out, p, strnlen((const char *)p, n));
		return;
	}
	outbuf_str(r->out, "ARRAY[");
	for (uint32_t i = 0; i < n; i++) {
		char two[4] = { ',', ' ', hex[p[i] >> 4], hex[p[i] & 15] };

		outbuf_put(r->out, i ? two : two + 2, i ? 4 : 2);
	}
	outbuf_char(r->out, ']');
	if (pf->dialect->sticky_text)
		*not_text = 1;
}

static void put_field(const struct printfmt *pf, const struct pf_run *r, const struct sonde_field *f)
{
	uint64_t v = field_u64(f, r->bytes, r->len, r->swap);

	if (pf_has_brackets(f)) {
		put_array(pf, r, f);
		return;
	}
	if (f->is_pointer || (f->is_long && (!f->is_signed || f->width == 4))) {
		outbuf_put(r->out, "0x", 2);
		outbuf_hex(r->out, v);
		return;
	}
	if (!f->is_signed)
		outbuf_u64(r->out, v);
	else if (f->width == 2) /* perf's %2d */
		outbuf_i64_width(r->out, (int16_t)v, 2);
	else
		outbuf_i64(r->out, value_sign_extend(v, f->width));
}

void pf_put_fields(const struct printfmt *pf, const struct pf_run *r)
{
	const struct sonde_schema *sc = pf->schema;

	outbuf_str(r->out, "[FAILED TO PARSE]");
	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];

		if (f->is_common)
			continue;
		outbuf_char(r->out, ' ');
		outbuf_str(r->out, f->name);
		outbuf_char(r->out, '=');
		put_field(pf, r, f);
	}
}
