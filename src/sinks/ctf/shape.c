/* SPDX-License-Identifier: MIT */
#include "sinks/ctf/shape.h"

#include <stddef.h>
#include <string.h>

#include "base/err.h"
#include "formats/ctf/tsdl_put.h"
#include "model/sampled.h"
#include "model/value.h"

/* Longer constant arrays and texts are written as sequences and strings, as readers expect. */
enum { MOST_CONSTANT = 4096, MOST_NESTED = 60 };

/* Makes one shape. */
struct shaper {
	struct ctf_shape *shape;
	struct outbuf *o;   /* the text that is being written: context or fields */
	struct outbuf name; /* of the current member, with a NUL */
	bool swap;          /* of the events */
	unsigned depth;
};

static bool shape_host_is_big(void)
{
	return __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
}

static int shape_step(struct shaper *p, struct ctf_put_step step)
{
	return vec_push(&p->shape->steps, step) < 0 ? err_nomem() : 0;
}

static int shape_name(struct shaper *p, struct tsdl_names *names, const char *name)
{
	p->name.len = 0;
	return tsdl_names_add(names, name, &p->name);
}

static void shape_indent(struct shaper *p)
{
	outbuf_pad(p->o, '\t', 2 + p->depth);
}

/* ---- values ---------------------------------------------------------------------------------- */

static struct tsdl_number shape_number_of(const struct shaper *p, const struct sonde_field *f,
					  uint32_t width)
{
	return (struct tsdl_number){
		.bits = 8 * width,
		.is_signed = f->is_signed,
		.is_big = field_swap(f, p->swap) != shape_host_is_big(),
		.is_hex = f->is_pointer,
		.is_float = f->kind == SONDE_FIELD_FLOAT,
	};
}

static void shape_put_label(struct outbuf *o, const struct sonde_field *f, uint64_t v)
{
	if (f->is_signed)
		outbuf_i64(o, (int64_t)v);
	else
		outbuf_u64(o, v);
}

/* "enum : TYPE { "a" = 0, "b" = 1 ... 5, }" */
static void shape_put_enum(struct shaper *p, const struct sonde_field *f,
			   const struct tsdl_number *number)
{
	outbuf_str(p->o, "enum : ");
	tsdl_put_number(p->o, number);
	outbuf_str(p->o, " {");
	for (uint32_t i = 0; i < f->nr_labels; i++) {
		const struct sonde_label *l = &f->labels[i];

		outbuf_char(p->o, ' ');
		tsdl_put_text(p->o, l->text);
		outbuf_str(p->o, " = ");
		shape_put_label(p->o, f, l->from);
		if (l->to != l->from) {
			outbuf_str(p->o, " ... ");
			shape_put_label(p->o, f, l->to);
		}
		outbuf_char(p->o, ',');
	}
	outbuf_str(p->o, " }");
}

static int shape_number(struct shaper *p, const struct sonde_field *f)
{
	const bool is_bits = f->bit_width;
	struct tsdl_number number = shape_number_of(p, f, f->width);

	if (is_bits) {
		number.bits = f->bit_width;
		number.is_big = false;
	}
	shape_indent(p);
	if (f->kind == SONDE_FIELD_ENUM && f->nr_labels)
		shape_put_enum(p, f, &number);
	else
		tsdl_put_number(p->o, &number);
	outbuf_fmt(p->o, " %s;\n", p->name.data);
	return shape_step(p,
			  (struct ctf_put_step){ .how = is_bits ? PUT_NUMBER : PUT_BYTES,
						 .n = is_bits ? (f->bit_width + 7u) / 8 : f->width,
						 .field = f });
}

static int shape_text(struct shaper *p, const struct sonde_field *f)
{
	const struct tsdl_number character = { .bits = 8,
					       .is_big = shape_host_is_big(),
					       .is_character = true };

	shape_indent(p);
	if (f->is_dynamic || !f->width || f->width > MOST_CONSTANT) {
		outbuf_fmt(p->o, "string %s;\n", p->name.data);
		return shape_step(p, (struct ctf_put_step){ .how = PUT_STRING, .field = f });
	}
	tsdl_put_number(p->o, &character);
	outbuf_fmt(p->o, " %s[%u];\n", p->name.data, f->width);
	return shape_step(p, (struct ctf_put_step){ .how = PUT_BYTES, .n = f->width, .field = f });
}

