/* SPDX-License-Identifier: MIT */
/*
 * Rings that overwrite (--overwrite): the kernel writes them from high addresses to low ones, so
 * the newest record is at the head and the rest of the oldest ones behind it:
 *
 *	| ... free ... | newest | ... | oldest complete record | rest of one that was overwritten |
 *	               ^ head
 *
 * They are read only when somebody asks for what they hold: at the end, and before the recording
 * continues in another file. The file gets their records in the order of time, one round for all
 * rings.
 */
#ifndef SONDE_RECORD_DRAIN_BACKWARD_H
#define SONDE_RECORD_DRAIN_BACKWARD_H

#include "capture/counters.h"
#include "record/drain/drain.h"

/*
 * Writes what has come since the last time, and lets the rings go on unless this is the end. On
 * failure *left counts, too, the samples that were not taken.
 */
int backward_dump(struct counters *c, struct drain *d, bool is_end, struct tally *left);

#endif
