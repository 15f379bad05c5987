/* SPDX-License-Identifier: MIT */
/*
 * Rings that overwrite (--overwrite): the kernel writes them from high addresses to low ones, so
 * the newest record is at the head and the older ones are after it:
 *
 *	| ... free ... | newest | ... | oldest complete record | rest of one that was overwritten |
 *	               ^ head
 *
 * They are read only at the end of the recording and before it continues in another file. Records
 * are written oldest first, ring by ring, as one round.
 */
#ifndef SONDE_RECORD_DRAIN_BACKWARD_H
#define SONDE_RECORD_DRAIN_BACKWARD_H

#include "capture/counters.h"
#include "record/drain/drain.h"

/*
 * Writes the records added since the last call, and resumes the rings unless this is the end. On
 * failure, *left also counts the samples that were not written.
 */
int backward_dump(struct counters *c, struct drain *d, bool is_end, struct tally *left);

#endif
