/* SPDX-License-Identifier: MIT */
/* Runs programs on events. */
#include <string.h>

#include "filters/where/program.h"
#include "model/value.h"

static bool run_is_swapped(const struct where_input *in)
{
	return in->event->flags & SONDE_EVENT_SWAPPED;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static inline bool run_compare(enum where_op op, bool is_signed, uint64_t a, uint64_t b)
{
	const bool is_less = is_signed ? (int64_t)a < (int64_t)b : a < b;

	switch (op) {
	case WHERE_EQ:
		return a == b;
	case WHERE_NE:
		return a != b;
	case WHERE_LT:
		return is_less;
	case WHERE_LE:
		return is_less || a == b;
	case WHERE_GT:
		return !is_less && a != b;
	case WHERE_GE:
		return !is_less;
	case WHERE_AND:
		return a & b;
	case WHERE_GLOB:
		break;
	}
	return false;
}

/* A number that is not a number is neither less nor equal nor greater. */
static bool run_compare_floats(enum where_op op, double a, double b)
{
	switch (op) {
	case WHERE_EQ:
		return !(a < b || a > b) && a <= b;
	case WHERE_NE:
		return a < b || a > b || !(a <= b);
	case WHERE_LT:
		return a < b;
	case WHERE_LE:
		return a <= b;
	case WHERE_GT:
		return a > b;
	case WHERE_GE:
		return a >= b;
	default:
		return false;
	}
}

static bool run_has_cpu(const struct cpu_list *cpus, uint64_t cpu)
{
	return cpu < cpus->nr && cpus->bits[cpu / 64] >> cpu % 64 & 1;
}

static uint32_t run_count_cpus(const struct cpu_list *cpus)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < cpus->nr / 64; i++)
		n += (uint32_t)__builtin_popcountll(cpus->bits[i]);
	return n;
}

/* A number as a cpu: the set of this cpu alone is compared with the list. */
static bool run_compare_cpu(const struct where_test *t, uint64_t cpu)
{
	const bool is_member = run_has_cpu(&t->cpus, cpu);

	switch (t->op) {
	case WHERE_EQ:
		return is_member && run_count_cpus(&t->cpus) == 1;
	case WHERE_NE:
		return !is_member || run_count_cpus(&t->cpus) != 1;
	default:
		return is_member;
	}
}

static inline bool run_number(const struct where_step *s, uint64_t v)
{
	const struct where_test *t = s->test;

	return (__builtin_expect(t->value == WHERE_CPUS, 0)
			? run_compare_cpu(t, v)
			: run_compare(t->op, s->is_signed, v, s->number)) != t->is_inverted;
}

/* ---- strings and sets of cpus ---------------------------------------------------------------- */

static bool run_text(const struct where_test *t, const char *text, size_t len)
{
	bool is_match;

	if (t->op == WHERE_GLOB)
		is_match = where_glob(t->string, t->len, text, len);
	else
		is_match = (len == t->len && !memcmp(text, t->string, len)) == (t->op == WHERE_EQ);
	return is_match != t->is_inverted;
}

/* Longs of the recorded machine, the lowest cpus first. */
static bool run_mask_has(const struct where_step *s, const uint8_t *mask, uint32_t len, bool swap,
			 uint32_t cpu)
{
	const uint32_t bytes = s->long_bytes == 4 ? 4 : 8, at = cpu / (8 * bytes) * bytes;

	return at <= len && len - at >= bytes &&
	       value_u64(mask + at, bytes, swap) >> cpu % (8 * bytes) & 1;
}

