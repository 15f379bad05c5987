/* SPDX-License-Identifier: MIT */
/*
 * The files of a recording: usually one. With --switch-output each file is a complete recording: it
 * describes the machine and the running tasks again. Each event is in exactly one file.
 *
 * A new file is begun in two steps. First a thread (record/preparer.h) describes the running tasks
 * while events are written to the old file. Changes of processes in that time are kept
 * (record/drain/follow.h) and follow the description in the new file. Then the buffers are emptied
 * once more, the old file is completed and renamed, and the new one is begun. If that fails (no
 * room, no right), the recording continues in the old file.
 */
#ifndef SONDE_RECORD_ROTATION_H
#define SONDE_RECORD_ROTATION_H

#include <stddef.h>

#include "record/recorder.h"

/* Parses the settings, before anything is opened. */
int rotation_parse(struct sonde_recorder *r);
/* Opens the events that request a new file. They are disabled at first, like the others. */
int rotation_open(struct sonde_recorder *r);
/* Begins the first file. */
int rotation_begin(struct sonde_recorder *r);
int rotation_enable(struct sonde_recorder *r);
/* For the main loop: descriptors to poll for input, and the time-out, at most `ms`. */
size_t rotation_nr_fds(const struct sonde_recorder *r);
void rotation_fds(const struct sonde_recorder *r, int *ret_fds);
int rotation_timeout(const struct sonde_recorder *r, int ms);
/*
 * Called after each pass of the drain: begins a new file if one is due. Returns 1 if the recording
 * has reached its maximum size.
 */
int rotation_pass(struct sonde_recorder *r);
/* Called before the last file is completed, for --tail-synthesize. */
int rotation_describe_end(struct sonde_recorder *r);
/* Called when the last file is complete: gives the file its name. */
int rotation_end(struct sonde_recorder *r);
/* May be called from a signal handler. */
void rotation_ask(struct sonde_recorder *r);
void rotation_done(struct sonde_recorder *r);

#endif
