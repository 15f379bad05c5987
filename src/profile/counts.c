/* SPDX-License-Identifier: MIT */
#include "profile/counts.h"

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
	for (size_t i = 0; i < p->counts.n; i++)
		counts_make_signed(p, &p->counts.v[i], false);
	p->facts.samples = counts_signed(p, p->facts.samples, false, false);
}

void counts_add(struct profile *p, struct profile_counts *to, const struct profile_counts *more)
{
	if (!counts_any(more))
		return;
	if (!counts_any(to) || more->first < to->first) {
		to->first = more->first;
		to->task = more->task;
		to->is_filtered = more->is_filtered;
	}
	if (!counts_any(to) || more->first_ns < to->first_ns)
		to->first_ns = more->first_ns;
	if (!counts_any(to) || to->last_ns == SONDE_NO_TIME ||
	    (more->last_ns != SONDE_NO_TIME && more->last_ns > to->last_ns))
		to->last_ns = more->last_ns;
	to->is_signed = more->is_signed;
	counts_sum_as(p, more->is_signed, &to->samples, more->samples);
	for (int i = 0; i < PROFILE_WEIGHTS; i++)
		counts_sum_as(p, more->is_signed, &to->weights[i], more->weights[i]);
	for (int i = 0; i < PROFILE_MODES; i++)
		counts_sum_as(p, more->is_signed, &to->period[i], more->period[i]);
}

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
