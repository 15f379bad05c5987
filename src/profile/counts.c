/* SPDX-License-Identifier: MIT */
#include "profile/counts.h"

void counts_add(struct profile *p, struct profile_counts *to, const struct profile_counts *more)
{
	if (!more->samples)
		return;
	if (!to->samples || more->first < to->first) {
		to->first = more->first;
		to->task = more->task;
		to->is_filtered = more->is_filtered;
	}
	if (!to->samples || more->first_ns < to->first_ns)
		to->first_ns = more->first_ns;
	if (!to->samples || to->last_ns == SONDE_NO_TIME ||
	    (more->last_ns != SONDE_NO_TIME && more->last_ns > to->last_ns))
		to->last_ns = more->last_ns;
	to->samples += more->samples;
	for (int i = 0; i < PROFILE_WEIGHTS; i++)
		counts_sum(p, &to->weights[i], more->weights[i]);
	for (int i = 0; i < PROFILE_MODES; i++)
		counts_sum(p, &to->period[i], more->period[i]);
}

uint64_t counts_period(const struct profile_counts *c)
{
	uint64_t sum = 0;

	for (int i = 0; i < PROFILE_MODES; i++) {
		if (__builtin_add_overflow(sum, c->period[i], &sum))
			return UINT64_MAX;
	}
	return sum;
}
