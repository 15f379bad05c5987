/* SPDX-License-Identifier: MIT */
/*
 * The line of time on which a session delivers its events, and the place of a recording's clock on
 * it.
 *
 *	clock=raw		the clock of the recording; of several, that of the first one
 *	clock=relative		the same, counted from the first sample
 *	clock=utc, local	the time of day, nanoseconds since 1970
 *
 * shown = recorded + shift_ns of the recording - zero_ns of the line. Filters, order and state are
 * on the recorded side, callers and sinks on the other. clock.c finds the place of each recording.
 */
#ifndef SONDE_RECORDING_TIMELINE_H
#define SONDE_RECORDING_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

enum clock_shown { CLOCK_SHOWN_RAW, CLOCK_SHOWN_RELATIVE, CLOCK_SHOWN_UTC, CLOCK_SHOWN_LOCAL };

struct recording_clock {
	bool is_shifted;    /* what is shown differs from what was recorded */
	int64_t shift_ns;   /* to be added to a recorded time for its place on the line */
	bool has_time_zero; /* a recorded time of 0 is a time, not unknown */
	bool has_first;
	uint64_t first_ns; /* of the first sample that was read, as recorded */
	bool has_wall;     /* it is known when of the day an event was: */
	int64_t wall_ns;   /* what is to be added to a time on the line for the time of day */
};

/* What all recordings of a session have in common. */
struct timeline {
	bool waits;      /* relative: zero_ns is not yet known */
	bool has_wall;   /* it is known when of the day an event was: */
	int64_t zero_ns; /* shown times count from here */
	int64_t wall_ns; /* what is to be added to a time on the line for the time of day */
};

#endif
