/* SPDX-License-Identifier: MIT */
/*
 * Buckets of histograms.
 *
 *	stats	1 << STATS_BITS of equal width for each power of two; exact below 2 << STATS_BITS
 *	hist	negative | 0 | 1 | 2..3 | 4..7 | ... | 2^62..2^63-1
 *		-1         0   1   2      3            63
 *	lhist	below low | low..low+step-1 | ... | high and above
 *		-1          0                       number of steps
 *
 * A negative value of stats has the bucket of its complement, counted from -1 downwards.
 */
#include "aggregate/types.h"

/* A percentile is in the middle of its bucket: wrong by 1/128 at most. */
enum { STATS_BITS = 6 };

static unsigned bucket_bits(uint64_t v)
{
	return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}

static int32_t bucket_of_stats(uint64_t v)
{
	const unsigned bits = bucket_bits(v);
	const unsigned shift = bits > STATS_BITS + 1 ? bits - STATS_BITS - 1 : 0;

	return (int32_t)((shift << STATS_BITS) + (uint32_t)(v >> shift));
}

static void bucket_range_of_stats(int32_t bucket, int64_t *ret_low, int64_t *ret_high)
{
	const uint32_t b = (uint32_t)bucket;
	const unsigned shift = b >> STATS_BITS ? (b >> STATS_BITS) - 1 : 0;
	const uint64_t low = (uint64_t)(b - (shift << STATS_BITS)) << shift;

	*ret_low = (int64_t)low;
	*ret_high = (int64_t)(low + (UINT64_C(1) << shift) - 1);
}

static int32_t bucket_steps(const struct aggregate *a)
{
	const uint64_t span = (uint64_t)a->high - (uint64_t)a->low;

	return (int32_t)((span - 1) / (uint64_t)a->step + 1);
}

int32_t bucket_of(const struct aggregate *a, int64_t v)
{
	if (a->kind == AGGREGATE_STATS)
		return v < 0 ? -1 - bucket_of_stats(~(uint64_t)v) : bucket_of_stats((uint64_t)v);
	if (a->kind == AGGREGATE_HIST)
		return v < 0 ? -1 : (int32_t)bucket_bits((uint64_t)v);
	if (v < a->low)
		return -1;
	if (v >= a->high)
		return bucket_steps(a);
	return (int32_t)(((uint64_t)v - (uint64_t)a->low) / (uint64_t)a->step);
}

static void bucket_range_of_lhist(const struct aggregate *a, int32_t bucket, int64_t *ret_low,
				  int64_t *ret_high)
{
	if (bucket < 0) {
		*ret_low = INT64_MIN;
		*ret_high = a->low - 1;
		return;
	}
	if (bucket == bucket_steps(a)) {
		*ret_low = a->high;
		*ret_high = INT64_MAX;
		return;
	}
	*ret_low = (int64_t)((uint64_t)a->low + (uint64_t)bucket * (uint64_t)a->step);
	*ret_high = bucket + 1 == bucket_steps(a) ? a->high - 1 : *ret_low + a->step - 1;
}

void bucket_range(const struct aggregate *a, int32_t bucket, int64_t *ret_low, int64_t *ret_high)
{
	int64_t low, high;

	if (a->kind == AGGREGATE_LHIST) {
		bucket_range_of_lhist(a, bucket, ret_low, ret_high);
	} else if (a->kind == AGGREGATE_STATS) {
		bucket_range_of_stats(bucket < 0 ? -1 - bucket : bucket, &low, &high);
		*ret_low = bucket < 0 ? ~high : low;
		*ret_high = bucket < 0 ? ~low : high;
	} else if (bucket <= 0) {
		*ret_low = bucket ? INT64_MIN : 0;
		*ret_high = bucket;
	} else {
		*ret_low = (int64_t)(UINT64_C(1) << (bucket - 1));
		*ret_high = (int64_t)((UINT64_C(1) << bucket) - 1);
	}
}
