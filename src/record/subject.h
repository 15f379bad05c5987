/* SPDX-License-Identifier: MIT */
/*
 * Describes a recording to its user: the line printed before a recording that only the user ends,
 * and the reason why a recording has no samples.
 */
#ifndef SONDE_RECORD_SUBJECT_H
#define SONDE_RECORD_SUBJECT_H

#include <stdbool.h>

struct sonde_recorder;

/* Prints nothing unless neither a command nor a target was named. */
void subject_say_begin(const struct sonde_recorder *r, bool has_command);
/*
 * Prints the likely reason for no samples, based on the counts (counter.counted must be read).
 * Prints nothing if no samples were to be expected.
 */
void subject_say_no_samples(const struct sonde_recorder *r);

#endif
