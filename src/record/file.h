/* SPDX-License-Identifier: MIT */
/*
 * One file of a recording: the records before the first event, and those behind the last one. The
 * drain writes the events between (record/drain/drain.h).
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

/* What of the machine matters: the kernel's symbols, BPF programs, files that are hit. */
int recorder_file_wants(struct sonde_recorder *r);
/*
 * pids: processes to describe beside the target's. Reads what is there; touches nothing of the
 * recorder and says nothing, so that another thread may do it.
 */
int recorder_file_prepare(const struct sonde_recorder *r, const int32_t *pids, size_t nr_pids,
			  struct file_beginning *ret);
/* Opens the output and writes header, features and records of what is there already. */
int recorder_file_open(struct sonde_recorder *r, struct file_beginning *b,
		       struct recorder_file *ret);
/* Behind the last event: what there is, for --tail-synthesize. */
int recorder_file_describe_end(struct sonde_recorder *r, const int32_t *pids, size_t nr_pids);
/*
 * After the last event: writes what is still on its way, and reads what each counter lost;
 * *ret_lost: all of it.
 */
int recorder_file_losses(struct sonde_recorder *r, struct recorder_file *f,
			 const struct drain_totals *totals, uint64_t *ret_lost);
/*
 * Losses and unwritten records by counter; features that are known at the end, the table.
 * 1: the disk is full, and the last events made room for them.
 */
int recorder_file_end(struct sonde_recorder *r, struct recorder_file *f,
		      const struct drain_totals *totals);
#endif
