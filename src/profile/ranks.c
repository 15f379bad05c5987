/* SPDX-License-Identifier: MIT */
#include "profile/ranks.h"

#include "base/err.h"

/*
 * The hash key of a column's number. A place has different keys for a frame and as the sampled
 * place.
 */
static uint64_t ranks_key(const struct profile_column *c, uint64_t raw, bool is_frame)
{
	return c->raw_at < 0 ? 2 * raw + is_frame : raw;
}

static int ranks_value(struct profile *p, struct profile_column *c, uint64_t raw, bool is_frame)
{
	const uint64_t key = ranks_key(c, raw, is_frame);
	struct profile_value v = { 0 };

	if (hash64_find(&c->by_raw, key) != HASH64_EMPTY)
		return 0;
	TRY(c->def->value(p, raw, is_frame, &v));
	TRY(hash64_put(&c->by_raw, key, c->values.n));
	return vec_push(&c->values, v);
}

static int ranks_values(struct profile *p, struct profile_column *c)
{
	if (c->raw_at >= 0) {
		for (uint32_t i = 0; i < p->combinations.n; i++)
			TRY(ranks_value(p, c, wordset_key(&p->combinations, i)[1 + c->raw_at],
					false));
		return 0;
	}
	for (uint32_t i = 0; i < p->cells.n; i++)
		TRY(ranks_value(p, c, cell_place(p, i), false));
	if (!p->opts.children)
		return 0;
	for (uint32_t i = 0; i < p->nodes.n; i++)
		TRY(ranks_value(p, c, node_place(p, i), true));
	return 0;
}

/* ---- ids and ranks --------------------------------------------------------------------------- */

struct sorter {
	const struct profile *p;
	const struct profile_column *c;
	int (*compare)(const struct profile *p, const struct profile_value *a,
		       const struct profile_value *b);
};

static int ranks_compare(const void *a, const void *b, void *ctx)
{
	const struct sorter *s = ctx;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int r = s->compare(s->p, &s->c->values.v[x], &s->c->values.v[y]);

	return r ? r : (x > y) - (x < y);
}

static int ranks_order(const struct profile *p, struct profile_column *c, bool shown)
{
	struct sorter s = { p, c, shown ? c->def->order->show : c->def->order->merge };
	uint32_t *sorted = reallocarray(NULL, c->values.n + 1, sizeof(*sorted)), rank = 0;

	if (!sorted)
		return err_nomem();
	for (uint32_t i = 0; i < c->values.n; i++)
		sorted[i] = i;
	qsort_r(sorted, c->values.n, sizeof(*sorted), ranks_compare, &s);
	for (uint32_t i = 0; i < c->values.n; i++) {
		struct profile_value *v = &c->values.v[sorted[i]];

		if (i && s.compare(p, &c->values.v[sorted[i - 1]], v))
			rank++;
		if (shown)
			v->rank = rank;
		else
			v->id = v->merge_rank = rank;
	}
	free(sorted);
	return 0;
}

/* Fills by_id: for each id the index of the first value that has it. */
static int ranks_ids(struct profile_column *c)
{
	for (uint32_t i = 0; i < c->values.n; i++) {
		const uint32_t id = c->values.v[i].id;

		while (c->by_id.n <= id)
			TRY(vec_push(&c->by_id, UINT32_MAX));
		if (c->by_id.v[id] == UINT32_MAX)
			c->by_id.v[id] = i;
	}
	return 0;
}

int ranks_make(struct profile *p)
{
	vec_foreach(c, &p->columns) {
		TRY(ranks_values(p, c));
		TRY(ranks_order(p, c, false));
		TRY(ranks_order(p, c, true));
		TRY(ranks_ids(c));
	}
	return 0;
}
