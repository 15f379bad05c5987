/* SPDX-License-Identifier: MIT */
/*
 * Rows: cells whose values are equal. With children, each function of a path is in a row too, once
 * for each cell.
 */

#include "profile/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "compat/rules.h"
#include "profile/columns.h"
#include "profile/counts.h"
#include "profile/groups.h"
#include "profile/field_widths.h"
#include "profile/treesort.h"
#include "profile/values.h"

/* ---- which row ------------------------------------------------------------------------------- */

static uint32_t rows_value(const struct profile_column *c, uint64_t key)
{
	return c->values.v[hash64_find(&c->by_raw, key)].id;
}

static bool rows_is_of_leader(const struct profile *p, uint32_t combination)
{
	return !p->member_of.v[wordset_key(&p->combinations, combination)[0]];
}

/* A row of a group is the leader's, if the leader has it. */
static void rows_give_leader(struct profile *p, uint32_t row, uint32_t combination, uint32_t place)
{
	struct profile_row *r = &p->rows.v[row];

	if (r->is_of_leader || !rows_is_of_leader(p, combination))
		return;
	r->is_of_leader = true;
	r->combination = combination;
	r->place = p->needs_place ? place + 1 : 0;
}

static int rows_add(struct profile *p, uint32_t table, uint32_t combination, uint32_t place)
{
	const size_t nr = 2 * (p->tables.v[table].nr_members - 1ul);
	const struct profile_row row = {
		.place = p->needs_place ? place + 1 : 0,
		.combination = combination,
		.members_at = p->member_counts.n,
		.is_of_leader = rows_is_of_leader(p, combination),
	};

	TRY(vec_reserve(&p->member_counts, nr));
	if (nr)
		memset(p->member_counts.v + p->member_counts.n, 0,
		       nr * sizeof(*p->member_counts.v));
	p->member_counts.n += nr;
	return vec_push(&p->rows, row);
}

/* The row of a combination at a place. */
static int rows_find(struct profile *p, uint32_t combination, uint32_t place, bool is_frame,
		     uint32_t *ret)
{
	const uint64_t *raws = wordset_key(&p->combinations, combination);
	uint64_t key[1 + PROFILE_MAX_COLUMNS];
	size_t n = 0;
	int r;

	key[n++] = p->table_of.v[raws[0]];
	vec_foreach(c, &p->columns)
		key[n++] = rows_value(c, c->raw_at < 0 ? 2 * (uint64_t)place + is_frame
						       : raws[1 + c->raw_at]);
	r = wordset_put(&p->row_values, key, ret);
	if (!r)
		rows_give_leader(p, *ret, combination, place);
	return r > 0 ? rows_add(p, p->table_of.v[raws[0]], combination, place) : r;
}

/* The row that was found last for a combination and a place, of those with equal slots. */
struct rows_recent {
	uint64_t key; /* combination << 32 | place + 1 */
	uint32_t row; /* number + 1; 0 if the slot is free */
};

enum { ROWS_RECENT = 1 << 10 };

static int rows_of_cell(struct profile *p, struct rows_recent *recent, uint32_t cell, uint32_t *ret)
{
	const uint64_t key = wordset_key(&p->cells, cell)[0];
	struct rows_recent *r = &recent[hash_u64(key) % ROWS_RECENT];

	if (!r->row || r->key != key) {
		TRY(rows_find(p, cell_combination(p, cell), cell_place(p, cell), false, ret));
		*r = (struct rows_recent){ key, *ret + 1 };
	}
	*ret = r->row - 1;
	return 0;
}

