/* SPDX-License-Identifier: MIT */
/*
 * The files that a recording consists of: usually one. With --switch-output each is a recording of
 * its own: it says again what the machine is and who runs, and no event is in two of them or in
 * none.
 *
 * A new file is begun in two steps. A thread (record/preparer.h) describes what runs while events
 * are written to the old file; changes of processes meanwhile are kept (record/drain/follow.h) and
 * follows the description in the new file. Then the buffers are emptied once more, the old file is
 * completed and moved out of the way, and the new one is begun. When that cannot be done (no room,
 * no right), the recording continues in the old file.
 */
#ifndef SONDE_RECORD_ROTATION_H
#define SONDE_RECORD_ROTATION_H

#include <stddef.h>

#include "record/recorder.h"

/* Before anything is opened. */
int rotation_parse(struct sonde_recorder *r);
/* The events that ask for a new file: opened like the others, disabled. */
int rotation_open(struct sonde_recorder *r);
/* The first file. */
int rotation_begin(struct sonde_recorder *r);
int rotation_enable(struct sonde_recorder *r);
/* What to wait for: descriptors to poll for input, at most this many milliseconds. */
size_t rotation_nr_fds(const struct sonde_recorder *r);
void rotation_fds(const struct sonde_recorder *r, int *ret_fds);
int rotation_timeout(const struct sonde_recorder *r, int ms);
/*
 * After each pass of the drain: takes up a new file when it is time. 1: the recording is as large
 * as it may get.
 */
int rotation_pass(struct sonde_recorder *r);
/* Before the last file is completed: --tail-synthesize. */
int rotation_describe_end(struct sonde_recorder *r);
/* The last file is complete: gives it its name. */
int rotation_end(struct sonde_recorder *r);
/* May be called from a signal handler. */
void rotation_ask(struct sonde_recorder *r);
void rotation_done(struct sonde_recorder *r);

#endif
