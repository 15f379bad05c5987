/* SPDX-License-Identifier: MIT */
/*
 * Sums of times from files. The times may have any value: a sum that overflows becomes the largest
 * or smallest time.
 */
#ifndef SONDE_BASE_SATURATE_H
#define SONDE_BASE_SATURATE_H

#include <stdint.h>

static inline int64_t saturate_add(int64_t a, int64_t b)
{
	int64_t sum;

	if (!__builtin_add_overflow(a, b, &sum))
		return sum;
	return b < 0 ? INT64_MIN : INT64_MAX;
}

static inline int64_t saturate_sub(int64_t a, int64_t b)
{
	int64_t rest;

	if (!__builtin_sub_overflow(a, b, &rest))
		return rest;
	return b < 0 ? INT64_MAX : INT64_MIN;
}

static inline int64_t saturate_signed(uint64_t v)
{
	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

#endif
