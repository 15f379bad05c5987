/* SPDX-License-Identifier: MIT */
/*
 * Decides which arguments a handler gets. For the handler of a tracepoint this is decided once for
 * each layout of its event:
 *
 *	common parameters	by position, whatever their names: eight, or seven in the oldest
 *				scripts
 *	the fields after them	by position, if no field's name is at another field's place;
 *				by name otherwise
 */
#include "prelude.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UNHANDLED_ARGS 3

/* The fields that are compared with a handler's parameters after the common ones. */
struct layout {
	const struct sonde_field *fields;
	size_t nr_fields, nr_common;
};

/* The result of comparing the names of the parameters after the common ones. */
struct reading {
	size_t nr_params, nr_unknown; /* unknown: neither a field nor the sample dict */
	bool is_shifted;              /* a field's name is not at that field's place */
	bool has_dict;                /* a parameter is called perf_sample_dict */
	bool is_perfs_number;         /* perf passes exactly this number of arguments */
};

/* ---- names ----------------------------------------------------------------------------------- */

/* A name also names the field without its trailing underscores: skeletons have from_, id_. */
static int bind_field_index(const struct sonde_field *f, size_t nr, const char *name)
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

static int bind_common_index(const char *name)
{
	for (int i = 0; i <= PRELUDE_NR_COMMON; i++)
		if (!strcmp(prelude_arg_names[i], name))
			return i;
	return -1;
}

static bool bind_is_sample_dict(const char *name)
{
	return !strcmp(name, prelude_arg_names[PRELUDE_SAMPLE_DICT]);
}

/*
 * The index of the field that a parameter names, or -1. A field called perf_sample_dict needs a
 * trailing underscore.
 */
static int bind_named_field(const struct layout *l, const char *name)
{
	return bind_is_sample_dict(name) ? -1 : bind_field_index(l->fields, l->nr_fields, name);
}

/*
 * The field name most similar to `name`. Fields that another parameter names are skipped if others
 * are left. NULL if the event has no fields.
 */
static const char *bind_nearest_field(const struct layout *l, const struct prelude_callee *c,
				      const char *name)
{
	struct sonde_nearest named = { .size = sizeof(named), .wanted = name }, other = named;

	for (size_t i = 0; i < l->nr_fields; i++) {
		bool is_named = false;

		for (size_t k = l->nr_common; k < c->nr_names && !is_named; k++)
			is_named = !strcmp(c->names[k], l->fields[i].name);
		sonde_nearest_offer(is_named ? &named : &other, l->fields[i].name);
	}
	return other.closest ? other.closest : named.closest;
}

/* ---- how many common parameters -------------------------------------------------------------- */

/*
 * True if all field names from this parameter on are at their places, assuming that the common
 * parameters end before it.
 */
static bool bind_fits_behind(const struct layout *l, const struct prelude_callee *c, size_t param)
{
	size_t known = 0;

	for (size_t i = param + 1; i < c->nr_names; i++) {
		int field = bind_named_field(l, c->names[i]);

		if (field >= 0 && (size_t)field != i - param)
			return false;
		known += field >= 0;
	}
	return known > 0;
}

/* True if less than a third of the letters differ from a field's name. */
static bool bind_is_misspelt_field(const struct layout *l, const char *name)
{
	struct sonde_nearest n = { .size = sizeof(n), .wanted = name };

	for (size_t i = 0; i < l->nr_fields; i++)
		sonde_nearest_offer(&n, l->fields[i].name);
	return n.meant && n.distance < (strlen(name) + 2) / 3;
}

/* The oldest scripts had no common_callchain: a field's name is in its place. */
static size_t bind_common_parameters(const struct layout *l, const struct prelude_callee *c)
{
	const char *eighth;

	if (c->nr_names == PRELUDE_CALLCHAIN && !c->rest)
		return PRELUDE_CALLCHAIN;
	if (c->nr_names <= PRELUDE_CALLCHAIN)
		return PRELUDE_NR_COMMON;
	eighth = c->names[PRELUDE_CALLCHAIN];
	if (!strcmp(eighth, prelude_arg_names[PRELUDE_CALLCHAIN]))
		return PRELUDE_NR_COMMON;
	if (bind_named_field(l, eighth) >= 0 || bind_is_sample_dict(eighth) ||
	    (bind_is_misspelt_field(l, eighth) && bind_fits_behind(l, c, PRELUDE_CALLCHAIN)))
		return PRELUDE_CALLCHAIN;
	return PRELUDE_NR_COMMON;
}