/* Elements of a sequence, whose length is a member of its own in front of it. */
static int shape_sequence(struct shaper *p, struct tsdl_names *names,
			  const struct tsdl_number *elem, bool is_of_perf, struct ctf_put_step step)
{
	const char *suffix = is_of_perf ? "_size" : "_length";
	struct outbuf length = { 0 }, wanted = { 0 };
	int r;

	/* "_seq" has the length "__seq_length", as in traces of LTTng; perf's has another name */
	outbuf_fmt(&wanted, "%s%s", p->name.data + is_of_perf, suffix);
	outbuf_char(&wanted, '\0');
	r = wanted.failed ? err_nomem() : tsdl_names_add(names, wanted.data, &length);
	if (r == 0) {
		shape_indent(p);
		outbuf_fmt(p->o, "uint32_t %s;\n", length.data);
		shape_indent(p);
		tsdl_put_number(p->o, elem);
		outbuf_fmt(p->o, " %s[%s];\n", p->name.data, length.data);
		r = shape_step(p, step);
	}
	outbuf_done(&wanted);
	outbuf_done(&length);
	return r;
}

/* The bytes of an element: a number, or a byte of anything else. */
static uint32_t shape_elem_width(const struct sonde_field *f)
{
	return f->kind == SONDE_FIELD_ARRAY && value_has_width(f->elem_width) ? f->elem_width : 1;
}

static bool shape_is_sequence(const struct sonde_field *f)
{
	const uint32_t width = shape_elem_width(f);

	return f->is_dynamic || !f->width || f->width / width > MOST_CONSTANT || f->width % width;
}

static bool shape_has_sequence(const struct sonde_field *f)
{
	for (uint32_t i = 0; f->kind == SONDE_FIELD_NESTED && i < f->nr_fields; i++)
		if (shape_has_sequence(&f->fields[i]))
			return true;
	return (f->kind == SONDE_FIELD_ARRAY || f->kind == SONDE_FIELD_STRUCT) &&
	       shape_is_sequence(f);
}

/* Numbers, or bytes of anything else. */
static int shape_array(struct shaper *p, struct tsdl_names *names, const struct sonde_field *f)
{
	const uint32_t width = shape_elem_width(f);
	struct tsdl_number elem = shape_number_of(p, f, width);

	elem.is_signed = f->kind == SONDE_FIELD_ARRAY && f->is_signed;
	elem.is_float = elem.is_hex = false;
	if (shape_is_sequence(f))
		return shape_sequence(
			p, names, &elem, false,
			(struct ctf_put_step){ .how = PUT_SEQUENCE, .n = width, .field = f });
	shape_indent(p);
	tsdl_put_number(p->o, &elem);
	outbuf_fmt(p->o, " %s[%u];\n", p->name.data, f->width / width);
	return shape_step(p, (struct ctf_put_step){ .how = PUT_BYTES, .n = f->width, .field = f });
}

/* ---- members --------------------------------------------------------------------------------- */

static int shape_member(struct shaper *p, struct tsdl_names *names, const struct sonde_field *f);

static int shape_nested(struct shaper *p, const struct sonde_field *f)
{
	struct outbuf name = p->name;
	struct tsdl_names names = { 0 };
	int r = 0;

	p->name = (struct outbuf){ 0 };
	shape_indent(p);
	outbuf_str(p->o, "struct {\n");
	p->depth++;
	for (uint32_t i = 0; i < f->nr_fields && r == 0; i++)
		r = shape_member(p, &names, &f->fields[i]);
	p->depth--;
	shape_indent(p);
	outbuf_fmt(p->o, "} %s;\n", name.data);
	tsdl_names_done(&names);
	outbuf_done(&p->name);
	p->name = name;
	return r;
}

