/* SPDX-License-Identifier: MIT */
#include "columns/names.h"

#include <inttypes.h>

#include "base/err.h"
#include "model/schema_table.h"
#include "model/value.h"

/* The definitions of one field: the step that begins them, and the end of its values. */
struct names {
	const struct sonde_define *begin, *end;
};

static bool names_begins(const struct sonde_define *d)
{
	return d->kind == SONDE_DEFINE_FLAG_FIELD || d->kind == SONDE_DEFINE_SYMBOLIC_FIELD;
}

static bool names_find(const struct sonde_schema *sc, const char *field, struct names *ret)
{
	size_t nr;
	/* Made on first use. */
	const struct sonde_define *d = schema_defines((struct sonde_schema *)sc, &nr), *const end =
											       d +
											       nr;

	for (; d < end; d++) {
		if (!names_begins(d) || strcmp(d->field, field) != 0)
			continue;
		ret->begin = d++;
		while (d < end && !names_begins(d))
			d++;
		ret->end = d;
		return true;
	}
	return false;
}

static void names_put_symbol(const struct names *n, uint64_t v, struct outbuf *out)
{
	for (const struct sonde_define *d = n->begin + 1; d < n->end; d++) {
		if (d->value == v) {
			outbuf_str(out, d->text);
			return;
		}
	}
	outbuf_fmt(out, "0x%" PRIx64, v);
}

static void names_put_flags(const struct names *n, uint64_t v, struct outbuf *out)
{
	const char *delimiter = n->begin->text ? n->begin->text : "|";
	uint64_t left = v;

	for (const struct sonde_define *d = n->begin + 1; d < n->end; d++) {
		/* A name of the value 0 holds only if no flag is set. */
		if (d->value ? (left & d->value) != d->value : v != 0)
			continue;
		if (out->len)
			outbuf_str(out, delimiter);
		outbuf_str(out, d->text);
		left &= ~d->value;
	}
	if (!left && (out->len || v))
		return;
	if (out->len)
		outbuf_str(out, delimiter);
	outbuf_fmt(out, "0x%" PRIx64, left);
}

static void names_put_number(const struct sonde_field *f, uint64_t v, struct outbuf *out)
{
	if (f->is_signed)
		outbuf_i64(out, (int64_t)field_sign_extend(f, v));
	else
		outbuf_u64(out, v);
}

int names_put(const struct sonde_schema *sc, const struct sonde_field *f, uint64_t v,
	      struct outbuf *out)
{
	const char *label = f->nr_labels ? field_label(f, v) : NULL;
	struct names n;

	out->len = 0;
	if (!f->bit_width && f->width < sizeof(v))
		v &= UINT64_MAX >> (64 - 8 * f->width);
	if (label)
		outbuf_str(out, label);
	else if (f->nr_labels || !names_find(sc, f->name, &n))
		names_put_number(f, v, out);
	else if (n.begin->kind == SONDE_DEFINE_FLAG_FIELD)
		names_put_flags(&n, v, out);
	else
		names_put_symbol(&n, v, out);
	return out->failed ? err_nomem() : 0;
}
