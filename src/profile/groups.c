/* SPDX-License-Identifier: MIT */
#include "profile/groups.h"

#include <stdlib.h>

#include "base/err.h"
#include "profile/texts.h"
#include "recording/recording.h"

static int groups_add_member(struct profile *p, const struct sonde_schema *sc)
{
	const struct profile_member m = {
		.name = texts_intern(p, sc->name),
		.schema = sc->id,
		.is_tracepoint = sc->kind == SONDE_TRACEPOINT,
	};

	return m.name ? vec_push(&p->group_members, m) : -ENOMEM;
}

static int groups_note_recorded(struct profile *p, const struct event *ev)
{
	struct source_group g;

	for (size_t i = 0; source_group_at(ev->source, i, &g); i++) {
		struct profile_group own = {
			.first_member = (uint32_t)p->group_members.n,
			.nr_members = (uint32_t)g.nr_members,
		};
		uint32_t name;

		if (g.nr_members < 2)
			continue;
		TRY(strpool_intern(&p->strings, g.name, g.name_len, &name));
		own.name = strpool_text(&p->strings, name);
		for (size_t m = 0; m < g.nr_members; m++)
			TRY(groups_add_member(p, g.members[m]));
		TRY(vec_push(&p->groups, own));
	}
	return 0;
}

static int groups_note_all(struct profile *p, const struct event *ev)
{
	const struct schema_table *schemas = &ev->recording->all->schemas;
	struct profile_group own = { .name = NULL };

	for (uint32_t i = 0; i < schemas->schemas.n; i++) {
		const struct sonde_schema *sc = schemas->schemas.v[i];

		if (sc->kind > SONDE_SAMPLE || sc->is_newer)
			continue;
		TRY(groups_add_member(p, sc));
		own.nr_members++;
	}
	return own.nr_members > 1 ? vec_push(&p->groups, own) : 0;
}

int groups_note(struct profile *p, const struct event *ev)
{
	vec_clear(&p->groups);
	vec_clear(&p->group_members);
	if (p->opts.groups == GROUPS_NONE)
		return 0;
	TRY(groups_note_recorded(p, ev));
	return p->opts.groups == GROUPS_ALL && !p->groups.n ? groups_note_all(p, ev) : 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static const struct profile_group *groups_find(const struct profile *p, uint32_t schema)
{
	for (size_t g = 0; g < p->groups.n; g++) {
		const struct profile_group *group = &p->groups.v[g];

		for (uint32_t m = 0; m < group->nr_members; m++) {
			if (p->group_members.v[group->first_member + m].schema == schema)
				return group;
		}
	}
	return NULL;
}

static bool groups_have_table(const struct profile *p, uint32_t schema)
{
	for (size_t t = 0; t < p->tables.n; t++) {
		if (p->tables.v[t].own.schema == schema)
			return true;
	}
	return false;
}

static int groups_add_table(struct profile *p, const struct profile_member *event)
{
	const struct profile_group *g = groups_find(p, event->schema);
	const struct profile_member *leader = g ? &p->group_members.v[g->first_member] : event;
	struct profile_table t = { .own = *leader, .group = g ? g->name : NULL };

	return groups_have_table(p, leader->schema) ? 0 : vec_push(&p->tables, t);
}

static int groups_compare(const void *a, const void *b)
{
	const struct profile_table *x = a, *y = b;

	return (x->own.schema > y->own.schema) - (x->own.schema < y->own.schema);
}

static int groups_fill_members(struct profile *p, struct profile_table *t)
{
	const struct profile_group *g = groups_find(p, t->own.schema);

	t->first_member = (uint32_t)p->members.n;
	t->nr_members = g ? g->nr_members : 1;
	if (!g)
		return vec_push(&p->members, t->own);
	for (uint32_t m = 0; m < g->nr_members; m++)
		TRY(vec_push(&p->members, p->group_members.v[g->first_member + m]));
	return 0;
}

static int groups_place_event(struct profile *p, uint32_t schema)
{
	for (uint32_t t = 0; t < p->tables.n; t++) {
		const struct profile_table *table = &p->tables.v[t];

		for (uint32_t m = 0; m < table->nr_members; m++) {
			if (p->members.v[table->first_member + m].schema != schema)
				continue;
			TRY(vec_push(&p->table_of, t));
			return vec_push(&p->member_of, m);
		}
	}
	return err_set(-EINVAL, "an event type without a table");
}

int groups_make_tables(struct profile *p)
{
	for (size_t i = 0; i < p->events.n; i++)
		TRY(groups_add_table(p, &p->events.v[i]));
	if (p->tables.n)
		qsort(p->tables.v, p->tables.n, sizeof(*p->tables.v), groups_compare);
	for (size_t t = 0; t < p->tables.n; t++)
		TRY(groups_fill_members(p, &p->tables.v[t]));
	for (size_t i = 0; i < p->events.n; i++)
		TRY(groups_place_event(p, p->events.v[i].schema));
	return 0;
}