static int shape_member(struct shaper *p, struct tsdl_names *names, const struct sonde_field *f)
{
	TRY(shape_name(p, names, f->name));
	switch ((enum sonde_field_kind)f->kind) {
	case SONDE_FIELD_INT:
	case SONDE_FIELD_FLOAT:
		if (!value_has_width(f->width) && !f->bit_width)
			break;
		return shape_number(p, f);
	case SONDE_FIELD_ENUM:
	case SONDE_FIELD_BITS:
		return shape_number(p, f);
	case SONDE_FIELD_STRING:
		return shape_text(p, f);
	case SONDE_FIELD_NESTED:
		if (p->depth < MOST_NESTED)
			return shape_nested(p, f);
		break;
	case SONDE_FIELD_ARRAY:
	case SONDE_FIELD_STRUCT:
		break;
	}
	return shape_array(p, names, f);
}

/* ---- the context ----------------------------------------------------------------------------- */

static const struct {
	uint64_t bits;
	const char *name; /* that of perf data convert */
	uint32_t at;
	bool is_hex;
} shape_values[] = {
	{ SAMPLED_IP, "perf_ip", offsetof(struct sonde_sample, ip), true },
	{ SAMPLED_ADDR, "perf_addr", offsetof(struct sonde_sample, addr), true },
	{ SAMPLED_PERIOD, "perf_period", offsetof(struct sonde_sample, period), false },
	{ SAMPLED_WEIGHTS, "perf_weight", offsetof(struct sonde_sample, weight), false },
	{ SAMPLED_DATA_SRC, "perf_data_src", offsetof(struct sonde_sample, data_src), true },
	{ SAMPLED_TRANSACTION, "perf_transaction", offsetof(struct sonde_sample, transaction),
	  true },
	{ SAMPLED_PHYS_ADDR, "perf_phys_addr", offsetof(struct sonde_sample, phys_addr), true },
	{ SAMPLED_CGROUP, "perf_cgroup", offsetof(struct sonde_sample, cgroup), false },
	{ SAMPLED_DATA_PAGE_SIZE, "perf_data_page_size",
	  offsetof(struct sonde_sample, data_page_size), false },
	{ SAMPLED_CODE_PAGE_SIZE, "perf_code_page_size",
	  offsetof(struct sonde_sample, code_page_size), false },
};

const uint64_t ctf_shape_sampled = SAMPLED_IDENTIFIER | SAMPLED_TID | SAMPLED_TIME | SAMPLED_CPU |
				   SAMPLED_RAW | SAMPLED_CALLCHAIN | SAMPLED_IP | SAMPLED_ADDR |
				   SAMPLED_PERIOD | SAMPLED_WEIGHTS | SAMPLED_DATA_SRC |
				   SAMPLED_TRANSACTION | SAMPLED_PHYS_ADDR | SAMPLED_CGROUP |
				   SAMPLED_DATA_PAGE_SIZE | SAMPLED_CODE_PAGE_SIZE;

/* True if the events have such a context of their own, as those of CTF traces may. */
static bool shape_has_context(const struct sonde_schema *sc, const char *const *names)
{
	for (size_t i = 0; i < sc->nr_fields; i++)
		for (const char *const *name = names; sc->fields[i].is_common && *name; name++)
			if (!strcmp(sc->fields[i].name, *name))
				return true;
	return false;
}

static int shape_add(struct shaper *p, struct tsdl_names *names, const char *type, const char *name,
		     struct ctf_put_step step)
{
	TRY(shape_name(p, names, name));
	shape_indent(p);
	outbuf_fmt(p->o, "%s %s;\n", type, p->name.data);
	return shape_step(p, step);
}

/* The contexts have LTTng's names, which programs that read CTF traces know. */
static int shape_task(struct shaper *p, struct tsdl_names *names, const struct sonde_schema *sc)
{
	static const char
		*const pids[] = { "pid", "vpid", "perf_pid", "ctx_pid", "ctx_vpid", NULL },
		       *const tids[] = { "tid", "vtid", "perf_tid", "ctx_tid", "ctx_vtid", NULL },
		       *const comms[] = { "procname", "ctx_procname", NULL };
	static const char number[] = "integer { size = 32; align = 8; signed = true; }";

	/* A process alone is the thread, too. */
	p->shape->adds_pid = !shape_has_context(sc, pids);
	p->shape->adds_tid = p->shape->adds_pid && !shape_has_context(sc, tids);
	p->shape->adds_comm = !shape_has_context(sc, comms);
	if (p->shape->adds_pid)
		TRY(shape_add(p, names, number, "pid", (struct ctf_put_step){ .how = PUT_PID }));
	if (p->shape->adds_tid)
		TRY(shape_add(p, names, number, "tid", (struct ctf_put_step){ .how = PUT_TID }));
	return p->shape->adds_comm ? shape_add(p, names, "string", "procname",
					       (struct ctf_put_step){ .how = PUT_COMM })
				   : 0;
}

