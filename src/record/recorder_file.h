/* SPDX-License-Identifier: MIT */
/*
 * The state of one output file: its path, the data not yet written to it, and its losses. file.h
 * begins and ends a file.
 */
#ifndef SONDE_RECORD_RECORDER_FILE_H
#define SONDE_RECORD_RECORDER_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/vec.h"
#include "capture/running/kernel_map.h"
#include "formats/perfdata/writer.h"
#include "record/describe/features.h"
#include "record/drain/outlet.h"
#include "record/drain/tally.h"
#include "record/output/output.h"

/* A file that contains only the events of one ring. */
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
	struct outlet *outlet;       /* passes the drain's records on to the writer */
	struct recorder_lane *lanes; /* by ring, if the recording is a directory */
	size_t nr_lanes;
	/* the reader of the pipe closed its end before the beginning was written */
	bool reader_gone;
	VEC(struct file_loss) losses; /* reported by the kernel, not yet in the file */
	bool knows_losses;            /* the kernel counts losses by counter */
	/* samples missing in the file that its LOST_SAMPLES records report, by counter */
	struct tally reported;
};

/* Sums over all files of a recording; final once it is finished. */
struct recorder_figures {
	uint64_t bytes; /* size of the data */
	/* sizes of the compressed data, before and after compression */
	uint64_t plain_bytes, packed_bytes;
	uint64_t given_up; /* samples taken from the rings but not written */
};

struct file_beginning {
	struct perfdata_writer_event *events;
	size_t nr_events;
	uint64_t *ids;
	struct features features;
	struct outbuf state; /* records of the state before the first event */
	/* --tail-synthesize: records of the state at the end of the previous file */
	struct outbuf end_before;
	struct kernel_map kernel; /* without the symbols, which are one of the features */
	/* Kernel addresses are recorded, and the kernel hides the addresses of its symbols. */
	bool symbols_hidden;
};

void file_beginning_done(struct file_beginning *b);
/* Appends plain records after the last event. */
int recorder_file_put(struct recorder_file *f, const struct outbuf *records);
void recorder_file_close(struct recorder_file *f);
/* The bytes of events written so far. May be called at any time. */
uint64_t recorder_file_written(const struct recorder_file *f);
struct recorder_figures recorder_file_figures(const struct recorder_file *f);
/* The compression ratio, rounded; 0 if no records are compressed. */
uint32_t recorder_figures_ratio(const struct recorder_figures *g);

int recorder_lanes_open(struct recorder_file *f, size_t nr_lanes, const int *take_fds,
			const struct outlet_options *outlet);
int recorder_lanes_finish(struct recorder_file *f);
void recorder_lanes_close(struct recorder_file *f);

#endif