static bool run_cpumask(const struct where_step *s, const struct where_input *in)
{
	const struct sonde_event *ev = in->event;
	const struct cpu_list *cpus = &s->test->cpus;
	const bool swap = run_is_swapped(in);
	bool is_equal = true, has_common = false;
	uint32_t len, nr;
	const uint8_t *mask = field_bytes(s->field, ev->bytes, ev->bytes_len, swap, &len);

	if (!mask)
		return false;
	nr = 8 * len > cpus->nr ? 8 * len : cpus->nr; /* the length has 16 bits */
	for (uint32_t cpu = 0; cpu < nr; cpu++) {
		const bool is_set = run_mask_has(s, mask, len, swap, cpu);
		const bool is_listed = run_has_cpu(cpus, cpu);

		is_equal &= is_set == is_listed;
		has_common |= is_set && is_listed;
	}
	return (s->test->op == WHERE_EQ   ? is_equal
		: s->test->op == WHERE_NE ? !is_equal
					  : has_common) != s->test->is_inverted;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static bool run_field(const struct where_step *s, const struct where_input *in)
{
	const struct sonde_field *f = s->field;
	const struct sonde_event *ev = in->event;
	const bool swap = run_is_swapped(in);
	const uint8_t *p;
	const char *text;
	uint32_t len;
	double d;

	if (s->place == WHERE_AT_TEXT) {
		p = field_bytes(f, ev->bytes, ev->bytes_len, swap, &len);
		return p && run_text(s->test, (const char *)p, strnlen((const char *)p, len));
	}
	if (s->place == WHERE_AT_CPUMASK)
		return run_cpumask(s, in);
	if (f->width > ev->bytes_len || f->offset > ev->bytes_len - f->width)
		return false;
	switch (s->place) {
	case WHERE_AT_FLOAT:
		d = field_double(f, ev->bytes, ev->bytes_len, swap);
		return run_compare_floats(s->test->op, d, (double)(int64_t)s->number) !=
		       s->test->is_inverted;
	case WHERE_AT_LABEL:
		text = field_label(f, field_number(f, ev->bytes, ev->bytes_len, swap));
		return run_text(s->test, text ? text : "", text ? strlen(text) : 0);
	case WHERE_AT_POINTER:
		text = in->string_at(in->ctx, field_number(f, ev->bytes, ev->bytes_len, swap));
		return text && run_text(s->test, text, strlen(text));
	default:
		return run_number(s, field_sign_extend(f, field_special_u64(f, ev->bytes,
									    ev->bytes_len, swap)));
	}
}

static bool run_sample(const struct where_step *s, const struct where_input *in)
{
	struct sonde_sample sample;

	if (in->sample(in->ctx, &sample) < 0)
		return false;
	switch (s->place) {
	case WHERE_AT_IP:
		return run_number(s, sample.ip);
	case WHERE_AT_ADDR:
		return run_number(s, sample.addr);
	case WHERE_AT_PERIOD:
		return run_number(s, sample.period);
	default:
		return run_number(s,
				  s->has_weight_struct ? (uint32_t)sample.weight : sample.weight);
	}
}

static bool run_id(const struct where_step *s, int32_t id)
{
	return id >= 0 && run_number(s, (uint64_t)(int64_t)id);
}

static inline bool run_step(const struct where_step *s, const struct where_input *in)
{
	const struct sonde_event *ev = in->event;
	const char *comm;

	switch (s->place) {
	case WHERE_NOWHERE:
		return false;
	case WHERE_AT_INT: {
		const struct sonde_field *f = s->field;
		uint64_t v;

		if (f->width > ev->bytes_len || f->offset > ev->bytes_len - f->width)
			return false;
		v = value_u64(ev->bytes + f->offset, f->width, run_is_swapped(in));
		if (s->is_signed)
			v = (uint64_t)value_sign_extend(v, f->width);
		return run_number(s, v);
	}
	case WHERE_AT_CPU:
		return run_id(s, ev->cpu);
	case WHERE_AT_PID:
		return run_id(s, ev->pid);
	case WHERE_AT_TID:
		return run_id(s, ev->tid);
	case WHERE_AT_COMM:
		comm = in->comm(in->ctx);
		return run_text(s->test, comm, strlen(comm));
	case WHERE_AT_IP:
	case WHERE_AT_ADDR:
	case WHERE_AT_PERIOD:
	case WHERE_AT_WEIGHT:
		return run_sample(s, in);
	default:
		return run_field(s, in);
	}
}

bool where_pass(const struct where_program *p, const struct where_input *in)
{
	size_t at = 0;

	while (at < p->nr) {
		const struct where_step *s = &p->steps[at];

		at = run_step(s, in) ? s->on_true : s->on_false;
	}
	return at == WHERE_PASS;
}
