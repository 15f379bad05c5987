/* SPDX-License-Identifier: MIT */
/*
 * Describes a recording to its user: the line before one that only its user ends, and why one
 * has no samples.
 */
#ifndef SONDE_RECORD_SUBJECT_H
#define SONDE_RECORD_SUBJECT_H

#include <stdbool.h>

struct sonde_recorder;

/* Prints nothing unless neither a command nor a target was named. */
void subject_say_begin(const struct sonde_recorder *r, bool has_command);
/*
 * The likely reason for no samples, from what the counters counted (counter.counted must be read).
 * Prints nothing if none were to be expected.
 */
void subject_say_no_samples(const struct sonde_recorder *r);

#endif
