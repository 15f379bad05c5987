/* SPDX-License-Identifier: MIT */
/* Mean and deviation of numbers that come one by one (Welford's method). */
#ifndef SONDE_STAT_SPREAD_H
#define SONDE_STAT_SPREAD_H

#include <math.h>
#include <stdint.h>

struct spread {
	uint64_t n;
	double mean, squares; /* squares: the sum of the squared differences from the mean */
};

static inline void spread_add(struct spread *s, double value)
{
	const double difference = value - s->mean;

	s->n++;
	s->mean += difference / (double)s->n;
	s->squares += difference * (value - s->mean);
}

/* The standard deviation of the mean. */
static inline double spread_of_mean(const struct spread *s)
{
	if (s->n < 2)
		return 0;
	return sqrt(s->squares / (double)(s->n - 1) / (double)s->n);
}

#endif