static int rows_of_cells(struct profile *p)
{
	struct rows_recent *recent;
	int r = 0;

	TRY(vec_reserve(&p->cell_rows, p->cells.n));
	recent = calloc(ROWS_RECENT, sizeof(*recent));
	if (!recent)
		return err_nomem();
	for (uint32_t i = 0; r >= 0 && i < p->cells.n; i++)
		r = rows_of_cell(p, recent, i, &p->cell_rows.v[i]);
	p->cell_rows.n = p->cells.n;
	free(recent);
	return r;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/*
 * Walks the paths of all cells, combination after combination. A frame's row depends on the
 * combination and the place, so it is looked up once for both.
 */
struct rows_walk {
	struct profile *p;
	uint32_t *cells;        /* owned; by combination */
	uint32_t *row_of_place; /* owned; valid if mark[place] is 1 + the combination */
	uint32_t *mark;         /* owned */
	uint64_t *seen;         /* owned; by row: 1 + the last cell with a frame in it */
	bool *repeats;          /* owned; by combination: see rows_repeat() */
	size_t nr_seen;
	/*
	 * Called once for each row that has frames of the cell's path, other than the cell's own
	 * row. `from`: index of the first of them, in the order of call trees.
	 */
	void (*meet)(struct profile *p, uint32_t row, uint32_t cell, uint32_t from);
};

static void rows_walk_done(struct rows_walk *w)
{
	free(w->cells);
	free(w->row_of_place);
	free(w->mark);
	free(w->seen);
	free(w->repeats);
}

/*
 * True if frames of the combination's samples are not recognised as being in a row already. perf
 * compares a frame with the rows that the sample was added to, but has 0 for some keys of a frame.
 */
static bool rows_repeat(const struct profile *p, uint32_t combination)
{
	const uint64_t *raws = wordset_key(&p->combinations, combination) + 1;

	for (size_t i = 0; i < p->columns.n; i++) {
		const struct profile_column *c = &p->columns.v[i];

		switch (c->def->raw) {
		case RAW_TIME:
		case RAW_SOCKET:
		case RAW_WEIGHT:
		case RAW_INS_LAT:
		case RAW_STAGE:
		case RAW_CODE_PAGE:
		case RAW_TRANSACTION:
			if (raws[c->raw_at])
				return true;
			break;
		default:
			break;
		}
	}
	return false;
}

static int rows_walk_init(struct rows_walk *w, struct profile *p)
{
	uint32_t *first = calloc(p->combinations.n + 1, sizeof(*first)), at = 0;

	w->p = p;
	w->cells = reallocarray(NULL, p->cells.n + 1, sizeof(*w->cells));
	w->row_of_place = reallocarray(NULL, p->place_list.n + 1, sizeof(*w->row_of_place));
	w->mark = calloc(p->place_list.n + 1, sizeof(*w->mark));
	w->repeats = calloc(p->combinations.n + 1, sizeof(*w->repeats));
	if (!first || !w->cells || !w->row_of_place || !w->mark || !w->repeats) {
		free(first);
		return err_nomem();
	}
	for (uint32_t i = 0; i < p->cells.n; i++)
		first[cell_combination(p, i)]++;
	for (uint32_t i = 0; i < p->combinations.n; i++) {
		const uint32_t nr = first[i];

		first[i] = at;
		at += nr;
		w->repeats[i] = p->rules->counts_callers_again && rows_repeat(p, i);
	}
	for (uint32_t i = 0; i < p->cells.n; i++)
		w->cells[first[cell_combination(p, i)]++] = i;
	free(first);
	return 0;
}

static int rows_grow_seen(struct rows_walk *w, uint32_t row)
{
	const size_t nr = row < 1024 ? 2048 : 2 * (size_t)row;
	uint64_t *seen;

	if (row < w->nr_seen)
		return 0;
	seen = reallocarray(w->seen, nr, sizeof(*seen));
	if (!seen)
		return err_nomem();
	memset(seen + w->nr_seen, 0, (nr - w->nr_seen) * sizeof(*seen));
	w->seen = seen;
	w->nr_seen = nr;
	return 0;
}

/*
 * Finds the rows of all frames. A new row keeps the place that is found first, in perf's order: the
 * outermost frame first if the tree starts at the outermost caller.
 */
static int rows_of_frames(struct rows_walk *w, uint32_t combination, const uint32_t *frames,
			  uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		const uint32_t place = frames[i] - 1;

		if (w->mark[place] == combination + 1)
			continue;
		TRY(rows_find(w->p, combination, place, true, &w->row_of_place[place]));
		TRY(rows_grow_seen(w, w->row_of_place[place]));
		w->mark[place] = combination + 1;
	}
	return 0;
}

/*
 * If a path has several frames of a row, it is added once: from the innermost of them if the tree
 * starts at the sampled function, from the outermost if it starts at the outermost caller.
 */
