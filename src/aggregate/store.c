/* SPDX-License-Identifier: MIT */
/*
 * What was added to an aggregation: rows by keys. Memory is bounded: the store has `limit` keys and
 * some slack. When the slack is used up, the smallest keys are merged into one row.
 */
#include <string.h>

#include "aggregate/types.h"
#include "base/err.h"
#include "base/saturate.h"

int store_init(struct aggregate_store *s, unsigned nr_keys)
{
	*s = (struct aggregate_store){ 0 };
	/* Without keys all events have the key 0. */
	wordset_init(&s->keys, nr_keys ? nr_keys : 1);
	return strpool_init(&s->texts);
}

void store_done(struct aggregate_store *s)
{
	wordset_done(&s->keys);
	vec_done(&s->sums);
	hash64_done(&s->cells);
	strpool_done(&s->texts);
	stacks_done(&s->stacks);
}

int store_add_cell(struct aggregate_store *s, uint32_t row, int32_t bucket, uint64_t count)
{
	const uint64_t key = (uint64_t)row << 32 | (uint32_t)bucket;
	const uint64_t known = hash64_find(&s->cells, key);

	return hash64_put(&s->cells, key, known == HASH64_EMPTY ? count : known + count);
}

bool store_merge_sum(struct aggregate_sum *to, const struct aggregate_sum *from)
{
	bool has_left;

	if (!from->count)
		return false;
	if (!to->count) {
		*to = *from;
		return false;
	}
	to->count += from->count;
	to->min = from->min < to->min ? from->min : to->min;
	to->max = from->max > to->max ? from->max : to->max;
	if (__builtin_add_overflow(to->sum, from->sum, &to->sum))
		to->carry += from->sum < 0 ? -1 : 1;
	to->carry += from->carry;
	has_left = to->has_left || from->has_left;
	to->has_left = has_left || to->carry;
	return to->has_left && !has_left;
}

int store_compare_sizes(const struct aggregate *a, const struct aggregate_sum *x,
			const struct aggregate_sum *y)
{
	const int64_t left = aggregate_shown_sum(x), right = aggregate_shown_sum(y);

	if (a->kind == AGGREGATE_SUM && left != right)
		return left > right ? -1 : 1;
	return x->count == y->count ? 0 : x->count > y->count ? -1 : 1;
}

/* ---- a new store of some of the rows --------------------------------------------------------- */

/* The word of a key in the new store. */
static int store_move_word(struct aggregate_store *to, struct aggregate_store *from,
			   const struct aggregate_key *k, uint64_t word, uint64_t *ret)
{
	const bool is_stack = k->kind >= KEY_KSTACK && k->kind <= KEY_STACK;
	const bool is_text = k->kind == KEY_FIELD ? k->is_text : k->kind == KEY_CGROUP;
	const struct strpool_entry *text;
	uint32_t id;

	*ret = word;
	if ((!is_stack && !is_text) || (word == AGGREGATE_NONE && k->kind != KEY_FIELD))
		return 0;
	if (is_stack) {
		const struct aggregate_stack *stack = &from->stacks.all.v[word];

		return stacks_move(&to->stacks, &from->stacks,
				   stack->text ? stack->same : (uint32_t)word, ret);
	}
	text = &from->texts.entries.v[word];
	TRY(strpool_intern(&to->texts, text->text, text->len, &id));
	*ret = id;
	return 0;
}

static int store_move_row(struct aggregate *a, struct aggregate_store *to, uint32_t row,
			  uint32_t *ret)
{
	struct aggregate_store *from = &a->store;
	uint64_t words[AGGREGATE_MAX_KEYS] = { 0 };

	for (unsigned i = 0; i < a->nr_keys; i++)
		TRY(store_move_word(to, from, &a->keys[i], wordset_key(&from->keys, row)[i],
				    &words[i]));
	TRY(vec_reserve(&to->sums, 1));
	TRY(wordset_put(&to->keys, words, ret));
	if (*ret == to->sums.n)
		to->sums.v[to->sums.n++] = (struct aggregate_sum){ 0 };
	a->saturated += store_merge_sum(&to->sums.v[*ret], &from->sums.v[row]);
	return 0;
}

