/* SPDX-License-Identifier: MIT */
/*
 * Finds the place of each recording's clock on the line of time (timeline.h), from the host, the
 * kernel and the clock that the recordings describe.
 */
#ifndef SONDE_RECORDING_CLOCK_H
#define SONDE_RECORDING_CLOCK_H

#include "recording/recording.h"

/* Parses seconds such as "1.5", "-0.000000001" or "+3". -EINVAL with a message. */
int clock_offset_parse(const char *text, int64_t *ret_ns);
/*
 * Places a recording on its session's line of time; the session's first recording is placed first.
 * -EXDEV if its clock cannot be related to that of the first one; -ETIME if times of day are shown
 * and the recording has none.
 */
int clock_place(struct recording *rec);
/* Returns -ETIME; the message says why the time of day of the recording's events is not known. */
int clock_no_wall(struct recording *rec);
/*
 * -EXDEV if the kernel's address differs from the one in the first recording: the two recordings
 * are from different boots, so their clocks are unrelated.
 */
int clock_check_boot(struct recording *rec);

#endif
