/* SPDX-License-Identifier: MIT */
/* The tables of a session: which events go where, and when a batch is complete. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/near.h"
#include "columns/arrow.h"
#include "columns/frames.h"
#include "columns/table.h"

static void tables_column_done(struct column *c)
{
	free(c->name);
	shared_unref(c->values);
	shared_unref(c->validity);
	shared_unref(c->elems);
	shared_unref(c->spare_values);
	shared_unref(c->spare_elems);
	dictionary_done(&c->dict);
	hash64_done(&c->by_value);
	vec_done(&c->by_comm);
}

void table_done(struct table *t)
{
	for (size_t i = 0; i < t->nr_columns; i++)
		tables_column_done(&t->columns[i]);
	free(t->columns);
	frames_free(t->frames);
}

static void tables_table_free(struct table *t)
{
	table_done(t);
	free(t);
}

void tables_done(struct tables *t)
{
	for (size_t i = t->ready_at; i < t->ready.n; i++)
		arrow_array_done(&t->ready.v[i].array);
	vec_done(&t->ready);
	vec_foreach(plan, &t->plans)
		choose_plan_done(*plan);
	vec_done(&t->plans);
	vec_foreach(table, &t->tables)
		tables_table_free(*table);
	vec_done(&t->tables);
	outbuf_done(&t->scratch);
	outbuf_done(&t->words);
}

/* ---- adding a table -------------------------------------------------------------------------- */

static int tables_unknown_event(const struct tables *t, const char *event)
{
	struct near near;
	char meant[512];

	near_init(&near, event);
	vec_foreach(sc, &t->all->schemas.schemas) {
		if ((*sc)->id == (*sc)->family)
			near_offer(&near, (*sc)->name);
	}
	near_text(&near, meant, sizeof(meant));
	return err_set(-ENOENT, "the recording has no event '%s'%s", event, meant);
}

/* A tracepoint without its system, an event that is sampled without its modifiers. */
static bool tables_is_short_name(const struct sonde_schema *sc, const char *event)
{
	const char *colon = strrchr(sc->name, ':');
	const size_t len = strlen(event);

	if (!strcmp(sc->event, event))
		return true;
	return sc->kind == SONDE_SAMPLE && colon && (size_t)(colon - sc->name) == len &&
	       !memcmp(sc->name, event, len);
}

static int tables_find_event(const struct tables *t, const char *event,
			     const struct sonde_schema **ret)
{
	const struct sonde_schema *found = NULL;

	vec_foreach(sc, &t->all->schemas.schemas) {
		if (!strcmp((*sc)->name, event)) {
			*ret = *sc;
			return 0;
		}
		if ((*sc)->id != (*sc)->family || !tables_is_short_name(*sc, event))
			continue;
		if (found)
			return err_set(-EINVAL, "'%s' may be %s or %s", event, found->name,
				       (*sc)->name);
		found = *sc;
	}
	if (!found)
		return tables_unknown_event(t, event);
	*ret = found;
	return 0;
}

int tables_add(struct tables *t, const char *event, const char *fields, uint32_t flags,
	       uint32_t rows)
{
	const struct sonde_schema *sc = NULL;
	struct table *table;
	int r;

	TRY(tables_find_event(t, event, &sc));
	TRY(vec_reserve(&t->tables, 1));
	table = calloc(1, sizeof(*table));
	if (!table)
		return err_nomem();
	*table = (struct table){
		.name = sc->name,
		.schema = sc->family,
		.family = sc->family,
		.flags = flags,
		.max_rows = rows,
	};
	r = flags & SONDE_COLUMNS_FRAMES ? frames_new(&table->frames) : 0;
	if (r >= 0)
		r = choose_columns(t, table, fields);
	if (r < 0) {
		tables_table_free(table);
		return r;
	}
	t->tables.v[t->tables.n] = table;
	return (int)t->tables.n++;
}

/* ---- plans ----------------------------------------------------------------------------------- */

bool tables_need(const struct tables *t, uint32_t schema)
{
	return schema < t->plans.n && t->plans.v[schema];
}

static int tables_plan_schema(struct tables *t, const struct sonde_schema *sc, struct plan **ret)
{
	vec_foreach(table, &t->tables) {
		struct plan *p;

		if ((*table)->family != sc->family)
			continue;
		TRY(choose_plan(*table, sc, &p));
		p->next = *ret;
		*ret = p;
	}
	return 0;
}

int tables_plan(struct tables *t)
{
	while (t->plans.n < t->all->schemas.schemas.n) {
		const struct sonde_schema *sc = t->all->schemas.schemas.v[t->plans.n];
		struct plan *p = NULL;
		int r = tables_plan_schema(t, sc, &p);

		if (r >= 0)
			r = vec_push(&t->plans, p);
		if (r < 0) {
			choose_plan_done(p);
			return r;
		}
	}
	return 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

static int tables_flush(struct tables *t, struct table *table)
{
	uint32_t nr = 0;

	while (t->tables.v[nr] != table)
		nr++;
	return batch_flush(t, table, nr);
}

static bool tables_lists_are_full(const struct table *t)
{
	for (size_t i = 0; t->has_lists && i < t->nr_columns; i++) {
		const struct column *c = &t->columns[i];
		const size_t width = c->form == COLUMN_LIST ? c->width : 1;

		if (c->nr_elems * width >= TABLE_LIST_BYTES)
			return true;
	}
	return false;
}

/* Adds the pending events. It may end one batch and begin another. */
static int tables_add_pending(struct tables *t, struct table *table)
{
	const size_t all = table->nr_pending;

	for (size_t done = 0; done < all;) {
		const size_t room = table->max_rows - table->rows, left = all - done;

		table->nr_pending = left < room ? left : room;
		if (done)
			memmove(table->pending, table->pending + done,
				table->nr_pending * sizeof(table->pending[0]));
		TRY(batch_reserve(table, table->nr_pending));
		TRY(fill_pending(t, table));
		done += table->nr_pending;
		if (table->rows == table->max_rows || tables_lists_are_full(table))
			TRY(tables_flush(t, table));
	}
	table->nr_pending = 0;
	return 0;
}

static int tables_put(struct tables *t, const struct plan *p, const struct sonde_event *ev)
{
	struct table *table = p->table;

	if (table->pending_plan != p || table->nr_pending == TABLE_PENDING) {
		TRY(tables_add_pending(t, table));
		table->pending_plan = p;
	}
	table->pending[table->nr_pending++] = ev;
	return 0;
}

int tables_take(struct tables *t, const struct sonde_event *const *events, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		const uint32_t schema = events[i]->schema;

		if (__builtin_expect(schema >= t->plans.n, 0))
			TRY(tables_plan(t));
		for (const struct plan *p = t->plans.v[schema]; p; p = p->next)
			TRY(tables_put(t, p, events[i]));
	}
	vec_foreach(table, &t->tables)
		TRY(tables_add_pending(t, *table));
	return 0;
}

int tables_finish(struct tables *t)
{
	vec_foreach(table, &t->tables)
		TRY(tables_flush(t, *table));
	return 0;
}

int tables_next(struct tables *t, uint32_t *ret_table, struct ArrowArray *ret)
{
	const struct table_batch *b;

	if (t->ready_at == t->ready.n)
		return 0;
	b = &t->ready.v[t->ready_at];
	*ret_table = b->table;
	*ret = b->array;
	if (++t->ready_at == t->ready.n)
		t->ready_at = t->ready.n = 0;
	return 1;
}