static int rows_walk_path(struct rows_walk *w, uint32_t cell)
{
	struct profile *p = w->p;
	const uint32_t *frames = NULL, nr = cell_frames(p, cell, &frames);
	const uint32_t self = p->cell_rows.v[cell];
	const bool repeats = w->repeats[cell_combination(p, cell)];

	TRY(rows_of_frames(w, cell_combination(p, cell), frames, nr));
	for (uint32_t i = 0; i < nr; i++) {
		const uint32_t row = w->row_of_place[frames[i] - 1];

		if (!repeats && (row == self || w->seen[row] == cell + 1ull))
			continue;
		w->seen[row] = cell + 1ull;
		w->meet(p, row, cell, i);
	}
	return 0;
}

static int rows_walk_paths(struct rows_walk *w)
{
	for (size_t i = 0; i < w->p->cells.n; i++)
		TRY(rows_walk_path(w, w->cells[i]));
	return 0;
}

/* ---- counts ---------------------------------------------------------------------------------- */

static void rows_note_path(struct profile_row *row, uint32_t depth)
{
	row->has_tree |= depth > 0;
	if (depth > row->max_depth)
		row->max_depth = depth;
}

static uint32_t rows_member(const struct profile *p, uint32_t cell)
{
	return p->member_of.v[cell_event(p, cell)];
}

static void rows_meet(struct profile *p, uint32_t row, uint32_t cell, uint32_t from)
{
	const uint32_t member = rows_member(p, cell), *frames;

	if (!member)
		rows_note_path(&p->rows.v[row], cell_frames(p, cell, &frames) - from);
	counts_add_cell(p, row_counts(p, &p->rows.v[row], member, true), cell);
}

static void rows_sum_cells(struct profile *p)
{
	for (uint32_t i = 0; i < p->cells.n; i++) {
		struct profile_row *row = &p->rows.v[p->cell_rows.v[i]];
		const uint32_t member = rows_member(p, i), *frames;

		counts_add_cell(p, row_counts(p, row, member, false), i);
		if (p->needs_paths && !member && !cell_is_borrowed(p, i))
			rows_note_path(row, cell_frames(p, i, &frames));
	}
	vec_foreach(row, &p->rows)
		row->all = row->self;
	for (size_t i = 0; i < p->member_counts.n; i += 2)
		p->member_counts.v[i + 1] = p->member_counts.v[i];
}

static int rows_sum(struct profile *p)
{
	struct rows_walk w = { .meet = rows_meet };
	int r;

	rows_sum_cells(p);
	if (!p->opts.children)
		return 0;
	r = rows_walk_init(&w, p);
	if (r >= 0)
		r = rows_walk_paths(&w);
	rows_walk_done(&w);
	return r;
}

/* ---- meetings -------------------------------------------------------------------------------- */

static void rows_count_meeting(struct profile *p, uint32_t row, uint32_t cell, uint32_t from)
{
	(void)from;
	p->first_meeting[row] += !rows_member(p, cell);
}

/* first_meeting[row] is after the row's last meeting so far. */
static void rows_fill_meeting(struct profile *p, uint32_t row, uint32_t cell, uint32_t from)
{
	if (!rows_member(p, cell))
		p->meetings[p->first_meeting[row]++] = (struct profile_meeting){ cell, from };
}

static int rows_meetings_of(struct profile *p, struct rows_walk *w)
{
	uint64_t at = 0;

	TRY(rows_walk_init(w, p));
	for (uint32_t i = 0; i < p->cells.n; i++)
		if (!cell_is_borrowed(p, i))
			rows_count_meeting(p, p->cell_rows.v[i], i, 0);
	w->meet = rows_count_meeting;
	if (p->opts.children)
		TRY(rows_walk_paths(w));
	for (uint32_t i = 0; i <= p->rows.n; i++) {
		const uint64_t nr = p->first_meeting[i];

		p->first_meeting[i] = at;
		at += nr;
	}
	p->meetings = reallocarray(NULL, at + 1, sizeof(*p->meetings));
	if (!p->meetings)
		return err_nomem();
	for (uint32_t i = 0; i < p->cells.n; i++)
		if (!cell_is_borrowed(p, i))
			rows_fill_meeting(p, p->cell_rows.v[i], i, 0);
	if (w->nr_seen)
		memset(w->seen, 0, w->nr_seen * sizeof(*w->seen));
	w->meet = rows_fill_meeting;
	if (p->opts.children)
		TRY(rows_walk_paths(w));
	memmove(p->first_meeting + 1, p->first_meeting, p->rows.n * sizeof(*p->first_meeting));
	p->first_meeting[0] = 0;
	return 0;
}