/* row_of: by row, the row in the new store. */
static int store_move_cells(const struct aggregate_store *from, struct aggregate_store *to,
			    const uint32_t *row_of)
{
	for (size_t i = 0; from->cells.slots && i <= from->cells.mask; i++) {
		const struct hash64_slot *s = &from->cells.slots[i];
		const uint32_t row = (uint32_t)(s->key >> 32);

		if (s->value == HASH64_EMPTY)
			continue;
		TRY(store_add_cell(to, row == AGGREGATE_OTHER ? row : row_of[row],
				   (int32_t)(uint32_t)s->key, s->value));
	}
	return 0;
}

/* row_of: 0 for rows to be kept, AGGREGATE_OTHER for rows to be merged; becomes their new rows. */
static int store_fill(struct aggregate *a, struct aggregate_store *to, uint32_t *row_of)
{
	to->other = a->store.other;
	for (uint32_t i = 0; i < a->store.keys.n; i++) {
		if (row_of[i] == AGGREGATE_OTHER)
			a->saturated += store_merge_sum(&to->other, &a->store.sums.v[i]);
		else
			TRY(store_move_row(a, to, i, &row_of[i]));
	}
	return store_move_cells(&a->store, to, row_of);
}

static int store_replace(struct aggregate *a, uint32_t *row_of)
{
	struct aggregate_store fresh;
	int r;

	TRY(store_init(&fresh, a->nr_keys));
	r = store_fill(a, &fresh, row_of);
	if (r < 0) {
		store_done(&fresh);
		return r;
	}
	store_done(&a->store);
	a->store = fresh;
	a->last_row = AGGREGATE_OTHER;
	/* Their numbers were those of texts of the old store. */
	vec_foreach(h, &a->cgroups)
		hash64_done(h);
	vec_clear(&a->cgroups);
	return 0;
}

int store_join_stacks(struct aggregate *a)
{
	const int has_same = stacks_resolve(&a->store.stacks);
	uint32_t *row_of;
	int r;

	if (has_same <= 0)
		return has_same;
	row_of = calloc(a->store.keys.n + 1, sizeof(*row_of));
	if (!row_of)
		return err_nomem();
	r = store_replace(a, row_of);
	free(row_of);
	/* The new set has each text once. */
	return r < 0 ? r : stacks_resolve(&a->store.stacks);
}

/* ---- the limit ------------------------------------------------------------------------------- */

static int store_compare_rows(const void *x, const void *y, void *ctx)
{
	const struct aggregate *a = ctx;
	const uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const int order = store_compare_sizes(a, &a->store.sums.v[i], &a->store.sums.v[k]);

	return order ? order : i < k ? -1 : i > k;
}

/* Keeps the largest rows. */
static int store_keep(struct aggregate *a, size_t keep)
{
	const size_t n = a->store.keys.n;
	uint32_t *rows = calloc(n + 1, 2 * sizeof(*rows)), *row_of;
	int r;

	if (!rows)
		return err_nomem();
	row_of = rows + n;
	for (size_t i = 0; i < n; i++)
		rows[i] = (uint32_t)i;
	qsort_r(rows, n, sizeof(*rows), store_compare_rows, a);
	for (size_t i = keep; i < n; i++)
		row_of[rows[i]] = AGGREGATE_OTHER;
	r = store_replace(a, row_of);
	free(rows);
	if (r >= 0)
		a->merged += n - keep;
	return r;
}

static size_t store_max_cells(const struct aggregate *a)
{
	const size_t max = (size_t)a->limit * AGGREGATE_CELLS_PER_KEY;

	return max < AGGREGATE_MIN_CELLS ? AGGREGATE_MIN_CELLS : max;
}

int store_shrink(struct aggregate *a)
{
	const size_t slack = a->limit > AGGREGATE_SLACK ? a->limit : AGGREGATE_SLACK;

	if (a->store.keys.n >= a->limit + slack) {
		/* Chains with the same text are one key. */
		TRY(store_join_stacks(a));
		if (a->store.keys.n > a->limit)
			TRY(store_keep(a, a->limit));
	}
	while (a->store.cells.n > store_max_cells(a) && a->store.keys.n > 1)
		TRY(store_keep(a, a->store.keys.n / 2));
	return 0;
}
