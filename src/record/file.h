/* SPDX-License-Identifier: MIT */
/*
 * One file of a recording: what stands before the first event, what follows the last one. The events between are the
 * drain's (record/drain/drain.h).
 *
 *	TRY(recorder_file_prepare(r, NULL, 0, &b));       // what there is to say, in memory; may run beside the recording
 *	TRY(recorder_file_open(r, &b, &f));      // the file and its beginning
 *	TRY(recorder_file_losses(r, &f, ...));  TRY(recorder_file_end(r, &f, ...));
 *	recorder_file_close(&f);
 */
#ifndef SONDE_RECORD_FILE_H
#define SONDE_RECORD_FILE_H

#include <stdint.h>

#include "base/outbuf.h"
#include "formats/perfdata/writer.h"
#include "record/drain/drain.h"
#include "record/describe/features.h"
#include "record/describe/kernel_map.h"
#include "record/drain/outlet.h"
#include "record/output.h"

struct sonde_recorder;

/* A file of events only, of one ring. */
struct recorder_lane {
	struct perfdata_writer *writer;
	struct outlet *outlet;
};

struct file_loss {
	size_t counter;
	uint64_t n;
};

struct recorder_file {
	struct output output;
	struct perfdata_writer *writer;
	struct outlet *outlet;       /* what the drain puts goes through it to the writer */
	struct recorder_lane *lanes; /* by ring, when the recording is a directory */
	size_t nr_lanes;
	bool reader_gone; /* of a pipe: it has closed its end before the beginning was written */
	VEC(struct file_loss) losses; /* that the kernel reports and the file does not have yet */
	bool knows_losses;            /* the kernel counts them by counter */
	/* what LOST_SAMPLES in the file say of samples that are not in it */
	struct tally told;
};

/* Of all files of a recording; when it is finished. */
struct recorder_figures {
	uint64_t bytes;                     /* of data */
	uint64_t plain_bytes, packed_bytes; /* of what was compressed */
	uint64_t given_up;                  /* samples that had left the rings and are not in it */
};

struct file_beginning {
	struct perfdata_writer_event *events;
	size_t nr_events;
	uint64_t *ids;
	struct features features;
	struct outbuf state;      /* records of what is there already */
	struct outbuf end_before; /* --tail-synthesize: the same, for the end of the file before */
	struct kernel_map kernel; /* without the symbols, which are one of the features */
	bool symbols_hidden; /* kernel addresses are recorded, and the kernel does not show its own */
};

/* What of the machine matters: the kernel's symbols, BPF programs, files that are hit. */
int recorder_file_wants(struct sonde_recorder *r);
/*
 * pids: processes to describe beside the target's. Reads what is there; touches nothing of the recorder and says nothing,
 * so that another thread may do it.
 */
int recorder_file_prepare(const struct sonde_recorder *r, const int32_t *pids, size_t nr_pids,
			  struct file_beginning *ret);
void file_beginning_done(struct file_beginning *b);
/* Opens the output and writes header, features and records of what is there already. */
int recorder_file_open(struct sonde_recorder *r, struct file_beginning *b,
		       struct recorder_file *ret);
/* Behind the last event: plain records; what there is, for --tail-synthesize. */
int recorder_file_put(struct recorder_file *f, const struct outbuf *records);
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
void recorder_file_close(struct recorder_file *f);
/* Bytes of events that are on their way to the disk; at any time. */
uint64_t recorder_file_written(const struct recorder_file *f);
struct recorder_figures recorder_file_figures(const struct recorder_file *f);
/* How many times smaller the compressed records are, rounded; 0: there are none. */
uint32_t recorder_figures_ratio(const struct recorder_figures *g);

/* ---- for file.c -------------------------------------------------------------------------------------------------- */

int recorder_lanes_open(struct recorder_file *f, size_t nr_lanes, const int *take_fds,
			const struct outlet_options *outlet);
int recorder_lanes_finish(struct recorder_file *f);
void recorder_lanes_close(struct recorder_file *f);

#endif