int rows_find_meetings(struct profile *p)
{
	struct rows_walk w = { 0 };
	int r;

	if (p->meetings)
		return 0;
	free(p->first_meeting);
	p->first_meeting = calloc(p->rows.n + 2, sizeof(*p->first_meeting));
	if (!p->first_meeting)
		return err_nomem();
	r = rows_meetings_of(p, &w);
	rows_walk_done(&w);
	return r;
}

/* ---- tables ---------------------------------------------------------------------------------- */

/* Compares by table, then by the merge order of the values. */
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

/*
 * Like rows_compare(), but with perf's comparison of functions, which depends on the order in which
 * rows are compared.
 */
static int rows_compare_as_perf(const void *a, const void *b, void *ctx)
{
	const struct profile *p = ctx;
	const uint64_t *x = wordset_key(&p->row_values, *(const uint32_t *)a),
		       *y = wordset_key(&p->row_values, *(const uint32_t *)b);
	int r = x[0] != y[0] ? x[0] < y[0] ? -1 : 1 : 0;

	for (uint32_t i = 0; !r && i < p->columns.n; i++) {
		const struct profile_column *c = &p->columns.v[i];

		if (x[1 + i] == y[1 + i])
			continue;
		r = x[1 + i] < y[1 + i] ? -1 : 1;
		if (c->def->order == &order_sym)
			r = values_by_function(p, &c->values.v[c->by_id.v[x[1 + i]]],
					       &c->values.v[c->by_id.v[y[1 + i]]]);
	}
	return r;
}

/* True if the distance of two addresses without a function exceeds perf's numbers. */
static bool rows_have_far_addresses(const struct profile_column *c)
{
	int64_t least = INT64_MAX, most = INT64_MIN, distance;

	for (size_t i = 0; i < c->values.n; i++) {
		const struct profile_value *v = &c->values.v[i];

		if (v->kind != SONDE_VALUE_ADDRESS)
			continue;
		least = (int64_t)v->number < least ? (int64_t)v->number : least;
		most = (int64_t)v->number > most ? (int64_t)v->number : most;
	}
	return most >= least && __builtin_sub_overflow(most, least, &distance);
}

static bool rows_need_tree(const struct profile *p)
{
	bool has_function = false, is_far = false;

	for (size_t i = 0; i < p->columns.n; i++) {
		if (p->columns.v[i].def->order != &order_sym)
			continue;
		has_function = true;
		is_far |= rows_have_far_addresses(&p->columns.v[i]);
	}
	return p->rules->merges_by_tree && has_function &&
	       (!p->has_dso || p->has_inlined || is_far) && !p->merged;
}

struct rows_seen {
	uint32_t *rows; /* in the order in which perf adds them */
	uint32_t nr;
	bool *has; /* by row */
};

static void rows_see(struct rows_seen *s, uint32_t row)
{
	if (!s->has[row])
		s->rows[s->nr++] = row;
	s->has[row] = true;
}

/* Lists the rows in the order of their first samples, and frames after the sampled function. */
static int rows_list_as_seen(struct profile *p, struct rows_seen *s)
{
	for (uint32_t i = 0; i < p->cells.n; i++) {
		const uint32_t *frames = NULL,
			       nr = p->opts.children ? cell_frames(p, i, &frames) : 0;

		rows_see(s, p->cell_rows.v[i]);
		for (uint32_t k = 0; k < nr; k++) {
			uint32_t row;

			TRY(rows_find(p, cell_combination(p, i), frames[k] - 1, true, &row));
			rows_see(s, row);
		}
	}
	return 0;
}

static int rows_use_as_seen(struct profile *p, uint32_t *sorted)
{
	struct rows_seen s = { .rows = reallocarray(NULL, p->rows.n + 1, sizeof(*s.rows)),
			       .has = calloc(p->rows.n + 1, sizeof(*s.has)) };
	int r = s.rows && s.has ? rows_list_as_seen(p, &s) : err_nomem();

	if (r >= 0 && field_widths_are_measured(p))
		r = field_widths_of_merging(p, s.rows, s.nr);
	if (r >= 0 && rows_need_tree(p)) {
		r = treesort(s.rows, s.nr, rows_compare_as_perf, p);
		if (r >= 0 && columns_are_merged_twice(p))
			r = treesort(s.rows, s.nr, rows_compare_as_perf, p);
		memcpy(sorted, s.rows, s.nr * sizeof(*sorted));
	}
	free(s.rows);
	free(s.has);
	return r;
}

