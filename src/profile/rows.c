/* SPDX-License-Identifier: MIT */
/*
 * Rows: cells whose values are equal. With children, each function of a path is in a row too, once
 * for each cell.
 */

#include "profile/rows.h"

#include "base/err.h"
#include "profile/counts.h"

/* ---- which row ------------------------------------------------------------------------------- */

static uint32_t rows_value(const struct profile_column *c, uint64_t key)
{
	return c->values.v[hash64_find(&c->by_raw, key)].id;
}

/* The row of a combination at a place. */
static int rows_find(struct profile *p, uint32_t combination, uint32_t place, bool is_frame,
		     uint32_t *ret)
{
	const uint64_t *raws = wordset_key(&p->combinations, combination);
	uint64_t key[65];
	size_t n = 0;
	int r;

	key[n++] = p->table_of.v[raws[0]];
	vec_foreach (c, &p->columns)
		key[n++] = rows_value(c, c->raw_at < 0 ? 2 * (uint64_t)place + is_frame
						       : raws[1 + c->raw_at]);
	r = wordset_put(&p->row_values, key, ret);
	if (r > 0)
		return vec_push(&p->rows,
				(struct profile_row){ .place = p->needs_place ? place + 1 : 0 });
	return r;
}

static uint32_t rows_root_of(const struct profile *p, uint32_t node)
{
	uint64_t key;

	while (high_half(key = *wordset_key(&p->nodes, node)) != PROFILE_ROOT)
		node = high_half(key);
	return (uint32_t)key;
}

static uint32_t rows_combination(const struct profile *p, uint32_t cell)
{
	const uint32_t at = high_half(*wordset_key(&p->cells, cell));

	return p->needs_paths ? rows_root_of(p, at) : at;
}

static int rows_of_cells(struct profile *p)
{
	for (uint32_t i = 0; i < p->cells.n; i++) {
		uint32_t row;

		TRY(rows_find(p, rows_combination(p, i),
			      (uint32_t)*wordset_key(&p->cells, i), false, &row));
		TRY(vec_push(&p->cell_rows, row));
	}
	return 0;
}

