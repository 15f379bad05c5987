/* SPDX-License-Identifier: MIT */
#include "profile/ranks.h"

#include <stdlib.h>
#include <string.h>

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

/* The values of places, in the order in which they were first sampled or in a chain. */
static int ranks_places(struct profile *p, struct profile_column *c, uint8_t *seen)
{
	const struct pathset *paths = &p->call_paths;

	for (uint32_t i = 0; i < p->cells.n; i++) {
		const uint32_t place = cell_place(p, i);

		if (place != PROFILE_ROOT && seen[place])
			continue;
		TRY(ranks_value(p, c, place, false));
		if (place != PROFILE_ROOT)
			seen[place] = 1;
	}
	memset(seen, 0, p->place_list.n);
	for (uint32_t i = 0; p->opts.children && i < paths->begins.n; i++) {
		const uint32_t begin = pathset_begin(paths, i), end = pathset_end(paths, i);

		for (uint32_t k = 0; k < end - begin; k++) {
			const bool from_caller = p->opts.callgraph == CALLGRAPH_CALLER;
			const uint32_t at = from_caller ? begin + k : end - 1 - k;
			const uint32_t place = paths->frames.v[at] - 1;

			if (!seen[place])
				TRY(ranks_value(p, c, place, true));
			seen[place] = 1;
		}
	}
	return 0;
}

static int ranks_values(struct profile *p, struct profile_column *c)
{
	uint8_t *seen;
	int r;

	if (c->raw_at >= 0) {
		for (uint32_t i = 0; i < p->combinations.n; i++)
			TRY(ranks_value(p, c, wordset_key(&p->combinations, i)[1 + c->raw_at],
					false));
		return 0;
	}
	seen = calloc(p->place_list.n + 1, 1);
	if (!seen)
		return err_nomem();
	r = ranks_places(p, c, seen);
	free(seen);
	return r;
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
