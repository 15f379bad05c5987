/* SPDX-License-Identifier: MIT */
/*
 * A window of time: `FROM,TO` in seconds with up to 9 decimals; either side may be empty, both ends belong to it.
 * As in perf a bound of 0 is no bound.
 */
#ifndef SONDE_FILTERS_TIME_WINDOW_H
#define SONDE_FILTERS_TIME_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

struct time_window {
	uint64_t from_ns, to_ns; /* everything: 0, UINT64_MAX */
};

#define TIME_WINDOW_ALL ((struct time_window){ .from_ns = 0, .to_ns = UINT64_MAX })

/* -EINVAL and "Invalid time string ..."; ret is written only on success. */
int time_window_parse(const char *text, struct time_window *ret);

/* An event without a time (SONDE_NO_TIME) lies behind every end. */
static inline bool time_window_holds(const struct time_window *w, uint64_t time_ns)
{
	return time_ns >= w->from_ns && time_ns <= w->to_ns;
}

#endif