/* ---- by count -------------------------------------------------------------------------------- */

/* The i-th of perf's arguments, counted from 0; the sample dict follows the last one. */
static struct prelude_slot bind_nth_arg(size_t i, size_t due, bool unhandled)
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
	return (struct prelude_slot){
		.arg = PRELUDE_FIELD,
		.field = (uint32_t)(i - PRELUDE_NR_COMMON),
	};
}

static void bind_by_count(struct prelude_bind *b, size_t nr, size_t due, bool unhandled)
{
	for (size_t i = 0; i < nr; i++)
		b->slots[i] = bind_nth_arg(i, due, unhandled);
	b->nr = nr;
	b->nr_keywords = 0;
}

/*
 * perf passes all arguments, and the sample dict if there is one more parameter. Returns true if
 * Python accepts that number.
 */
static bool bind_as_perf(struct prelude_bind *b, const struct prelude_callee *c, size_t due)
{
	size_t given = c->nr_names == due + 1 ? due + 1 : due;

	if (c->nr_names - c->nr_defaults > given || (c->nr_names < given && !c->rest))
		return false;
	for (size_t i = 0; i < c->nr_keywords; i++)
		if (!c->keywords[i].has_default)
			return false;
	bind_by_count(b, given, due, false);
	return true;
}

/* ---- trace_unhandled ------------------------------------------------------------------------- */

/* In the oldest scripts trace_unhandled had the common parameters and no dict. */
static bool bind_unhandled_by_name(struct prelude_bind *b, const struct prelude_callee *c)
{
	for (size_t i = 0; i < c->nr_names; i++) {
		int common = bind_common_index(c->names[i]);

		if (common < 0)
			return false;
		b->slots[i] = (struct prelude_slot){ .arg = (enum prelude_arg)common };
	}
	b->nr = c->nr_names;
	return true;
}

static void bind_unhandled(struct prelude_bind *b, const struct prelude_callee *c)
{
	const size_t due = UNHANDLED_ARGS;
	bool fits = !c->has_names || c->nr_names == due || c->nr_names == due + 1,
	     defaults_fill = c->nr_names > due && c->nr_names - c->nr_defaults <= due;

	if (fits || (c->rest && c->nr_names < due))
		bind_by_count(b, c->nr_names == due + 1 ? due + 1 : due, due, true);
	else if (!bind_unhandled_by_name(b, c))
		bind_by_count(b, defaults_fill ? due : c->nr_names, due, true);
}

/* ---- handlers of tracepoints ----------------------------------------------------------------- */

static struct reading bind_read_names(const struct layout *l, const struct prelude_callee *c)
{
	struct reading r = { 0 };
	size_t named;

	for (size_t i = l->nr_common; i < c->nr_names; i++) {
		int field = bind_named_field(l, c->names[i]);

		if (field >= 0)
			r.is_shifted = r.is_shifted || (size_t)field != i - l->nr_common;
		else if (bind_is_sample_dict(c->names[i]))
			r.has_dict = true;
		else
			r.nr_unknown++;
		r.nr_params++;
	}
	named = r.nr_params - r.has_dict;
	r.is_perfs_number = named == l->nr_fields || (named == l->nr_fields + 1 && !r.has_dict);
	return r;
}

static void bind_misfit_add(struct prelude_bind *b, const struct layout *l,
			    const struct prelude_callee *c, const char *name,
			    struct prelude_slot gets, bool ends)
{
	b->misfits[b->nr_misfits++] = (struct prelude_misfit){
		.name = name,
		.nearest = bind_nearest_field(l, c, name),
		.gets = gets,
		.field = gets.arg == PRELUDE_FIELD ? l->fields[gets.field].name : NULL,
		.ends = ends,
	};
}

/*
 * perf passes the sample dict as one argument more than there are fields, whatever the parameter's
 * name.
 */
static bool bind_is_extra_dict(const struct layout *l, const struct prelude_callee *c,
			       const struct reading *r, size_t param)
{
	return !r->has_dict && param + 1 == c->nr_names && r->nr_params == l->nr_fields + 1 &&
	       (!r->is_shifted || r->nr_unknown == 1);
}