/* Parents are in front of their children. */
static int rows_of_nodes(struct profile *p)
{
	for (uint32_t i = 0; p->opts.children && i < p->nodes.n; i++) {
		const uint64_t key = *wordset_key(&p->nodes, i);
		uint32_t row = UINT32_MAX;

		if (high_half(key) != PROFILE_ROOT)
			TRY(rows_find(p, rows_root_of(p, i), (uint32_t)key, true, &row));
		TRY(vec_push(&p->node_rows, row));
	}
	return 0;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static uint32_t rows_depth(const struct profile *p, uint32_t node)
{
	uint32_t depth = 0;
	uint64_t key;

	while (high_half(key = *wordset_key(&p->nodes, node)) != PROFILE_ROOT) {
		node = high_half(key);
		depth++;
	}
	return depth;
}

static void rows_note_path(struct profile_row *row, uint32_t depth)
{
	row->has_tree |= depth > 0;
	if (depth > row->max_depth)
		row->max_depth = depth;
}

/*
 * The rows of a path's functions. seen: by row, the last cell + 1 that was added to it. A row that
 * a path meets several times has the part from the first time on, seen from where it begins.
 */
static void rows_add_path(struct profile *p, uint32_t cell, uint32_t node, uint32_t depth,
			  uint64_t *seen)
{
	const bool from_caller = p->opts.callgraph == CALLGRAPH_CALLER;
	const uint32_t self = p->cell_rows.v[cell];
	uint32_t left = depth;

	for (uint64_t key; high_half(key = *wordset_key(&p->nodes, node)) != PROFILE_ROOT;
	     node = high_half(key), left--) {
		const uint32_t at = p->node_rows.v[node];
		struct profile_row *row = &p->rows.v[at];

		if (at == self)
			continue;
		if (from_caller || seen[at] != cell + 1ull)
			rows_note_path(row, from_caller ? depth - left + 1 : left);
		if (seen[at] == cell + 1ull)
			continue;
		seen[at] = cell + 1ull;
		counts_add(p, &row->all, &p->counts.v[cell]);
	}
}

static int rows_sum(struct profile *p)
{
	uint64_t *seen = calloc(p->rows.n + 1, sizeof(*seen));

	if (!seen)
		return err_nomem();
	for (uint32_t i = 0; i < p->cells.n; i++) {
		const uint32_t node = high_half(*wordset_key(&p->cells, i));
		struct profile_row *row = &p->rows.v[p->cell_rows.v[i]];
		uint32_t depth = 0;

		counts_add(p, &row->self, &p->counts.v[i]);
		counts_add(p, &row->all, &p->counts.v[i]);
		if (p->needs_paths)
			rows_note_path(row, depth = rows_depth(p, node));
		if (p->opts.children)
			rows_add_path(p, i, node, depth, seen);
	}
	free(seen);
	return 0;
}

/* ---- tables ---------------------------------------------------------------------------------- */

static int rows_compare_schemas(const void *a, const void *b)
{
	const struct profile_member *x = a, *y = b;

	return (x->schema > y->schema) - (x->schema < y->schema);
}

static int rows_make_tables(struct profile *p)
{
	for (size_t i = 0; i < p->events.n; i++)
		TRY(vec_push(&p->tables, (struct profile_table){ .own = p->events.v[i] }));
	if (p->tables.n)
		qsort(p->tables.v, p->tables.n, sizeof(*p->tables.v), rows_compare_schemas);
	for (size_t i = 0; i < p->events.n; i++) {
		uint32_t at = 0;

		while (p->tables.v[at].own.schema != p->events.v[i].schema)
			at++;
		TRY(vec_push(&p->table_of, at));
	}
	return 0;
}

/* By table, then by the merge order of the values. */
static int rows_compare(const void *a, const void *b, void *ctx)
{
	const struct profile *p = ctx;
	const uint64_t *x = wordset_key(&p->row_values, *(const uint32_t *)a),
		       *y = wordset_key(&p->row_values, *(const uint32_t *)b);

	for (unsigned i = 0; i < p->row_values.stride; i++) {
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	}
	return 0;
}

static int rows_fill_tables(struct profile *p, const uint32_t *sorted)
{
	uint32_t at = 0;

	for (size_t t = 0; t < p->tables.n; t++) {
		struct profile_table *table = &p->tables.v[t];

		table->first_row = at;
		while (at < p->rows.n && wordset_key(&p->row_values, sorted[at])[0] == t)
			at++;
		table->nr_rows = at - table->first_row;
		table->order = reallocarray(NULL, table->nr_rows + 1, sizeof(*table->order));
		if (!table->order)
			return err_nomem();
		for (uint32_t i = 0; i < table->nr_rows; i++) {
			struct profile_row *row = &p->rows.v[sorted[table->first_row + i]];

			table->order[i] = sorted[table->first_row + i];
			row->merged = i;
			counts_add(p, &table->own.sum, &row->self);
			if (!row->all.is_filtered)
				counts_add(p, &table->own.shown, &row->self);
		}
	}
	return 0;
}

int rows_make(struct profile *p)
{
	uint32_t *sorted;
	int r;

	TRY(rows_make_tables(p));
	TRY(rows_of_cells(p));
	TRY(rows_of_nodes(p));
	TRY(rows_sum(p));
	sorted = reallocarray(NULL, p->rows.n + 1, sizeof(*sorted));
	if (!sorted)
		return err_nomem();
	for (uint32_t i = 0; i < p->rows.n; i++)
		sorted[i] = i;
	qsort_r(sorted, p->rows.n, sizeof(*sorted), rows_compare, p);
	r = rows_fill_tables(p, sorted);
	free(sorted);
	return r;
}
