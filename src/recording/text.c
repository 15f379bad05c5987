/* SPDX-License-Identifier: MIT */
/* The text of an event, and the data of the recorded kernel that print formats need. */
#include "recording/text.h"

#include <string.h>

#include "model/field_program.h"
#include "model/field_text.h"
#include "model/value.h"
#include "recording/locate.h"

static const char *text_env_symbol(void *ctx, uint64_t addr, uint64_t *ret_off)
{
	return recording_kernel_symbol(ctx, addr, ret_off);
}

const char *recording_printk(struct recording *rec, uint64_t addr)
{
	if (!rec->printk_tried) {
		struct source_kernel k = { 0 };

		rec->printk_tried = true;
		source_read_kernel(rec->source, &k);
		if (k.printk)
			printk_formats_read(&rec->printk, k.printk, k.printk_len);
	}
	return printk_formats_find(&rec->printk, addr);
}

static const char *text_env_printk(void *ctx, uint64_t addr)
{
	return recording_printk(ctx, addr);
}

static void text_env_divided_by_zero(void *ctx)
{
	struct recording *rec = ctx;

	defects_add(&rec->defects, DEFECT_DIVISION_BY_ZERO, 1, "in %s",
		    rec->printing ? rec->printing->schema->name : "");
}

static void text_hex_bytes(const uint8_t *p, uint32_t len, struct outbuf *out)
{
	for (uint32_t i = 0; i < len; i++) {
		if (i)
			outbuf_char(out, ' ');
		outbuf_hex_width(out, p[i], 2, '0');
	}
}

/* Records of state: "pid=1 tid=1 comm=init". */
static void text_of_record(const struct event *ev, struct outbuf *out)
{
	const struct sonde_schema *sc = ev->schema;
	const bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;

	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];
		const uint64_t v = field_number(f, ev->pub.bytes, ev->pub.bytes_len, swap);

		outbuf_fmt(out, "%s%s=", i ? " " : "", f->name);
		if (f->kind >= SONDE_FIELD_FLOAT)
			field_text_put(f, ev->pub.bytes, ev->pub.bytes_len, swap, out);
		else if (f->kind == SONDE_FIELD_STRING) {
			uint32_t len;
			const uint8_t *p =
				field_bytes(f, ev->pub.bytes, ev->pub.bytes_len, swap, &len);

			if (p)
				outbuf_put(out, p, strnlen((const char *)p, len));
		} else if (f->is_signed) {
			outbuf_i64(out, value_sign_extend(v, f->width));
		} else {
			outbuf_fmt(out, f->width == 8 ? "0x%llx" : "%llu", (unsigned long long)v);
		}
	}
}

/* For a schema without a print format. */
static void text_of_fields(const struct event *ev, struct outbuf *out)
{
	struct sonde_schema *sc = (struct sonde_schema *)ev->schema;
	const bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;

	if (!sc->field_program)
		sc->field_program = field_program_new(sc);
	if (swap || !sc->field_program ||
	    !field_program_run(sc->field_program, ev->pub.bytes, ev->pub.bytes_len, out))
		fields_text_put(sc->fields, sc->nr_fields, ev->pub.bytes, ev->pub.bytes_len, swap,
				out);
}

/* False if the event has no program of fields, or does not fit it. */
static __attribute__((noinline)) bool text_by_program(const struct event *ev, struct outbuf *out)
{
	return !(ev->pub.flags & SONDE_EVENT_SWAPPED) &&
	       field_program_run(ev->schema->field_program, ev->pub.bytes, ev->pub.bytes_len, out);
}

void recording_event_text(const struct event *ev, struct outbuf *out)
{
	struct recording *rec = ev->recording;
	const struct printfmt_env env = {
		.ctx = rec,
		.symbol = text_env_symbol,
		.printk = text_env_printk,
		.divided_by_zero = text_env_divided_by_zero,
	};
	const struct printfmt *pf = ev->schema->print;

	if (__builtin_expect(ev->schema->field_program != NULL, 0) && text_by_program(ev, out))
		return;
	/* an event made from a group's counts: no fields were recorded */
	if (__builtin_expect(ev->schema->kind == SONDE_TRACEPOINT && !ev->pub.bytes_len, 0) &&
	    !ev->schema->put_text)
		return;
	if (__builtin_expect(!pf, 0))
		pf = schema_printfmt((struct sonde_schema *)ev->schema);
	rec->printing = ev;
	if (pf)
		printfmt_run(pf, &env, ev->pub.bytes, ev->pub.bytes_len, out);
	else if (ev->schema->put_text)
		ev->schema->put_text(ev, out);
	else if (ev->schema->kind >= SONDE_RECORD)
		text_of_record(ev, out);
	else if (ev->schema->nr_fields > ev->schema->nr_common)
		text_of_fields(ev, out);
	else if (ev->schema->kind == SONDE_TRACEPOINT)
		text_hex_bytes(ev->pub.bytes, ev->pub.bytes_len, out);
}

void recording_event_fields(const struct event *ev, const struct sonde_field *f, struct outbuf *out)
{
	const struct printfmt *pf = ev->schema->print;

	if (!pf)
		pf = schema_printfmt((struct sonde_schema *)ev->schema);
	if (pf)
		printfmt_put_fields(pf, f, ev->pub.bytes, ev->pub.bytes_len, out);
	else if (f)
		field_text_put(f, ev->pub.bytes, ev->pub.bytes_len,
			       ev->pub.flags & SONDE_EVENT_SWAPPED, out);
	else
		recording_event_text(ev, out);
}