/* A row is filtered if its first sample, of any member, is filtered. */
static bool rows_is_filtered(struct profile *p, const struct profile_table *table,
			     struct profile_row *row)
{
	const struct profile_counts *first = NULL;

	for (uint32_t m = 0; m < table->nr_members; m++) {
		const struct profile_counts *c = row_counts(p, row, m, true);

		if (counts_any(c) && (!first || c->first < first->first))
			first = c;
	}
	return first && first->is_filtered;
}

static void rows_sum_table(struct profile *p, struct profile_table *table, struct profile_row *row)
{
	row->is_filtered = rows_is_filtered(p, table, row);
	for (uint32_t m = 0; m < table->nr_members; m++) {
		const struct profile_counts *c = row_counts(p, row, m, false);
		struct profile_member *member = &p->members.v[table->first_member + m];

		counts_add(p, &table->own.sum, c);
		counts_add(p, &member->sum, c);
		if (row->is_filtered)
			continue;
		counts_add(p, &table->own.shown, c);
		counts_add(p, &member->shown, c);
	}
}

/*
 * Marks the rows that perf compared with others by the key number `key`: those of several samples,
 * those of frames (for source lines, only if they have a sample of their own), and neighbours whose
 * keys before it are equal.
 */
static void rows_note_compared(struct profile *p, const uint32_t *sorted, uint32_t key)
{
	const bool is_line = p->columns.v[key].def->raw != RAW_TRACE;
	const uint64_t bit = 1ull << key;
	const size_t len = (1ul + key) * sizeof(uint64_t);

	for (uint32_t i = 0; i < p->rows.n; i++) {
		struct profile_row *row = &p->rows.v[sorted[i]];

		if (row->all.samples > 1 ||
		    (p->opts.children && row->has_tree && (!is_line || row->self.samples)))
			row->compared_keys |= bit;
		if (!i || memcmp(wordset_key(&p->row_values, sorted[i - 1]),
				 wordset_key(&p->row_values, sorted[i]), len))
			continue;
		row->compared_keys |= bit;
		p->rows.v[sorted[i - 1]].compared_keys |= bit;
	}
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
			rows_sum_table(p, table, row);
		}
	}
	return 0;
}

static uint32_t rows_table_of_cell(const struct profile *p, uint32_t cell)
{
	return p->table_of.v[wordset_key(&p->combinations, cell_combination(p, cell))[0]];
}

/* Cells are in the order of their first samples. */
static int rows_list_paths(struct profile *p)
{
	for (uint32_t i = 0; i < p->cells.n; i++)
		p->tables.v[rows_table_of_cell(p, i)].nr_paths++;
	for (size_t t = 1; t < p->tables.n; t++)
		p->tables.v[t].first_path =
			p->tables.v[t - 1].first_path + p->tables.v[t - 1].nr_paths;
	TRY(vec_reserve(&p->paths, p->cells.n));
	p->paths.n = p->cells.n;
	for (size_t t = 0; t < p->tables.n; t++)
		p->tables.v[t].nr_paths = 0;
	for (uint32_t i = 0; i < p->cells.n; i++) {
		struct profile_table *t = &p->tables.v[rows_table_of_cell(p, i)];

		p->paths.v[t->first_path + t->nr_paths++] = i;
	}
	return 0;
}

int rows_make(struct profile *p)
{
	uint32_t *sorted;
	int r;

	TRY(groups_make_tables(p));
	TRY(rows_of_cells(p));
	TRY(rows_list_paths(p));
	TRY(rows_sum(p));
	sorted = reallocarray(NULL, p->rows.n + 1, sizeof(*sorted));
	if (!sorted)
		return err_nomem();
	for (uint32_t i = 0; i < p->rows.n; i++)
		sorted[i] = i;
	qsort_r(sorted, p->rows.n, sizeof(*sorted), rows_compare, p);
	r = rows_need_tree(p) || field_widths_are_measured(p) ? rows_use_as_seen(p, sorted) : 0;
	for (uint32_t i = 0; i < p->columns.n && i < PROFILE_MAX_LATE_COLUMN; i++) {
		if (column_is_made_late(&p->columns.v[i]))
			rows_note_compared(p, sorted, i);
	}
	if (r >= 0)
		r = rows_fill_tables(p, sorted);
	free(sorted);
	return r;
}
