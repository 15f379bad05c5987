/* SPDX-License-Identifier: MIT */
#include "profile/counts.h"

#include <string.h>

#include "base/err.h"

void counts_sum_signed(struct profile *p, uint64_t *to, uint64_t more)
{
	int64_t sum;

	if (__builtin_add_overflow((int64_t)*to, (int64_t)more, &sum)) {
		sum = (int64_t)more < 0 ? INT64_MIN : INT64_MAX;
		p->facts.flags |= SONDE_PROFILE_SATURATED;
	}
	*to = (uint64_t)sum;
}

static uint64_t counts_signed(struct profile *p, uint64_t v, bool was_signed, bool negate)
{
	if (!was_signed && v > INT64_MAX) {
		v = INT64_MAX;
		p->facts.flags |= SONDE_PROFILE_SATURATED;
	}
	if (!negate)
		return v;
	if ((int64_t)v != INT64_MIN)
		return -v;
	p->facts.flags |= SONDE_PROFILE_SATURATED;
	return INT64_MAX;
}

void counts_make_signed(struct profile *p, struct profile_counts *c, bool negate)
{
	c->samples = counts_signed(p, c->samples, c->is_signed, negate);
	for (int i = 0; i < PROFILE_WEIGHTS; i++)
		c->weights[i] = counts_signed(p, c->weights[i], c->is_signed, negate);
	for (int i = 0; i < PROFILE_MODES; i++)
		c->period[i] = counts_signed(p, c->period[i], c->is_signed, negate);
	c->is_signed = true;
}

void counts_begin_difference(struct profile *p)
{
	if (p->facts.flags & SONDE_PROFILE_DIFFERENCE)
		return;
	p->facts.flags |= SONDE_PROFILE_DIFFERENCE;
	for (uint32_t i = 0; i < p->counts.n; i++) {
		struct profile_counts c = counts_of_cell(p, i);

		counts_make_signed(p, &c, false);
		counts_put_cell(p, i, &c);
	}
	p->facts.samples = counts_signed(p, p->facts.samples, false, false);
}

/* Adds everything but the sums: the facts of the first sample, and times. */
static void counts_add_facts(struct profile_counts *to, const struct cell_counts *more)
{
	const bool is_first = !counts_any(to);

	if (is_first || more->first < to->first) {
		to->first = more->first;
		to->task = more->task;
		to->is_filtered = more->is_filtered;
	}
	if (is_first || more->first_ns < to->first_ns)
		to->first_ns = more->first_ns;
	if (is_first || to->last_ns == SONDE_NO_TIME ||
	    (more->last_ns != SONDE_NO_TIME && more->last_ns > to->last_ns))
		to->last_ns = more->last_ns;
	to->is_signed = more->is_signed;
}

static struct cell_counts counts_facts(const struct profile_counts *c)
{
	return (struct cell_counts){
		.samples = c->samples,
		.first_ns = c->first_ns,
		.last_ns = c->last_ns,
		.task = c->task,
		.first = c->first,
		.is_filtered = c->is_filtered,
		.is_signed = c->is_signed,
	};
}

void counts_add(struct profile *p, struct profile_counts *to, const struct profile_counts *more)
{
	const struct cell_counts facts = counts_facts(more);

	if (!counts_any(more))
		return;
	counts_add_facts(to, &facts);
	counts_sum_as(p, more->is_signed, &to->samples, more->samples);
	for (int i = 0; i < PROFILE_WEIGHTS; i++)
		counts_sum_as(p, more->is_signed, &to->weights[i], more->weights[i]);
	for (int i = 0; i < PROFILE_MODES; i++)
		counts_sum_as(p, more->is_signed, &to->period[i], more->period[i]);
}

/* ---- cells ----------------------------------------------------------------------------------- */

static uint64_t *counts_weights(struct profile *p, uint32_t cell)
{
	return p->cell_weights.n ? &p->cell_weights.v[(size_t)cell * PROFILE_WEIGHTS] : NULL;
}

int counts_new_cell(struct profile *p, const struct cell_counts *c)
{
	if (p->weights) {
		TRY(vec_reserve(&p->cell_weights, PROFILE_WEIGHTS));
		memset(p->cell_weights.v + p->cell_weights.n, 0,
		       PROFILE_WEIGHTS * sizeof(*p->cell_weights.v));
		p->cell_weights.n += PROFILE_WEIGHTS;
	}
	return vec_push(&p->counts, *c);
}

void counts_add_cell(struct profile *p, struct profile_counts *to, uint32_t cell)
{
	const struct cell_counts *c = &p->counts.v[cell];
	const uint64_t *weights = counts_weights(p, cell);

	if (!c->samples && !c->is_signed)
		return;
	counts_add_facts(to, c);
	counts_sum_as(p, c->is_signed, &to->samples, c->samples);
	counts_sum_as(p, c->is_signed, &to->period[cell_mode(p, cell)], c->period);
	for (int i = 0; weights && i < PROFILE_WEIGHTS; i++)
		counts_sum_as(p, c->is_signed, &to->weights[i], weights[i]);
}

struct profile_counts counts_of_cell(const struct profile *p, uint32_t cell)
{
	const struct cell_counts *c = &p->counts.v[cell];
	struct profile_counts all = {
		.samples = c->samples,
		.first_ns = c->first_ns,
		.last_ns = c->last_ns,
		.first = c->first,
		.task = c->task,
		.is_filtered = c->is_filtered,
		.is_signed = c->is_signed,
	};

	all.period[cell_mode(p, cell)] = c->period;
	if (p->cell_weights.n)
		memcpy(all.weights, &p->cell_weights.v[(size_t)cell * PROFILE_WEIGHTS],
		       sizeof(all.weights));
	return all;
}

void counts_put_cell(struct profile *p, uint32_t cell, const struct profile_counts *c)
{
	struct cell_counts *to = &p->counts.v[cell];

	*to = counts_facts(c);
	to->period = c->period[cell_mode(p, cell)];
	if (p->cell_weights.n)
		memcpy(counts_weights(p, cell), c->weights, sizeof(c->weights));
}

/* ---- periods --------------------------------------------------------------------------------- */

static uint64_t counts_period_signed(const struct profile_counts *c)
{
	int64_t sum = 0;

	for (int i = 0; i < PROFILE_MODES; i++) {
		if (__builtin_add_overflow(sum, (int64_t)c->period[i], &sum))
			return (uint64_t)((int64_t)c->period[i] < 0 ? INT64_MIN : INT64_MAX);
	}
	return (uint64_t)sum;
}

uint64_t counts_period(const struct profile_counts *c)
{
	uint64_t sum = 0;

	if (c->is_signed)
		return counts_period_signed(c);
	for (int i = 0; i < PROFILE_MODES; i++) {
		if (__builtin_add_overflow(sum, c->period[i], &sum))
			return UINT64_MAX;
	}
	return sum;
}