/*
 * True if perf cannot call the function, and the function names fields. A parameter with a default
 * is then a field of other kernels.
 */
static bool bind_keeps_defaults(const struct prelude_callee *c, const struct reading *r)
{
	return !c->rest && !r->is_perfs_number && r->nr_unknown < r->nr_params - r->has_dict;
}

/* The value of a parameter after the common ones that has no field's name. */
static struct prelude_slot bind_unknown_slot(const struct layout *l, const struct prelude_callee *c,
					     const struct reading *r, size_t param)
{
	size_t place = param - l->nr_common;
	bool has_default = param >= c->nr_names - c->nr_defaults;

	if (bind_is_sample_dict(c->names[param]) || bind_is_extra_dict(l, c, r, param))
		return (struct prelude_slot){ .arg = PRELUDE_SAMPLE_DICT };
	if (!r->is_shifted && place < l->nr_fields && !(has_default && bind_keeps_defaults(c, r)))
		return (struct prelude_slot){ .arg = PRELUDE_FIELD, .field = (uint32_t)place };
	if (has_default)
		return (struct prelude_slot){ .arg = PRELUDE_DEFAULT };
	return (struct prelude_slot){ .arg = !r->is_shifted && place == l->nr_fields && !r->has_dict
						     ? PRELUDE_SAMPLE_DICT
						     : PRELUDE_NOTHING };
}

static void bind_params(struct prelude_bind *b, const struct layout *l,
			const struct prelude_callee *c, const struct reading *r)
{
	for (size_t i = l->nr_common; i < c->nr_names; i++) {
		int field = bind_named_field(l, c->names[i]);
		struct prelude_slot s = { .arg = PRELUDE_FIELD, .field = (uint32_t)field };

		if (field < 0) {
			s = bind_unknown_slot(l, c, r, i);
			if (bind_is_sample_dict(c->names[i]) || s.arg == PRELUDE_DEFAULT ||
			    bind_is_extra_dict(l, c, r, i))
				; /* the parameter is as intended */
			else if (r->is_shifted || !r->is_perfs_number)
				bind_misfit_add(b, l, c, c->names[i], s, r->is_shifted);
		}
		b->slots[b->nr++] = s;
	}
}

static bool bind_is_given(const struct prelude_bind *b, size_t field)
{
	for (size_t i = 0; i < b->nr + b->nr_keywords; i++)
		if (b->slots[i].arg == PRELUDE_FIELD && b->slots[i].field == field)
			return true;
	return false;
}

/*
 * By Python's rule *args gets the values that the named parameters did not get. Fields that were
 * passed by name keep their places.
 */
static void bind_rest(struct prelude_bind *b, const struct layout *l,
		      const struct prelude_callee *c, const struct reading *r)
{
	for (size_t i = b->nr; i < PRELUDE_NR_COMMON && i < l->nr_common; i++)
		b->slots[b->nr++] = (struct prelude_slot){ .arg = (enum prelude_arg)i };
	for (size_t i = 0; i < l->nr_fields; i++)
		if (r->is_shifted || !bind_is_given(b, i))
			b->slots[b->nr++] =
				(struct prelude_slot){ .arg = PRELUDE_FIELD, .field = (uint32_t)i };
}

static void bind_keyword_add(struct prelude_bind *b, const char *name, struct prelude_slot s)
{
	b->slots[b->nr + b->nr_keywords] = s;
	b->keywords[b->nr_keywords++] = name;
}

/* Binds keyword-only parameters. A default is overwritten only by a value of that name. */
static void bind_keywords(struct prelude_bind *b, const struct layout *l,
			  const struct prelude_callee *c)
{
	for (size_t i = 0; i < c->nr_keywords; i++) {
		const char *name = c->keywords[i].name;
		int field = bind_named_field(l, name), common = bind_common_index(name);
		struct prelude_slot s = {
			.arg = field >= 0    ? PRELUDE_FIELD
			       : common >= 0 ? (enum prelude_arg)common
					     : PRELUDE_NOTHING,
			.field = field >= 0 ? (uint32_t)field : 0,
		};

		if (s.arg == PRELUDE_NOTHING && c->keywords[i].has_default)
			continue;
		if (s.arg == PRELUDE_NOTHING)
			bind_misfit_add(b, l, c, name, s, true);
		bind_keyword_add(b, name, s);
	}
}

