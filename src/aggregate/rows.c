/* SPDX-License-Identifier: MIT */
/*
 * The rows of an aggregation: sorted, at most as many as the limit, with their keys as numbers and
 * texts. The store does not change here, except that keys whose call chains have the same text
 * become one.
 */
#include <stdlib.h>
#include <string.h>

#include "aggregate/types.h"
#include "base/err.h"
#include "recording/recording.h"

/* ---- keys ------------------------------------------------------------------------------------ */

static const char *rows_key_text(const struct aggregate *a, const struct aggregate_key *k,
				 uint64_t word)
{
	const struct sonde_schema *sc;

	switch (k->kind) {
	case KEY_NAME:
		sc = schema_at(&a->all->schemas, (uint32_t)word);
		return sc ? sc->name : "";
	case KEY_COMM:
		return strpool_text(&a->all->strings, (uint32_t)word);
	case KEY_KSTACK:
	case KEY_USTACK:
	case KEY_STACK:
		return a->store.stacks.all.v[word].text;
	case KEY_CGROUP:
		return strpool_text(&a->store.texts, (uint32_t)word);
	case KEY_FIELD:
		return k->is_text ? strpool_text(&a->store.texts, (uint32_t)word) : NULL;
	default:
		return NULL;
	}
}

static bool rows_is_stack(const struct aggregate_key *k)
{
	return k->kind >= KEY_KSTACK && k->kind <= KEY_STACK;
}

static struct sonde_aggregate_value rows_value(const struct aggregate *a,
					       const struct aggregate_key *k, uint64_t word)
{
	struct sonde_aggregate_value v = { .kind = SONDE_AGGREGATE_NUMBER, .number = word };

	if (word == AGGREGATE_NONE && k->kind != KEY_FIELD) {
		v = (struct sonde_aggregate_value){ .kind = SONDE_AGGREGATE_NONE };
		return v;
	}
	v.text = rows_key_text(a, k, word);
	if (v.text) {
		v.kind = rows_is_stack(k) ? SONDE_AGGREGATE_STACK : SONDE_AGGREGATE_TEXT;
		v.number = 0;
	} else if (k->kind == KEY_FIELD && k->is_pointer) {
		v.kind = SONDE_AGGREGATE_ADDRESS;
	} else if (k->kind == KEY_FIELD && k->is_unsigned) {
		v.kind = SONDE_AGGREGATE_UNSIGNED;
	}
	return v;
}

