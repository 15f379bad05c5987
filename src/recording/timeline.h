/* SPDX-License-Identifier: MIT */
/*
 * The line of time on which a session delivers its events, and the place of a recording's clock on
 * it.
 *
 *	clock=raw		the clock of the recording; of the first one if there are several
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
	bool is_shifted;    /* shown times differ from recorded times */
	int64_t shift_ns;   /* a recorded time plus this is its place on the line */
	bool has_time_zero; /* a recorded time of 0 is valid, not unknown */
	bool has_first;
	uint64_t first_ns; /* recorded time of the first sample that was read */
	bool has_wall;     /* times of day are known: wall_ns is valid */
	int64_t wall_ns;   /* a time on the line plus this is the time of day */
};

/* Shared by all recordings of a session. */
struct timeline {
	bool waits;      /* clock=relative, and zero_ns is not yet known */
	bool has_wall;   /* times of day are known: wall_ns is valid */
	int64_t zero_ns; /* shown times count from here */
	int64_t wall_ns; /* a time on the line plus this is the time of day */
};

#endif