/*
 * True if a parameter has this name. A field of the same name then gets an underscore to be passed
 * by name.
 */
static bool bind_is_taken(const struct prelude_callee *c, const char *name)
{
	for (size_t i = c->nr_positional_only; i < c->nr_names; i++)
		if (!strcmp(c->names[i], name))
			return true;
	for (size_t i = 0; i < c->nr_keywords; i++)
		if (!strcmp(c->keywords[i].name, name))
			return true;
	return false;
}

static void bind_keywords_rest(struct prelude_bind *b, const struct layout *l,
			       const struct prelude_callee *c)
{
	for (size_t i = 0; i < l->nr_fields; i++) {
		struct prelude_slot s = { .arg = PRELUDE_FIELD, .field = (uint32_t)i };

		if (bind_is_given(b, i))
			continue;
		s.is_renamed = bind_is_taken(c, l->fields[i].name);
		bind_keyword_add(b, l->fields[i].name, s);
	}
}

static void bind_handler(struct prelude_bind *b, struct layout *l, const struct prelude_callee *c)
{
	struct reading r;

	l->nr_common = bind_common_parameters(l, c);
	r = bind_read_names(l, c);
	for (size_t i = 0; i < c->nr_names && i < l->nr_common; i++)
		b->slots[b->nr++] = (struct prelude_slot){ .arg = (enum prelude_arg)i };
	bind_params(b, l, c, &r);
	if (c->rest)
		bind_rest(b, l, c, &r);
	else /* the language fills in its own defaults */
		while (b->nr && b->slots[b->nr - 1].arg == PRELUDE_DEFAULT)
			b->nr--;
	bind_keywords(b, l, c);
	if (c->keywords_rest)
		bind_keywords_rest(b, l, c);
}

int prelude_bind(const struct sonde_schema *sc, const struct prelude_callee *c,
		 const struct sonde_rules *rules, struct prelude_bind *ret)
{
	struct layout l = { 0 };
	struct prelude_bind b = { 0 };
	size_t due, most;

	l.fields = prelude_fields(sc, &l.nr_fields);
	due = PRELUDE_NR_COMMON + l.nr_fields;
	most = c->nr_names + c->nr_keywords + 2 * due + 1;
	b.slots = calloc(most, sizeof(*b.slots));
	b.keywords = calloc(c->nr_keywords + l.nr_fields + 1, sizeof(*b.keywords));
	b.misfits = calloc(c->nr_names + c->nr_keywords + 1, sizeof(*b.misfits));
	if (!b.slots || !b.keywords || !b.misfits) {
		prelude_bind_done(&b);
		return -ENOMEM;
	}
	if (sonde_schema_kind(sc) == SONDE_SAMPLE) {
		b.slots[0] = (struct prelude_slot){ .arg = PRELUDE_SAMPLE_DICT };
		b.nr = 1;
	} else if (c->unhandled) {
		bind_unhandled(&b, c);
	} else if (!c->has_names) {
		bind_by_count(&b, due, due, false);
	} else {
		bind_handler(&b, &l, c);
		if (rules->binds_by_place)
			bind_as_perf(&b, c, due);
	}
	*ret = b;
	return 0;
}

void prelude_bind_done(struct prelude_bind *b)
{
	free(b->slots);
	free(b->keywords);
	free(b->misfits);
	*b = (struct prelude_bind){ 0 };
}

/* ---- what is said of names ------------------------------------------------------------------- */

void prelude_misfit_text(const struct prelude_misfit *m, const struct sonde_schema *sc, char *buf,
			 size_t size)
{
	const char *value = m->gets.arg == PRELUDE_SAMPLE_DICT
				    ? prelude_arg_names[PRELUDE_SAMPLE_DICT]
				    : m->field;
	char gets[256], nearest[256] = "it has no fields";

	if (m->ends)
		snprintf(gets, sizeof(gets), "has no default value");
	else if (value)
		snprintf(gets, sizeof(gets), "gets %s by position", value);
	else
		snprintf(gets, sizeof(gets), "gets no value");
	if (m->nearest)
		snprintf(nearest, sizeof(nearest), "the nearest is %s", m->nearest);
	snprintf(buf, size, "parameter %s is no field of %s (%s) and %s", m->name,
		 sonde_schema_name(sc), nearest, gets);
}
