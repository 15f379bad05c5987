/* SPDX-License-Identifier: MIT */
/*
 * The program of a schema: finds the value of each test. The order is the kernel's: a field of the
 * event, else a value of the event. Samples that are not of tracepoints have more values.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "filters/where/program.h"
#include "model/field_text.h"
#include "model/sampled.h"
#include "model/value.h"

static const struct bind_name {
	const char *name;
	enum where_place place;
	bool is_signed;
	bool of_samples;  /* only of samples that are not of tracepoints, and of pairs */
	uint64_t sampled; /* the recording has the value if it has one of these; 0: always */
} bind_names[] = {
	{ "cpu", WHERE_AT_CPU, true, false, SAMPLED_CPU },
	{ "CPU", WHERE_AT_CPU, true, false, SAMPLED_CPU },
	{ "common_cpu", WHERE_AT_CPU, true, false, SAMPLED_CPU },
	/* The task that runs on a cpu may be known from its switches. */
	{ "comm", WHERE_AT_COMM, false, false, SAMPLED_TID | SAMPLED_CPU },
	{ "COMM", WHERE_AT_COMM, false, false, SAMPLED_TID | SAMPLED_CPU },
	{ "pid", WHERE_AT_PID, true, true, SAMPLED_TID | SAMPLED_CPU },
	{ "tid", WHERE_AT_TID, true, true, SAMPLED_TID | SAMPLED_CPU },
	{ "ip", WHERE_AT_IP, false, true, SAMPLED_IP },
	{ "addr", WHERE_AT_ADDR, false, true, SAMPLED_ADDR },
	{ "period", WHERE_AT_PERIOD, false, true, 0 },
	{ "weight", WHERE_AT_WEIGHT, false, true, SAMPLED_WEIGHTS },
};

enum { NR_BIND_NAMES = sizeof(bind_names) / sizeof(*bind_names) };