static int rows_compare_values(const struct sonde_aggregate_value *x,
			       const struct sonde_aggregate_value *y)
{
	if (x->kind == SONDE_AGGREGATE_NONE || y->kind == SONDE_AGGREGATE_NONE)
		return (y->kind == SONDE_AGGREGATE_NONE) - (x->kind == SONDE_AGGREGATE_NONE);
	if (x->text && y->text)
		return strcmp(x->text, y->text);
	if (x->number == y->number)
		return 0;
	if (x->kind == SONDE_AGGREGATE_NUMBER)
		return (int64_t)x->number < (int64_t)y->number ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

/* ---- order ----------------------------------------------------------------------------------- */

static int rows_compare(const void *x, const void *y, void *ctx)
{
	const struct aggregate *a = ctx;
	const uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	const uint64_t *xs, *ys;
	int order = store_compare_sizes(a, &a->store.sums.v[i], &a->store.sums.v[j]);

	if (order)
		return order;
	xs = wordset_key(&a->store.keys, i);
	ys = wordset_key(&a->store.keys, j);
	for (unsigned k = 0; k < a->nr_keys && !order; k++) {
		const struct sonde_aggregate_value vx = rows_value(a, &a->keys[k], xs[k]),
						   vy = rows_value(a, &a->keys[k], ys[k]);

		order = xs[k] == ys[k] ? 0 : rows_compare_values(&vx, &vy);
	}
	return order ? order : i < j ? -1 : i > j;
}

/* Merges the rows behind the limit, for the answers only. */
static int rows_cut(struct aggregate *a)
{
	a->other = a->store.other;
	a->merged_shown = a->merged;
	for (size_t i = a->limit; i < a->order.n; i++)
		store_merge_sum(&a->other, &a->store.sums.v[a->order.v[i]]);
	if (a->order.n > a->limit) {
		a->merged_shown += a->order.n - a->limit;
		a->order.n = a->limit;
	}
	return a->other.count ? vec_push(&a->order, AGGREGATE_OTHER) : 0;
}

/* ---- buckets --------------------------------------------------------------------------------- */

static int rows_compare_cells(const void *x, const void *y)
{
	const struct aggregate_cell *a = x, *b = y;

	if (a->place != b->place)
		return a->place < b->place ? -1 : 1;
	return a->bucket < b->bucket ? -1 : a->bucket > b->bucket;
}

/* Cells of merged rows may have the same bucket. */
static void rows_join_cells(struct aggregate *a)
{
	size_t n = 0;

	vec_foreach(c, &a->shown_cells) {
		struct aggregate_cell *last = n ? &a->shown_cells.v[n - 1] : NULL;

		if (last && !rows_compare_cells(last, c))
			last->count += c->count;
		else
			a->shown_cells.v[n++] = *c;
	}
	a->shown_cells.n = n;
}

static int rows_find_cells(struct aggregate *a, const uint32_t *place_of)
{
	const struct hash64 *cells = &a->store.cells;
	const uint32_t other = (uint32_t)(a->order.n - 1);
	size_t at = 0;

	vec_clear(&a->shown_cells);
	TRY(vec_reserve(&a->shown_cells, cells->n + 1));
	for (size_t i = 0; cells->slots && i <= cells->mask; i++) {
		const struct hash64_slot *s = &cells->slots[i];
		const uint32_t row = (uint32_t)(s->key >> 32);

		if (s->value == HASH64_EMPTY)
			continue;
		a->shown_cells.v[a->shown_cells.n++] = (struct aggregate_cell){
			.place = row == AGGREGATE_OTHER ? other : place_of[row],
			.bucket = (int32_t)(uint32_t)s->key,
			.count = s->value,
		};
	}
	qsort(a->shown_cells.v, a->shown_cells.n, sizeof(*a->shown_cells.v), rows_compare_cells);
	rows_join_cells(a);
	vec_clear(&a->first_cells);
	TRY(vec_reserve(&a->first_cells, a->order.n + 1));
	for (uint32_t i = 0; i <= a->order.n; i++) {
		while (at < a->shown_cells.n && a->shown_cells.v[at].place < i)
			at++;
		a->first_cells.v[a->first_cells.n++] = (uint32_t)at;
	}
	return 0;
}

static int rows_sort_cells(struct aggregate *a)
{
	const size_t rows = a->store.keys.n;
	uint32_t *place_of;
	int r;

	if (!aggregate_has_cells(a))
		return 0;
	place_of = malloc((rows + 1) * sizeof(*place_of));
	if (!place_of)
		return err_nomem();
	/* The last row adds up those beyond the limit. */
	for (size_t i = 0; i < rows; i++)
		place_of[i] = (uint32_t)(a->order.n - 1);
	for (size_t i = 0; i < a->order.n; i++) {
		if (a->order.v[i] != AGGREGATE_OTHER)
			place_of[a->order.v[i]] = (uint32_t)i;
	}
	r = rows_find_cells(a, place_of);
	free(place_of);
	return r;
}

int aggregate_sort(struct aggregate *a)
{
	if (a->is_sorted)
		return (int)a->order.n;
	TRY(store_join_stacks(a));
	vec_clear(&a->order);
	TRY(vec_reserve(&a->order, a->store.keys.n + 1));
	for (uint32_t i = 0; i < a->store.keys.n; i++)
		a->order.v[a->order.n++] = i;
	qsort_r(a->order.v, a->order.n, sizeof(*a->order.v), rows_compare, a);
	TRY(rows_cut(a));
	TRY(rows_sort_cells(a));
	a->is_sorted = true;
	return (int)a->order.n;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Rounded to the nearest integer; that of the exact sum, also if it left its range. */
static int64_t rows_mean(const struct aggregate_sum *s)
{
	const int64_t n = s->count > INT64_MAX ? INT64_MAX : (int64_t)s->count;
	const __int128 sum = (__int128)s->carry * 2 * ((__int128)1 << 63) + s->sum;
	int64_t mean = (int64_t)(sum / n), rest = (int64_t)(sum % n);

	if (rest < 0) {
		rest += n;
		mean--;
	}
	return mean + (rest >= n - n / 2);
}

/* The smallest value that at least so many percent of all values do not exceed. */
static int64_t rows_percentile(const struct aggregate *a, size_t i, const struct aggregate_sum *s,
			       unsigned percent)
{
	uint64_t before = 0, rank = s->count / 100 * percent;

	rank += (s->count % 100 * percent + 99) / 100;
	for (uint32_t k = a->first_cells.v[i]; k < a->first_cells.v[i + 1]; k++) {
		const struct aggregate_cell *c = &a->shown_cells.v[k];
		int64_t low, high, middle;

		before += c->count;
		if (before < rank)
			continue;
		bucket_range(a, c->bucket, &low, &high);
		middle = low + (high - low) / 2;
		return middle < s->min ? s->min : middle > s->max ? s->max : middle;
	}
	return s->max;
}

/* Without empty buckets at the ends. */
static int rows_buckets(struct aggregate *a, size_t i)
{
	const uint32_t begin = a->first_cells.v[i], end = a->first_cells.v[i + 1];

	vec_clear(&a->buckets);
	if (begin == end)
		return 0;
	for (int32_t b = a->shown_cells.v[begin].bucket, k = (int32_t)begin;
	     b <= a->shown_cells.v[end - 1].bucket; b++) {
		struct sonde_aggregate_bucket bucket = { 0 };

		bucket_range(a, b, &bucket.low, &bucket.high);
		if (a->shown_cells.v[k].bucket == b)
			bucket.count = a->shown_cells.v[k++].count;
		TRY(vec_push(&a->buckets, bucket));
	}
	return 0;
}

static void rows_keys(struct aggregate *a, uint32_t row)
{
	const uint64_t *words = wordset_key(&a->store.keys, row);

	for (unsigned k = 0; k < a->nr_keys; k++)
		a->values[k] = rows_value(a, &a->keys[k], words[k]);
}

int aggregate_row_at(struct aggregate *a, size_t i, struct sonde_aggregate_row *ret)
{
	const struct aggregate_sum *s;
	bool is_other;

	if (!a->is_sorted || i >= a->order.n)
		return 0;
	is_other = a->order.v[i] == AGGREGATE_OTHER;
	s = is_other ? &a->other : &a->store.sums.v[a->order.v[i]];
	*ret = (struct sonde_aggregate_row){
		.size = sizeof(*ret),
		.flags = (is_other ? SONDE_AGGREGATE_OTHER : 0) |
			 (s->carry ? SONDE_AGGREGATE_SATURATED : 0),
		.count = s->count,
		.sum = aggregate_shown_sum(s),
		.min = s->min,
		.max = s->max,
		.mean = a->field ? rows_mean(s) : 0,
		.keys = a->values,
		.nr_keys = is_other ? 0 : a->nr_keys,
	};
	if (!is_other)
		rows_keys(a, a->order.v[i]);
	if (a->kind == AGGREGATE_STATS) {
		ret->p50 = rows_percentile(a, i, s, 50);
		ret->p90 = rows_percentile(a, i, s, 90);
		ret->p95 = rows_percentile(a, i, s, 95);
		ret->p99 = rows_percentile(a, i, s, 99);
	} else if (aggregate_has_cells(a)) {
		TRY(rows_buckets(a, i));
		ret->buckets = a->buckets.v;
		ret->nr_buckets = (uint32_t)a->buckets.n;
	}
	return 1;
}
