/* SPDX-License-Identifier: MIT */
#include "profile/branches.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "compat/rules.h"
#include "profile/places.h"
#include "profile/texts.h"
#include "profile/values.h"
#include "recording/recording.h"

/* Bits of an entry's flags. */
enum { FLAG_MISPREDICTED = 1, FLAG_PREDICTED = 2, FLAG_IN_TX = 4, FLAG_ABORT = 8 };
enum { CYCLES_SHIFT = 4, CYCLES_MASK = 0xffff };

int branches_find(struct profile *p, const struct event *ev, const struct sonde_branch *branch,
		  uint32_t *ret)
{
	struct profile_branch *b = &p->branch;

	TRY(places_find_in_modes(p, ev, branch->from, &b->from));
	TRY(places_find_in_modes(p, ev, branch->to, &b->to));
	if (p->opts.hide_unresolved && !(place_at(p, b->from)->sym && place_at(p, b->to)->sym))
		return 0;
	b->prediction = branch->flags & (FLAG_MISPREDICTED | FLAG_PREDICTED);
	b->in_tx = (branch->flags & FLAG_IN_TX) != 0;
	b->aborts = (branch->flags & FLAG_ABORT) != 0;
	b->cycles = branch->flags >> CYCLES_SHIFT & CYCLES_MASK;
	if (ev->recording->opts->rules->cycles_are_short)
		b->cycles = (uint64_t)(int16_t)b->cycles; /* the order stays the same */
	TRY(places_with_mode(p, b->to, ev->pub.cpumode, ret));
	return 1;
}

/* ---- types ----------------------------------------------------------------------------------- */

int branches_count(struct profile *p, const struct event *ev, const struct sonde_branch *branch,
		   uint32_t cell)
{
	if (!ev->recording->opts->rules->rows_have_one_branch_type) {
		branch_types_count(&p->branch_types, branch->from, branch->to, branch->flags, 1);
		return 0;
	}
	return cell < p->first_branches.n ? 0 : vec_push(&p->first_branches, *branch);
}

void branches_count_rows(struct profile *p)
{
	for (uint32_t i = 0; i < p->first_branches.n; i++) {
		const struct profile_row *row = &p->rows.v[p->cell_rows.v[i]];
		const struct sonde_branch *b = &p->first_branches.v[i];

		if (row->self.first == p->counts.v[i].first)
			branch_types_count(&p->branch_types, b->from, b->to, b->flags,
					   row->self.samples);
	}
}

/* ---- values ---------------------------------------------------------------------------------- */

int value_mispredict(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)p, (void)is_frame;
	ret->number = raw;
	ret->text = raw & FLAG_PREDICTED ? "N" : raw & FLAG_MISPREDICTED ? "Y" : "N/A";
	if (!raw)
		ret->kind = SONDE_VALUE_NONE;
	return 0;
}

/* Also of the key `abort`. */
int value_in_tx(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	(void)p, (void)is_frame;
	ret->number = raw;
	ret->text = raw == 2 ? "A" : raw ? "T" : ".";
	return 0;
}

int value_cycles(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	char text[24] = "-";

	(void)is_frame;
	ret->number = raw;
	ret->kind = raw ? SONDE_VALUE_NUMBER : SONDE_VALUE_NONE;
	if (raw)
		snprintf(text, sizeof(text), "%" PRId64, (int64_t)raw);
	ret->text = texts_intern(p, text);
	return ret->text ? 0 : -ENOMEM;
}

/* Instructions are not counted; perf then has zeros. */
int value_branch_ipc(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	TRY(value_sym(p, raw, is_frame, ret));
	ret->kind = SONDE_VALUE_NONE;
	ret->text = place_at(p, (uint32_t)raw)->sym && p->ipc_is_zero ? "0.00  [  0.0%]" : "-";
	return 0;
}

static int branches_address(struct profile *p, const struct profile_place *place,
			    struct profile_value *ret)
{
	char text[32];

	ret->kind = SONDE_VALUE_ADDRESS;
	ret->unknown = place->unknown;
	ret->number = place->dso_addr;
	snprintf(text, sizeof(text), ret->number ? "0x%016" PRIx64 : "%016" PRIx64, ret->number);
	ret->text = texts_intern(p, text);
	return ret->text ? 0 : -ENOMEM;
}