static bool bind_has(const struct sonde_schema *sc, const struct bind_name *n)
{
	const bool is_of_task = n->place == WHERE_AT_PID || n->place == WHERE_AT_TID;

	/* The fields of a tracepoint have its task; those of a pair do not. */
	if (n->of_samples && sc->kind == SONDE_TRACEPOINT &&
	    !(is_of_task && sc->traits & SCHEMA_PAIR))
		return false;
	return !n->sampled || sc->sampled & n->sampled;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool bind_is_char_pointer(const struct sonde_field *f)
{
	return f->is_pointer && !f->is_array &&
	       (!strcmp(f->type, "char *") || !strcmp(f->type, "const char *"));
}

static enum where_gap bind_number(struct where_step *s, bool is_signed)
{
	const struct where_test *t = s->test;

	s->is_signed = is_signed;
	s->number = t->number;
	if (t->value == WHERE_STRING)
		return WHERE_GAP_IS_NUMBER;
	if (t->value != WHERE_NUMBER)
		return WHERE_GAP_NONE;
	if (t->is_negative && !is_signed)
		return WHERE_GAP_IS_UNSIGNED;
	if (!t->is_negative && is_signed && t->number > INT64_MAX)
		return WHERE_GAP_OUT_OF_RANGE;
	return WHERE_GAP_NONE;
}

/* The number takes the width of the field, as in the kernel: -1 and 0xffffffff are one int. */
static void bind_convert(struct where_step *s, const struct sonde_field *f)
{
	const unsigned bits = f->bit_width ? f->bit_width : 8 * f->width;

	if (bits && bits < 64)
		s->number &= (UINT64_C(1) << bits) - 1;
	s->number = field_sign_extend(f, s->number);
}

static enum where_gap bind_number_field(struct where_step *s, const struct sonde_field *f)
{
	const bool is_label = f->kind == SONDE_FIELD_ENUM && s->test->value == WHERE_STRING;
	enum where_gap gap;

	if (!f->bit_width && !value_has_width(f->width))
		return WHERE_GAP_NO_VALUE;
	if (f->kind == SONDE_FIELD_FLOAT) {
		s->place = WHERE_AT_FLOAT;
		gap = bind_number(s, true);
		return gap                            ? gap
		       : s->test->value == WHERE_CPUS ? WHERE_GAP_IS_FLOAT
		       : s->test->op == WHERE_AND     ? WHERE_GAP_IS_FLOAT
						      : WHERE_GAP_NONE;
	}
	s->place = is_label              ? WHERE_AT_LABEL
		   : field_is_special(f) ? WHERE_AT_SPECIAL
					 : WHERE_AT_INT;
	if (is_label)
		return WHERE_GAP_NONE;
	gap = bind_number(s, f->is_signed);
	bind_convert(s, f);
	return gap;
}

static enum where_gap bind_field(struct where_step *s, const struct sonde_schema *sc,
				 const struct sonde_field *f)
{
	const bool is_string_test = s->test->value == WHERE_STRING;

	s->field = f;
	if (f->is_dynamic && strstr(f->type, "cpumask_t")) {
		s->place = WHERE_AT_CPUMASK;
		s->long_bytes = sc->abi.long_bytes;
		return s->test->value == WHERE_CPUS ? WHERE_GAP_NONE : WHERE_GAP_IS_CPUMASK;
	}
	if (f->kind == SONDE_FIELD_STRING || f->is_text) {
		s->place = WHERE_AT_TEXT;
		return is_string_test ? WHERE_GAP_NONE : WHERE_GAP_IS_STRING;
	}
	if (bind_is_char_pointer(f)) {
		s->place = WHERE_AT_POINTER;
		/* The strings of system calls are in user space. */
		return !is_string_test                   ? WHERE_GAP_IS_STRING
		       : !strcmp(sc->system, "syscalls") ? WHERE_GAP_ADDRESS
							 : WHERE_GAP_NONE;
	}
	switch (f->kind) {
	case SONDE_FIELD_INT:
	case SONDE_FIELD_ENUM:
	case SONDE_FIELD_BITS:
	case SONDE_FIELD_FLOAT:
		return bind_number_field(s, f);
	default:
		return WHERE_GAP_NO_VALUE;
	}
}

static enum where_gap bind_value(struct where_step *s, const struct sonde_schema *sc,
				 const struct bind_name *n)
{
	s->place = n->place;
	s->has_weight_struct = sc->sampled & SAMPLED_WEIGHT_STRUCT;
	if (n->place != WHERE_AT_COMM)
		return bind_number(s, n->is_signed);
	return s->test->value == WHERE_STRING ? WHERE_GAP_NONE : WHERE_GAP_IS_STRING;
}

static enum where_gap bind_step(struct where_step *s, const struct sonde_schema *sc)
{
	const char *const name = s->test->name;
	const struct sonde_field *f = schema_find_field(sc, name, strlen(name));

	if (f)
		return bind_field(s, sc, f);
	for (size_t i = 0; i < NR_BIND_NAMES; i++)
		if (!strcmp(bind_names[i].name, name) && bind_has(sc, &bind_names[i]))
			return bind_value(s, sc, &bind_names[i]);
	return WHERE_GAP_NO_FIELD;
}

int where_bind(const struct where *w, const struct sonde_schema *sc, struct where_program **ret)
{
	struct where_program *p = calloc(1, sizeof(*p) + w->tests.n * sizeof(struct where_step));

	if (!p)
		return err_nomem();
	p->nr = w->tests.n;
	for (size_t i = 0; i < p->nr; i++) {
		struct where_step *s = &p->steps[i];

		s->test = &w->tests.v[i];
		s->on_true = s->test->on_true;
		s->on_false = s->test->on_false;
		s->gap = (uint8_t)bind_step(s, sc);
		if (s->gap)
			s->place = WHERE_NOWHERE;
	}
	*ret = p;
	return 0;
}

void where_program_free(struct where_program *p)
{
	free(p);
}

enum where_gap where_gap_of(const struct where_program *p, size_t test)
{
	return (enum where_gap)p->steps[test].gap;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static int bind_explain_name(const struct where *w, const struct where_test *t,
			     const struct sonde_schema *const *schemas, size_t n)
{
	struct near near;
	char guess[512];

	near_init(&near, t->name);
	for (size_t i = 0; i < n; i++) {
		const struct sonde_schema *sc = schemas[i];

		for (size_t k = 0; k < sc->nr_fields; k++)
			near_offer(&near, sc->fields[k].name);
		for (size_t k = 0; k < NR_BIND_NAMES; k++)
			if (bind_has(sc, &bind_names[k]))
				near_offer(&near, bind_names[k].name);
	}
	near_text(&near, guess, sizeof(guess));
	if (!*guess && schemas[0]->kind == SONDE_TRACEPOINT)
		snprintf(guess, sizeof(guess), "%s", field_text_advice(t->name));
	if (n == 1)
		return where_fail(w->text, t->name_at, "%s has no field '%s'%s", schemas[0]->name,
				  t->name, guess);
	return where_fail(w->text, t->name_at, "no event has a field '%s'%s", t->name, guess);
}

int where_explain(const struct where *w, size_t test, enum where_gap gap,
		  const struct sonde_schema *const *schemas, size_t n)
{
	const struct where_test *t = &w->tests.v[test];

	switch (gap) {
	case WHERE_GAP_NONE:
	case WHERE_GAP_NO_FIELD:
		break;
	case WHERE_GAP_IS_STRING:
		return where_fail(w->text, t->value_at,
				  "'%s' is a string: compare it with a string in quotes", t->name);
	case WHERE_GAP_IS_NUMBER:
		return where_fail(w->text, t->value_at,
				  "'%s' is a number: compare it with a number", t->name);
	case WHERE_GAP_IS_UNSIGNED:
		return where_fail(w->text, t->value_at,
				  "'%s' is unsigned: %lld as an unsigned number is 0x%llx", t->name,
				  (long long)t->number, (unsigned long long)t->number);
	case WHERE_GAP_OUT_OF_RANGE:
		return where_fail(w->text, t->value_at, "'%s' is signed: its highest value is %lld",
				  t->name, (long long)INT64_MAX);
	case WHERE_GAP_IS_FLOAT:
		return where_fail(w->text, t->value_at,
				  "'%s' has decimals: only == != < <= > >= are possible", t->name);
	case WHERE_GAP_IS_CPUMASK:
		return where_fail(w->text, t->value_at,
				  "'%s' is a set of cpus: compare it with CPUS{LIST}", t->name);
	case WHERE_GAP_NO_VALUE:
		return where_fail(w->text, t->name_at,
				  "'%s' is an array or a struct, which has no single value",
				  t->name);
	case WHERE_GAP_ADDRESS:
		return where_fail(w->text, t->name_at,
				  "the recording has only the address of the string '%s'", t->name);
	}
	return bind_explain_name(w, t, schemas, n);
}