static int shape_sampled(struct shaper *p, struct tsdl_names *names, const struct sonde_schema *sc)
{
	for (size_t i = 0; i < sizeof(shape_values) / sizeof(*shape_values); i++) {
		if (!(sc->sampled & shape_values[i].bits))
			continue;
		p->shape->needs_sample = true;
		TRY(shape_add(p, names,
			      shape_values[i].is_hex
				      ? "integer { size = 64; align = 8; base = 16; }"
				      : "uint64_t",
			      shape_values[i].name,
			      (struct ctf_put_step){ .how = PUT_VALUE, .at = shape_values[i].at }));
	}
	return 0;
}

/* With the names of perf data convert. */
static int shape_callchain(struct shaper *p, struct tsdl_names *names)
{
	const struct tsdl_number entry = { .bits = 64,
					   .is_big = shape_host_is_big(),
					   .is_hex = true };

	TRY(shape_name(p, names, "perf_callchain"));
	return shape_sequence(p, names, &entry, true,
			      (struct ctf_put_step){ .how = PUT_CALLCHAIN });
}

/*
 * True if a field is in the event's context. babeltrace2 aborts if a member of that has a length in
 * it: such a field is in front of the event's own.
 */
static bool shape_is_in_context(const struct sonde_field *f)
{
	return f->is_common && !shape_has_sequence(f);
}

static int shape_fields(struct shaper *p, struct tsdl_names *names, const struct sonde_schema *sc,
			bool is_common, bool is_in_context)
{
	for (size_t i = 0; i < sc->nr_fields; i++)
		if (sc->fields[i].is_common == is_common &&
		    shape_is_in_context(&sc->fields[i]) == is_in_context)
			TRY(shape_member(p, names, &sc->fields[i]));
	return 0;
}

static int shape_context(struct shaper *p, struct tsdl_names *names, const struct sonde_schema *sc)
{
	TRY(shape_fields(p, names, sc, true, true));
	TRY(shape_task(p, names, sc));
	return shape_sampled(p, names, sc);
}

static int shape_payload(struct shaper *p, struct tsdl_names *names, const struct sonde_schema *sc,
			 bool callchain)
{
	TRY(shape_fields(p, names, sc, true, false));
	if (callchain && sc->sampled & SAMPLED_CALLCHAIN)
		TRY(shape_callchain(p, names));
	return shape_fields(p, names, sc, false, false);
}

static uint64_t shape_end(const struct sonde_schema *sc)
{
	uint64_t end = 0;

	for (size_t i = 0; i < sc->nr_fields; i++) {
		const struct sonde_field *f = &sc->fields[i];

		if (f->is_dynamic || !f->width || f->kind == SONDE_FIELD_NESTED)
			return UINT64_MAX;
		if ((uint64_t)f->offset + f->width > end)
			end = (uint64_t)f->offset + f->width;
	}
	return sc->nr_fields ? end : UINT64_MAX;
}

int ctf_shape_make(struct ctf_shape *ret, const struct sonde_schema *sc, bool swap, bool callchain)
{
	struct tsdl_names context = { 0 }, fields = { 0 };
	struct shaper p = { .shape = ret, .o = &ret->context, .swap = swap };
	int r;

	*ret = (struct ctf_shape){ .end = shape_end(sc) };
	r = shape_context(&p, &context, sc);
	p.o = &ret->fields;
	if (r == 0)
		r = shape_payload(&p, &fields, sc, callchain);
	if (r == 0 && (ret->context.failed || ret->fields.failed))
		r = err_nomem();
	tsdl_names_done(&context);
	tsdl_names_done(&fields);
	outbuf_done(&p.name);
	if (r < 0)
		ctf_shape_done(ret);
	return r;
}

