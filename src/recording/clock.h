/* SPDX-License-Identifier: MIT */
/*
 * The place of each recording's clock on the line of time (timeline.h), found by what recordings
 * say of host, kernel and clock.
 */
#ifndef SONDE_RECORDING_CLOCK_H
#define SONDE_RECORDING_CLOCK_H

#include "recording/recording.h"

/* "1.5", "-0.000000001", "+3"; -EINVAL with a message. */
int clock_offset_parse(const char *text, int64_t *ret_ns);
/*
 * Places a recording on the line of its session, whose first recording is the first of all.
 * -ETIME: it is not known where it belongs, or what time of day its clock shows.
 */
int clock_place(struct recording *rec);
/* -ETIME and why the time of day of the recording's events is not known. */
int clock_no_wall(struct recording *rec);
/*
 * -ETIME if the kernel has another address than that of the first recording: they are of two boots,
 * whose clocks have nothing in common.
 */
int clock_check_boot(struct recording *rec);

#endif
