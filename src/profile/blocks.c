/* SPDX-License-Identifier: MIT */
#include "profile/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/schema.h"
#include "profile/branches.h"
#include "profile/places.h"

enum { CYCLES_SHIFT = 4 };

int blocks_init(struct profile *p)
{
	if (!p->opts.blocks)
		return 0;
	p->blocks = calloc(1, sizeof(*p->blocks));
	if (!p->blocks)
		return err_nomem();
	wordset_init(&p->blocks->keys, 3);
	p->needs_lines = true;
	return 0;
}

void blocks_done(struct profile *p)
{
	if (!p->blocks)
		return;
	wordset_done(&p->blocks->keys);
	vec_done(&p->blocks->all);
	vec_done(&p->blocks->shown);
	free(p->blocks);
	p->blocks = NULL;
}

/* ---- the pass -------------------------------------------------------------------------------- */

static bool blocks_same_function(const struct profile_place *a, const struct profile_place *b)
{
	return a->sym && b->sym && a->dso == b->dso && a->sym_start == b->sym_start;
}

/* The place where the function of a place begins. */
static int blocks_function(struct profile *p, const struct event *ev, uint32_t place, uint32_t *ret)
{
	const struct profile_place *at = place_at(p, place);

	return places_find_in_modes(p, ev, at->ip - (at->dso_addr - at->sym_start), ret);
}

/* start: the place at which the block begins, or PROFILE_ROOT. */
static int blocks_count(struct profile *p, const struct event *ev, uint32_t start, uint32_t end,
			uint64_t cycles)
{
	const struct profile_place to = *place_at(p, end);
	const uint64_t offset = to.dso_addr - to.sym_start;
	const uint64_t key[3] = { to.dso, to.sym_start, offset };
	struct block *b;
	uint32_t at;
	int r = wordset_put_within(&p->blocks->keys, key, p->opts.max_keys, &at);

	if (r == -ENOSPC)
		return 0;
	if (r < 0)
		return r;
	if (r > 0) {
		struct block new = {
			.dso = to.dso, .end_place = end, .sym_start = to.sym_start, .end = offset
		};

		TRY(blocks_function(p, ev, end, &new.start_place));
		TRY(vec_push(&p->blocks->all, new));
	}
	b = &p->blocks->all.v[at];
	b->count++;
	b->cycles += cycles;
	if (start == PROFILE_ROOT)
		return 0;
	if (b->has_start && place_at(p, start)->dso_addr - to.sym_start >= b->start)
		return 0;
	b->has_start = true;
	b->start = place_at(p, start)->dso_addr - to.sym_start;
	b->start_place = start;
	return 0;
}

/* before: the target of the branch before this one, or PROFILE_ROOT. */
static int blocks_add_branch(struct profile *p, const struct event *ev, uint32_t before,
			     uint32_t source, uint64_t cycles)
{
	const struct profile_place *to = place_at(p, source);
	const struct profile_place *from = before == PROFILE_ROOT ? NULL : place_at(p, before);

	if (!cycles || !to->sym || to->dso_addr < to->sym_start || to->dso_addr >= to->sym_end)
		return 0;
	if (!from || !blocks_same_function(from, to) || from->dso_addr >= to->dso_addr)
		before = PROFILE_ROOT;
	return blocks_count(p, ev, before, source, cycles);
}

int blocks_add(struct profile *p, const struct event *ev, const struct sonde_branch *entries,
	       uint64_t nr)
{
	const bool has_gaps = !(ev->schema->traits & SCHEMA_ALL_BRANCHES);
	uint32_t before = PROFILE_ROOT;

	/* perf takes a stack without cycles in its newest entry for one without any. */
	if (!nr || !(entries[0].flags >> CYCLES_SHIFT & UINT16_MAX))
		return 0;
	for (uint64_t i = nr; i--;) {
		const uint64_t cycles = entries[i].flags >> CYCLES_SHIFT & UINT16_MAX;
		uint32_t source;

		TRY(places_find_in_modes(p, ev, entries[i].from, &source));
		TRY(blocks_add_branch(p, ev, has_gaps ? PROFILE_ROOT : before, source, cycles));
		TRY(places_find_in_modes(p, ev, entries[i].to, &before));
		p->blocks->cycles += cycles;
	}
	return 0;
}

/* ---- the result ------------------------------------------------------------------------------ */

static const char *blocks_name(const struct profile *p, const struct block *b)
{
	return place_at(p, b->end_place)->sym;
}

/* perf's order of blocks before it sorts them by their share. */
static int blocks_compare_places(const void *a, const void *b, void *ctx)
{
	const struct profile *p = ctx;
	const struct block *x = &p->blocks->all.v[*(const uint32_t *)a],
			   *y = &p->blocks->all.v[*(const uint32_t *)b];
	const int names = strcmp(blocks_name(p, y), blocks_name(p, x));

	if (names)
		return names;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return 0;
}

static int blocks_compare(const void *a, const void *b, void *ctx)
{
	const struct profile *p = ctx;
	const uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	const struct block *x = &p->blocks->all.v[i], *y = &p->blocks->all.v[j];
	int places;

	if (x->share != y->share)
		return x->share > y->share ? -1 : 1;
	places = blocks_compare_places(a, b, ctx);
	return places ? places : (i > j) - (i < j);
}

/* A block is shown if a row of the table is about its function. */
static int blocks_choose(struct profile *p, uint32_t table)
{
	const struct profile_table *t = &p->tables.v[table];
	struct wordset functions;
	int r = 0;

	wordset_init(&functions, 2);
	for (uint32_t i = 0; i < t->nr_rows && r >= 0; i++) {
		const uint32_t place = p->rows.v[t->order[i]].place;
		uint32_t at;

		if (place && place_at(p, place - 1)->sym)
			r = wordset_put(&functions,
					(const uint64_t[2]){ place_at(p, place - 1)->dso,
							     place_at(p, place - 1)->sym_start },
					&at);
	}
	for (uint32_t i = 0; i < p->blocks->all.n && r >= 0; i++) {
		const struct block *b = &p->blocks->all.v[i];
		uint32_t at;

		if (!wordset_find(&functions, (const uint64_t[2]){ b->dso, b->sym_start }, &at))
			r = vec_push(&p->blocks->shown, i);
	}
	wordset_done(&functions);
	return r < 0 ? r : 0;
}

static int blocks_show(struct profile *p, uint32_t table)
{
	struct blocks *bs = p->blocks;

	vec_clear(&bs->shown);
	TRY(blocks_choose(p, table));
	vec_foreach(b, &bs->all)
		b->share = (uint64_t)((double)b->cycles / (double)bs->cycles * 100000.0);
	if (bs->shown.n)
		qsort_r(bs->shown.v, bs->shown.n, sizeof(*bs->shown.v), blocks_compare, p);
	bs->shown_table = table + 1;
	return 0;
}

const struct block *blocks_at(struct profile *p, uint32_t table, uint64_t i, int *ret_error)
{
	*ret_error = 0;
	if (!p->blocks || table >= p->tables.n)
		return NULL;
	if (p->blocks->shown_table != table + 1)
		*ret_error = blocks_show(p, table);
	if (*ret_error < 0 || i >= p->blocks->shown.n)
		return NULL;
	return &p->blocks->all.v[p->blocks->shown.v[i]];
}
