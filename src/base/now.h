/* SPDX-License-Identifier: MIT */
/* The time of a clock. */
#ifndef SONDE_BASE_NOW_H
#define SONDE_BASE_NOW_H

#include <stdint.h>
#include <time.h>

static inline uint64_t now_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* The time of a clock that never goes back. */
static inline uint64_t now_ms(void)
{
	return now_ns(CLOCK_MONOTONIC) / 1000000;
}

#endif
