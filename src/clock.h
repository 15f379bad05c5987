/* SPDX-License-Identifier: MIT */
/*
 * The line of time on which a session delivers its events, and where a recording's clock lies on it.
 *
 *	clock=raw		the clock of the recording; of several, that of the first one
 *	clock=relative		the same, counted from the first sample
 *	clock=utc, local	the time of day, nanoseconds since 1970
 *
 * shown = recorded + shift_ns - zero_ns. Filters, order and state are on the recorded side, callers and sinks on the other.
 */
#ifndef SONDE_CLOCK_H
#define SONDE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct sonde_session;

enum clock_shown { CLOCK_SHOWN_RAW, CLOCK_SHOWN_RELATIVE, CLOCK_SHOWN_UTC, CLOCK_SHOWN_LOCAL };

struct session_clock {
	bool is_shifted; /* what is shown differs from what was recorded */
	bool waits;      /* relative: zero_ns is not yet known */
	bool has_first;
	int64_t shift_ns, zero_ns;
	uint64_t first_ns; /* relative: of the first sample that was read, as recorded */
	bool has_wall;     /* it is known when of the day an event was: */
	int64_t wall_ns;   /* what is to be added to a time with shift_ns for the time of day */
};

/*
 * Places a recording on the line of its session, whose first recording is `first`, itself when it is that or the only one.
 * -ETIME: it is not known where it belongs, or what time of day its clock shows.
 */
int clock_place(struct sonde_session *s, const struct sonde_session *first);
/* -ETIME and why the time of day of s's events is not known. */
int clock_no_wall(struct sonde_session *s);
/* The kernels of two recordings lie at different places: they are of two boots, whose clocks have nothing in common. */
int clock_check_boot(struct sonde_session *s, const struct sonde_session *first);

#endif
