/* SPDX-License-Identifier: MIT */
/*
 * Joins call stacks of hardware. Its registers hold the innermost calls only. If the previous
 * sample of the thread has the outermost calls of this one in the same registers, the callers that
 * it had beyond them are those of this one, too.
 *
 *	registers            7    0    1    2        branches, newest first
 *	previous sample      a -> b -> c             hw_idx 1: (c) (b) (a)
 *	this sample               b -> c -> d        hw_idx 2: (d) (c) (b)      joined: (a)
 */
#ifndef SONDE_RECORDING_STITCH_H
#define SONDE_RECORDING_STITCH_H

#include "model/event.h"
#include "sonde/sonde.h"

struct stitches;

void stitch_done(struct stitches **s);
/*
 * Notes an event's call stack, which becomes the previous one of its thread. *ret: addresses of the
 * callers beyond it, innermost first; borrowed until the next call. Returns their number, or
 * -ENOMEM.
 */
int stitch_callers(struct stitches **s, const struct event *ev, const struct sonde_sample *sample,
		   const uint64_t **ret);

#endif
