/* SPDX-License-Identifier: MIT */
/*
 * One file of a recording: what stands before the first event, what follows the last one. The events between are the
 * drain's (record/drain.h).
 */
#ifndef SONDE_RECORD_FILE_H
#define SONDE_RECORD_FILE_H

#include "record/recorder.h"

/* Opens the output and writes header, features and records of what is there already. */
int recorder_file_begin(struct sonde_recorder *r);
/* Writes what each counter lost; *ret_lost: all of it. */
int recorder_file_losses(struct sonde_recorder *r, uint64_t *ret_lost);
/* Features that are known at the end, the table; 1: the disk is full, and the last events made room for it. */
int recorder_file_end(struct sonde_recorder *r);

#endif
