/* SPDX-License-Identifier: MIT */
/* Which arguments a handler gets: perf's rule by count, widened so that handlers of other kernels and years still run. */
#include "prelude.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNHANDLED_ARGS 3

/* NAME_ stands for NAME where that means something in the language: generated skeletons have from_, id_. */
static int field_index(const struct sonde_field *f, size_t nr, const char *name)
{
	size_t len = strlen(name);

	for (;; len--) {
		for (size_t i = 0; i < nr; i++)
			if (!strncmp(f[i].name, name, len) && !f[i].name[len])
				return (int)i;
		if (len < 2 || name[len - 1] != '_')
			return -1;
	}
}

static int common_index(const char *name)
{
	for (int i = 0; i <= PRELUDE_NR_COMMON; i++)
		if (!strcmp(prelude_arg_names[i], name))
			return i;
	return -1;
}

static bool is_sample_dict(const char *name)
{
	return !strcmp(name, prelude_arg_names[PRELUDE_SAMPLE_DICT]);
}

/* The i-th of perf's arguments, counted from 0; the sample dict stands behind the last one. */
static struct prelude_slot nth_arg(size_t i, size_t due, bool unhandled)
{
	if (i == due)
		return (struct prelude_slot){ .arg = PRELUDE_SAMPLE_DICT };
	if (i > due)
		return (struct prelude_slot){ .arg = PRELUDE_NOTHING };
	if (unhandled)
		return (struct prelude_slot){ .arg = i == 2 ? PRELUDE_FIELDS_DICT
							    : (enum prelude_arg)i };
	if (i < PRELUDE_NR_COMMON)
		return (struct prelude_slot){ .arg = (enum prelude_arg)i };
	return (struct prelude_slot){ .arg = PRELUDE_FIELD,
				      .field = (uint32_t)(i - PRELUDE_NR_COMMON) };
}

static void bind_by_count(struct prelude_bind *b, size_t nr, size_t due, bool unhandled)
{
	for (size_t i = 0; i < nr; i++)
		b->slots[i] = nth_arg(i, due, unhandled);
	b->nr = nr;
}

/*
 * Common parameters go by position, because scripts call them what they like (cpu, sec, nsec, ...); there are seven of
 * them when the eighth has the name of a field. Everything behind them goes by name; what is no field's and has a default
 * is a field of other kernels. False: some name is nothing of this, or all are defaults.
 */
static bool bind_by_name(struct prelude_bind *b, const struct prelude_callee *c,
			 const struct sonde_field *fields, size_t nr_fields, bool may_be_absent)
{
	size_t nr_common = PRELUDE_NR_COMMON, nr_absent = 0;

	if (c->nr_names < PRELUDE_CALLCHAIN)
		return false;
	if (c->nr_names == PRELUDE_CALLCHAIN ||
	    field_index(fields, nr_fields, c->names[PRELUDE_CALLCHAIN]) >= 0 ||
	    is_sample_dict(c->names[PRELUDE_CALLCHAIN]))
		nr_common = PRELUDE_CALLCHAIN;
	for (size_t i = 0; i < c->nr_names; i++) {
		int field;

		if (i < nr_common) {
			b->slots[i] = (struct prelude_slot){ .arg = (enum prelude_arg)i };
			continue;
		}
		field = field_index(fields, nr_fields, c->names[i]);
		if (field >= 0)
			b->slots[i] = (struct prelude_slot){ .arg = PRELUDE_FIELD,
							     .field = (uint32_t)field };
		else if (is_sample_dict(c->names[i]))
			b->slots[i] = (struct prelude_slot){ .arg = PRELUDE_SAMPLE_DICT };
		else if (may_be_absent && i >= c->nr_names - c->nr_defaults) {
			b->slots[i] = (struct prelude_slot){ .arg = PRELUDE_NOTHING };
			nr_absent++;
		} else
			return false;
	}
	if (nr_absent && nr_common + nr_absent >= c->nr_names)
		return false;
	b->nr = c->nr_names;
	b->by_name = true;
	return true;
}

/* trace_unhandled of the first years had the common parameters, and no dict. */
static bool bind_unhandled_by_name(struct prelude_bind *b, const struct prelude_callee *c)
{
	for (size_t i = 0; i < c->nr_names; i++) {
		int common = common_index(c->names[i]);

		if (common < 0)
			return false;
		b->slots[i] = (struct prelude_slot){ .arg = (enum prelude_arg)common };
	}
	b->nr = c->nr_names;
	b->by_name = true;
	return true;
}

/* Would perf's own rule give a parameter named like a field something else than that field? */
static bool count_misleads(const struct prelude_callee *c, const struct sonde_field *fields,
			   size_t nr_fields)
{
	const char *last;

	if (c->nr_names <= PRELUDE_CALLCHAIN)
		return false;
	if (field_index(fields, nr_fields, c->names[PRELUDE_CALLCHAIN]) >= 0)
		return true;
	last = c->names[c->nr_names - 1];
	return c->nr_names == PRELUDE_NR_COMMON + nr_fields
		       ? is_sample_dict(last)
		       : !is_sample_dict(last) && field_index(fields, nr_fields, last) >= 0;
}

int prelude_bind(const struct sonde_schema *sc, const struct prelude_callee *c,
		 enum sonde_compat compat, struct prelude_bind *ret)
{
	size_t nr_fields;
	const struct sonde_field *fields = prelude_fields(sc, &nr_fields);
	size_t due = c->unhandled ? UNHANDLED_ARGS : PRELUDE_NR_COMMON + nr_fields;
	size_t most = (due > c->nr_names ? due : c->nr_names) + 1;
	bool defaults_fill = c->nr_names > due && c->nr_names - c->nr_defaults <= due;
	struct prelude_bind b = { .slots = calloc(most, sizeof(*b.slots)) };

	if (!b.slots)
		return -ENOMEM;
	if (sonde_schema_kind(sc) == SONDE_SAMPLE) {
		b.slots[0] = (struct prelude_slot){ .arg = PRELUDE_SAMPLE_DICT };
		b.nr = 1;
	} else if (!c->has_names)
		bind_by_count(&b, due, due, c->unhandled);
	else if (c->nr_names == due || c->nr_names == due + 1) {
		if (c->unhandled || compat || c->rest || !count_misleads(c, fields, nr_fields) ||
		    !bind_by_name(&b, c, fields, nr_fields, false))
			bind_by_count(&b, c->nr_names, due, c->unhandled);
	} else if (c->rest && c->nr_names < due)
		bind_by_count(&b, due, due, c->unhandled);
	else if (c->unhandled ? !bind_unhandled_by_name(&b, c)
			      : !bind_by_name(&b, c, fields, nr_fields, !defaults_fill)) {
		if (defaults_fill)
			bind_by_count(&b, due, due, c->unhandled);
		else
			bind_by_count(&b, c->nr_names, due, c->unhandled);
	}
	*ret = b;
	return 0;
}

void prelude_bind_done(struct prelude_bind *b)
{
	free(b->slots);
	*b = (struct prelude_bind){ 0 };
}
