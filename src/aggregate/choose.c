/* SPDX-License-Identifier: MIT */
/*
 * Chooses the event types of an aggregation, and finds the value and the keys in each of them.
 *
 * An event type that a name chooses must have all fields. One that only a pattern chooses is left
 * out if it misses a field.
 */
#include <stdlib.h>
#include <string.h>

#include "aggregate/aggregate.h"
#include "base/err.h"
#include "base/near.h"
#include "columns/table.h"
#include "model/sampled.h"
#include "model/value.h"
#include "recording/recording.h"

void choose_done(struct aggregate *a)
{
	vec_foreach(p, &a->plans) {
		where_program_free(p->where);
		free(p->keys);
	}
	vec_done(&a->plans);
}

static bool choose_is_pattern(const char *name)
{
	return strpbrk(name, "*?[") != NULL;
}

/* True if the events include the schema; *ret_named if one of their names is not a pattern. */
static bool choose_has_name(const struct aggregate *a, const struct sonde_schema *sc,
			    bool *ret_named)
{
	bool has = false;

	*ret_named = false;
	for (size_t i = 0; i < a->names.nr; i++) {
		if (!event_names_match(a->names.names[i], sc->name, sc->kind == SONDE_TRACEPOINT))
			continue;
		has = true;
		*ret_named |= !choose_is_pattern(a->names.names[i]);
	}
	return has;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static bool choose_find_sample(const struct sonde_schema *sc, const char *name, uint32_t *ret)
{
	for (uint32_t i = 0; i < nr_sample_values; i++) {
		if (!strcmp(sample_values[i].name, name) && sc->sampled & sample_values[i].bits) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static int choose_unknown(const struct sonde_schema *sc, const char *name, bool is_key)
{
	char meant[512];
	struct near near;

	near_init(&near, name);
	for (size_t i = 0; i < sc->nr_fields; i++)
		near_offer(&near, sc->fields[i].name);
	for (size_t i = 0; i < nr_sample_values; i++) {
		if (sc->sampled & sample_values[i].bits)
			near_offer(&near, sample_values[i].name);
	}
	for (unsigned i = 0; is_key && i < NR_OWN_KEYS; i++)
		near_offer(&near, aggregate_key_names[i]);
	near_text(&near, meant, sizeof(meant));
	return err_set(-ESRCH, "%s has no field '%s'%s", sc->name, name, meant);
}

/* "f_pid" is the field pid, as in the names of columns. */
static const char *choose_field_name(const char *name)
{
	if (strncmp(name, "f_", 2) != 0)
		return name;
	for (unsigned i = 0; i < NR_OWN_KEYS; i++) {
		if (!strcmp(name + 2, aggregate_key_names[i]))
			return name + 2;
	}
	return name;
}

/* Finds a field, or else a value of a sample. -ESRCH with a message if there is none. */
static int choose_source(const struct sonde_schema *sc, const char *name, bool is_key,
			 struct aggregate_plan *p, struct aggregate_source *ret)
{
	const char *field = choose_field_name(name);

	ret->field = schema_find_field(sc, name, strlen(name));
	if (!ret->field && field != name)
		ret->field = schema_find_field(sc, field, strlen(field));
	if (ret->field)
		return 0;
	if (!choose_find_sample(sc, name, &ret->member))
		return choose_unknown(sc, name, is_key);
	p->needs_sample = true;
	return 0;
}

static bool choose_is_number(const struct sonde_field *f)
{
	switch (f->kind) {
	case SONDE_FIELD_INT:
	case SONDE_FIELD_ENUM:
	case SONDE_FIELD_BITS:
		return f->bit_width || value_has_width(f->width);
	}
	return false;
}

static int choose_value(struct aggregate *a, const struct sonde_schema *sc,
			struct aggregate_plan *p)
{
	if (!a->field)
		return 0;
	TRY(choose_source(sc, a->field, false, p, &p->value));
	if (p->value.field && !choose_is_number(p->value.field))
		return err_set(-ESRCH, "the field '%s' of %s is no integer", a->field, sc->name);
	return 0;
}

static int choose_key_field(struct aggregate_key *k, const struct sonde_schema *sc,
			    struct aggregate_plan *p, struct aggregate_source *ret)
{
	const struct sonde_field *f;
	bool is_text;

	TRY(choose_source(sc, k->name, true, p, ret));
	f = ret->field;
	is_text = f && f->kind == SONDE_FIELD_STRING;
	if (f && !is_text && !choose_is_number(f))
		return err_set(-ESRCH, "the field '%s' of %s is no integer and no text", k->name,
			       sc->name);
	if (k->has_form && k->is_text != is_text)
		return err_set(-ESRCH, "the field '%s' of %s is %s, in other events it is %s",
			       k->name, sc->name, is_text ? "text" : "an integer",
			       is_text ? "an integer" : "text");
	return 0;
}

/* A chosen schema decides about the form of the key's values. */
static void choose_key_form(struct aggregate_key *k, const struct aggregate_source *s)
{
	const uint64_t addresses = SAMPLED_IP | SAMPLED_ADDR | SAMPLED_PHYS_ADDR;
	const struct sonde_field *f = s->field;
	const bool is_unsigned = !f || !f->is_signed;
	const bool is_pointer = f ? f->is_pointer : sample_values[s->member].bits & addresses;

	k->is_unsigned = is_unsigned && (!k->has_form || k->is_unsigned);
	k->is_pointer = is_pointer && (!k->has_form || k->is_pointer);
	k->is_text = f && f->kind == SONDE_FIELD_STRING;
	k->has_form = true;
}

static bool choose_has_chains(const struct sonde_schema *sc)
{
	return sc->sampled & (SAMPLED_CALLCHAIN | SAMPLED_STACK_USER) ||
	       (sc->sampled & SAMPLED_BRANCH_STACK && sc->traits & SCHEMA_CALL_STACKS);
}

static int choose_key(struct aggregate_key *k, const struct sonde_schema *sc,
		      struct aggregate_plan *p, struct aggregate_source *ret)
{
	switch (k->kind) {
	case KEY_FIELD:
		return choose_key_field(k, sc, p, ret);
	case KEY_KSTACK:
	case KEY_USTACK:
	case KEY_STACK:
		if (!choose_has_chains(sc))
			return err_set(-ESRCH, "%s was recorded without call chains (-g)",
				       sc->name);
		return 0;
	case KEY_CGROUP:
		p->needs_sample = true;
		if (!(sc->sampled & SAMPLED_CGROUP))
			return err_set(-ESRCH,
				       "%s was recorded without control groups (--all-cgroups)",
				       sc->name);
		return 0;
	default:
		return 0;
	}
}

/* ---- plans ----------------------------------------------------------------------------------- */

static int choose_where(struct aggregate *a, const struct sonde_schema *sc, bool is_named,
			struct aggregate_plan *p)
{
	if (!a->where.text)
		return 0;
	TRY(where_bind(&a->where, sc, &p->where));
	for (size_t i = 0; i < a->where.tests.n; i++) {
		const enum where_gap gap = where_gap_of(p->where, i);

		if (gap && is_named)
			return where_explain(&a->where, i, gap, &sc, 1);
		a->is_met[i] |= !gap;
	}
	return 0;
}

/* -ESRCH if the schema misses a field. */
static int choose_fields(struct aggregate *a, const struct sonde_schema *sc,
			 struct aggregate_plan *p)
{
	TRY(choose_value(a, sc, p));
	for (unsigned i = 0; i < a->nr_keys; i++)
		TRY(choose_key(&a->keys[i], sc, p, &p->keys[i]));
	for (unsigned i = 0; i < a->nr_keys; i++) {
		if (a->keys[i].kind == KEY_FIELD)
			choose_key_form(&a->keys[i], &p->keys[i]);
	}
	return 0;
}

static int choose_make_plan(struct aggregate *a, const struct sonde_schema *sc,
			    struct aggregate_plan *p)
{
	bool is_named;
	int r;

	p->is_known = true;
	if (!schema_has_samples(sc) || !choose_has_name(a, sc, &is_named))
		return 0;
	p->keys = calloc(a->nr_keys + 1, sizeof(*p->keys));
	if (!p->keys)
		return err_nomem();
	r = choose_fields(a, sc, p);
	if (r < 0)
		return r == -ESRCH && !is_named ? 0 : r;
	TRY(choose_where(a, sc, is_named, p));
	p->is_chosen = true;
	return 0;
}

int choose_plan_schema(struct aggregate *a, const struct sonde_schema *sc)
{
	struct aggregate_plan p = { 0 };
	int r;

	if (sc->id < a->plans.n && a->plans.v[sc->id].is_known)
		return 0;
	while (a->plans.n <= sc->id)
		TRY(vec_push(&a->plans, (struct aggregate_plan){ 0 }));
	r = choose_make_plan(a, sc, &p);
	if (r < 0) {
		where_program_free(p.where);
		free(p.keys);
		return r;
	}
	a->plans.v[sc->id] = p;
	return 0;
}

/* ---- inputs whose schemas are all known ------------------------------------------------------ */

static int choose_unknown_event(const struct aggregate *a, const char *name)
{
	char meant[512];
	struct near near;

	near_init(&near, name);
	vec_foreach(sc, &a->all->schemas.schemas) {
		if ((*sc)->id == (*sc)->family && schema_has_samples(*sc))
			near_offer(&near, (*sc)->name);
	}
	near_text(&near, meant, sizeof(meant));
	return err_set(-ESRCH, "the recording has no event '%s'%s", name, meant);
}

static int choose_check_name(const struct aggregate *a, const char *name)
{
	vec_foreach(sc, &a->all->schemas.schemas) {
		if (schema_has_samples(*sc) &&
		    event_names_match(name, (*sc)->name, (*sc)->kind == SONDE_TRACEPOINT))
			return 0;
	}
	return choose_unknown_event(a, name);
}

/* No schema has all fields: says what the first one misses. */
static int choose_explain(struct aggregate *a)
{
	vec_foreach(at, &a->all->schemas.schemas) {
		struct sonde_schema *sc = *at;
		struct aggregate_plan p = { 0 };
		bool is_named;
		int r;

		if (!schema_has_samples(sc) || !choose_has_name(a, sc, &is_named))
			continue;
		p.keys = calloc(a->nr_keys + 1, sizeof(*p.keys));
		r = p.keys ? choose_fields(a, sc, &p) : err_nomem();
		free(p.keys);
		if (r < 0)
			return r;
	}
	return err_set(-ESRCH, "no event of '%s' has the fields", a->events);
}

/* A comparison that no event can have is an error. */
static int choose_check_met(struct aggregate *a)
{
	VEC(const struct sonde_schema *) chosen = { 0 };
	enum where_gap gap = WHERE_GAP_NO_FIELD;
	size_t test = 0;
	int r = 0;

	while (test < a->where.tests.n && a->is_met[test])
		test++;
	if (test == a->where.tests.n)
		return 0;
	for (uint32_t i = 0; i < a->plans.n && r >= 0; i++) {
		if (!a->plans.v[i].where)
			continue;
		if (gap == WHERE_GAP_NO_FIELD)
			gap = where_gap_of(a->plans.v[i].where, test);
		r = vec_push(&chosen, schema_at(&a->all->schemas, i));
	}
	if (r >= 0)
		r = where_explain(&a->where, test, gap, chosen.v, chosen.n);
	vec_done(&chosen);
	return r;
}

int choose_all(struct aggregate *a)
{
	bool has_plan = false;

	for (size_t i = 0; i < a->names.nr; i++)
		TRY(choose_check_name(a, a->names.names[i]));
	vec_foreach(sc, &a->all->schemas.schemas)
		TRY(choose_plan_schema(a, *sc));
	vec_foreach(p, &a->plans)
		has_plan |= p->is_chosen;
	if (!has_plan)
		return choose_explain(a);
	return a->where.text ? choose_check_met(a) : 0;
}