int value_branch_sym(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);

	(void)is_frame;
	ret->place = (uint32_t)raw + 1;
	if (!place->sym)
		return branches_address(p, place, ret);
	ret->text = ret->long_text = place->sym;
	ret->number = place->sym_start;
	return 0;
}

/* A function is shown with the distance from its start. */
int value_branch_addr(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret)
{
	const struct profile_place *place = place_at(p, (uint32_t)raw);
	char text[4096];

	(void)is_frame;
	ret->place = (uint32_t)raw + 1;
	if (!place->sym)
		return branches_address(p, place, ret);
	ret->kind = SONDE_VALUE_ADDRESS;
	ret->number = place->dso_addr;
	if (place->sym_off)
		snprintf(text, sizeof(text), "%s+0x%" PRIx64, place->sym, place->sym_off);
	else
		snprintf(text, sizeof(text), "%s", place->sym);
	ret->text = texts_intern(p, text);
	return ret->text ? 0 : -ENOMEM;
}

/* ---- orders ---------------------------------------------------------------------------------- */

static int branches_by_addr(const struct profile *p, const struct profile_value *a,
			    const struct profile_value *b)
{
	const struct profile_place *f = place_at(p, a->place - 1), *g = place_at(p, b->place - 1);
	const int64_t x = (int64_t)(p->merged && f->dso ? f->dso_addr : f->ip);
	const int64_t y = (int64_t)(p->merged && g->dso ? g->dso_addr : g->ip);

	if (p->merged && f->dso != g->dso)
		return f->dso < g->dso ? -1 : 1;
	return (x > y) - (x < y);
}

/* perf's order of dso, the other way round. */
static int branches_by_dso(const struct profile *p, const struct profile_value *a,
			   const struct profile_value *b)
{
	return order_dso.show(p, b, a);
}

/* Addresses of a file are neighbours. */
static int branches_by_dso_addr(const struct profile *p, const struct profile_value *a,
				const struct profile_value *b)
{
	const int r = branches_by_dso(p, a, b);

	return r ? r : branches_by_addr(p, a, b);
}

/* The dso does not matter. Places without a function are last, each a row of its own. */
static int branches_by_sym(const struct profile *p, const struct profile_value *a,
			   const struct profile_value *b)
{
	const struct profile_place *x = place_at(p, a->place - 1), *y = place_at(p, b->place - 1);

	if (!x->sym && !y->sym)
		return branches_by_addr(p, a, b);
	if (!x->sym || !y->sym)
		return (x->sym == NULL) - (y->sym == NULL);
	if (p->merged) /* functions have addresses of several builds */
		return strcmp(x->sym, y->sym);
	if (x->sym_start != y->sym_start)
		return (int64_t)x->sym_start < (int64_t)y->sym_start ? -1 : 1;
	return ((int64_t)x->sym_end > (int64_t)y->sym_end) -
	       ((int64_t)x->sym_end < (int64_t)y->sym_end);
}

/* For perf two values are equal or not; it puts the later one behind when it merges rows ... */
static int branches_by_first(const struct profile *p, const struct profile_value *a,
			     const struct profile_value *b)
{
	(void)p;
	return a->number == b->number ? 0 : (a > b) - (a < b);
}

/* ... and before the other when it sorts them. */
static int branches_by_last(const struct profile *p, const struct profile_value *a,
			    const struct profile_value *b)
{
	return branches_by_first(p, b, a);
}

static int branches_by_cycles(const struct profile *p, const struct profile_value *a,
			      const struct profile_value *b)
{
	(void)p;
	return (a->number < b->number) - (a->number > b->number);
}

const struct value_order order_branch_dso = { branches_by_dso, branches_by_dso };
const struct value_order order_branch_sym = { branches_by_sym, branches_by_sym };
const struct value_order order_branch_addr = { branches_by_dso_addr, branches_by_dso_addr };
const struct value_order order_branch_flag = { branches_by_first, branches_by_last };
const struct value_order order_cycles = { branches_by_cycles, branches_by_cycles };