void ctf_shape_done(struct ctf_shape *shape)
{
	vec_done(&shape->steps);
	outbuf_done(&shape->context);
	outbuf_done(&shape->fields);
}

/* ---- an event -------------------------------------------------------------------------------- */

/* The record may end within the field: the rest is zeros. */
static void shape_put_bytes(const struct ctf_put_step *step, const struct event *ev,
			    struct outbuf *o)
{
	const uint32_t at = step->field->offset, len = ev->pub.bytes_len,
		       has = at < len ? len - at : 0, n = has < step->n ? has : step->n;

	outbuf_put(o, ev->pub.bytes + (n ? at : 0), n);
	outbuf_pad(o, '\0', step->n - n);
}

static void shape_put_u32(struct outbuf *o, uint32_t v)
{
	outbuf_put(o, &v, sizeof(v));
}

static void shape_put_low_bytes(struct outbuf *o, uint64_t v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		outbuf_char(o, (char)(v >> 8 * i));
}

static void shape_put_string(const struct sonde_field *f, const struct event *ev, bool swap,
			     struct outbuf *o)
{
	uint32_t len;
	const uint8_t *p = field_bytes(f, ev->pub.bytes, ev->pub.bytes_len, swap, &len);

	outbuf_put(o, p, p ? strnlen((const char *)p, len) : 0);
	outbuf_char(o, '\0');
}

static void shape_put_sequence(const struct ctf_put_step *step, const struct event *ev, bool swap,
			       struct outbuf *o)
{
	uint32_t len;
	const uint8_t *p = field_bytes(step->field, ev->pub.bytes, ev->pub.bytes_len, swap, &len);

	shape_put_u32(o, len / step->n);
	outbuf_put(o, p, len - len % step->n);
}

static void shape_put_callchain(const struct event *ev, bool swap, struct outbuf *o)
{
	const uint8_t *entries;
	const int nr = source_callchain(ev->source, ev, &entries);

	shape_put_u32(o, nr > 0 ? (uint32_t)nr : 0);
	for (int i = 0; i < nr; i++) {
		const uint64_t ip = get_u64(entries + 8 * (size_t)i, swap);

		outbuf_put(o, &ip, sizeof(ip));
	}
}

static void shape_put_step(const struct ctf_put_step *step, const struct event *ev,
			   const struct sonde_sample *sample, const char *comm, struct outbuf *o)
{
	const bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;

	switch ((enum ctf_put)step->how) {
	case PUT_BYTES:
		shape_put_bytes(step, ev, o);
		break;
	case PUT_NUMBER:
		shape_put_low_bytes(
			o, field_number(step->field, ev->pub.bytes, ev->pub.bytes_len, swap),
			step->n);
		break;
	case PUT_STRING:
		shape_put_string(step->field, ev, swap, o);
		break;
	case PUT_SEQUENCE:
		shape_put_sequence(step, ev, swap, o);
		break;
	case PUT_TID:
		shape_put_u32(o, (uint32_t)ev->pub.tid);
		break;
	case PUT_PID:
		shape_put_u32(o, (uint32_t)ev->pub.pid);
		break;
	case PUT_COMM:
		outbuf_put(o, comm, strlen(comm) + 1);
		break;
	case PUT_VALUE:
		outbuf_put(o, (const char *)sample + step->at, sizeof(uint64_t));
		break;
	case PUT_CALLCHAIN:
		shape_put_callchain(ev, swap, o);
		break;
	}
}

int ctf_shape_put(const struct ctf_shape *shape, const struct event *ev, const char *comm,
		  struct outbuf *o)
{
	struct sonde_sample sample = { .size = sizeof(sample) };

	/* Values of a damaged sample are zeros. */
	if (shape->needs_sample && source_sample(ev->source, ev, &sample) < 0) {
		err_clear();
		sample = (struct sonde_sample){ .size = sizeof(sample) };
	}
	for (size_t i = 0; i < shape->steps.n; i++)
		shape_put_step(&shape->steps.v[i], ev, &sample, comm, o);
	return o->failed ? err_nomem() : 0;
}
