/* SPDX-License-Identifier: MIT */
/*
 * One file of a recording: the records before the first event and the records after the last one.
 * The drain writes the events in between (record/drain/drain.h).
 *
 *	TRY(recorder_file_prepare(r, NULL, 0, &b));  // in memory; another thread may do it
 *	TRY(recorder_file_open(r, &b, &f));          // the file and its beginning
 *	TRY(recorder_file_losses(r, &f, ...));  TRY(recorder_file_end(r, &f, ...));
 *	recorder_file_close(&f);
 */
#ifndef SONDE_RECORD_FILE_H
#define SONDE_RECORD_FILE_H

#include <stdint.h>

#include "base/outbuf.h"
#include "record/recorder.h"
#include "record/recorder_file.h"

/*
 * Decides which facts of the machine are collected: the kernel's symbols, BPF programs, files that
 * samples hit.
 */
int recorder_file_wants(struct sonde_recorder *r);
/*
 * pids: processes to describe in addition to the target's. Only reads the running system: it
 * changes nothing in the recorder and prints nothing, so that another thread may call it.
 */
int recorder_file_prepare(const struct sonde_recorder *r, const int32_t *pids, size_t nr_pids,
			  struct file_beginning *ret);
/* Opens the output and writes the header, the features and the records of the existing state. */
int recorder_file_open(struct sonde_recorder *r, struct file_beginning *b,
		       struct recorder_file *ret);
/* Describes the running system after the last event, for --tail-synthesize. */
int recorder_file_describe_end(struct sonde_recorder *r, const int32_t *pids, size_t nr_pids);
/*
 * After the last event: writes the data still in the outlets, and reads the losses of each counter.
 * *ret_lost: all losses in this file.
 */
int recorder_file_losses(struct sonde_recorder *r, struct recorder_file *f,
			 const struct drain_totals *totals, uint64_t *ret_lost);
/*
 * Writes the losses and the unwritten samples of each counter, the features known only at the end,
 * and the table of features. Returns 1 if the disk is full and the last events were removed to make
 * room.
 */
int recorder_file_end(struct sonde_recorder *r, struct recorder_file *f,
		      const struct drain_totals *totals);
#endif
