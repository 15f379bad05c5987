/* SPDX-License-Identifier: MIT */
/*
 * Windows of time, as --time gives them:
 *
 *	12.5,13           from,to in seconds with up to 9 decimals; either side may be empty, both
 *	                  ends belong to the window
 *	1,2 5,6 9,        several windows, in ascending order, separated by blanks
 *	10%/2,10%/5       the second and the fifth slice of 10 percent of the recording
 *	0%-10%,50%-60%    from, to in percents of it
 *	10%               its first 10 percent
 *
 *	2026-11-22T21:15:58.5Z,   times of day, if the recording has them: Z, +01:00 or nothing for
 *	                          local time
 *	21:15,21:16:30            ... of the day on which the recording has them, else of the day on
 *	                          which it begins
 *
 * As in perf, a bound of 0 means no bound. The outer bounds alone decide for nearly all events.
 */
#ifndef SONDE_FILTERS_TIME_WINDOW_H
#define SONDE_FILTERS_TIME_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "compat/rules.h"
#include "sonde/sonde.h"

struct time_window {
	uint64_t from_ns, to_ns; /* everything: 0, UINT64_MAX */
};

struct time_windows {
	struct time_window bounds; /* the range of all windows together */
	struct time_window *list;  /* owned; NULL if the bounds are the only window */
	size_t nr;
	bool has_time_zero; /* a time of 0 is a time, not unknown */
};

#define TIME_WINDOWS_ALL ((struct time_windows){ .bounds = { 0, UINT64_MAX } })

/* The reference for percents, relative times and times of day. */
struct time_span {
	uint64_t first_ns, last_ns; /* times of the recording's first and last sample */
	int64_t wall_ns;            /* a time plus this is nanoseconds since 1970 */
	bool is_utc;                /* times of day without a zone are UTC, not local */
};

/* True if the text can be parsed only with the recording's span. */
bool time_windows_need_span(const char *text, bool relative);
/* True if it contains times of day: wall_ns must be known. */
bool time_windows_need_wall(const char *text);
/*
 * -EINVAL with "Invalid time string ...", or -ENOMEM. ret is written only on success. If span is
 * NULL the text is only checked, and ret is not used. relative: times count from the first sample.
 */
int time_windows_parse(const char *text, const struct time_span *span, bool relative,
		       const struct rules *rules, struct time_windows *ret);
/* Moves all bounds. Open ends stay open. Windows that ended before 0 are empty afterwards. */
void time_windows_shift(struct time_windows *w, int64_t by_ns);
int time_windows_copy(const struct time_windows *w, struct time_windows *ret);
void time_windows_done(struct time_windows *w);

static inline bool time_window_holds(const struct time_window *w, uint64_t time_ns)
{
	return time_ns >= w->from_ns && time_ns <= w->to_ns;
}

bool time_windows_list_holds(const struct time_windows *w, uint64_t time_ns);

/*
 * An event without a recorded time (SONDE_NO_TIME) is later than every end. A time of 0 means
 * unknown, except with has_time_zero; such events are in every window.
 */
static inline bool time_windows_hold(const struct time_windows *w, uint64_t time_ns)
{
	if (__builtin_expect(!time_window_holds(&w->bounds, time_ns), 0))
		return !time_ns && !w->has_time_zero;
	return !w->list || time_windows_list_holds(w, time_ns);
}

#endif
