/* SPDX-License-Identifier: MIT */
/* Shared by writer.c and writer_data.c. */
#ifndef SONDE_FORMATS_PERFDATA_WRITER_INTERNAL_H
#define SONDE_FORMATS_PERFDATA_WRITER_INTERNAL_H

#include "base/vec.h"
#include "formats/perfdata/writer.h"

struct placed_feature {
	uint64_t feature, offset, size;
};

struct perfdata_writer {
	int fd;
	bool is_pipe;
	/* written data can be taken back: true for files, including pipe mode to a file */
	bool can_truncate;
	uint64_t base;  /* start of the recording in a file that is written in pipe mode */
	bool may_block; /* a shared pipe, which must not be made non-blocking */
	int stop_fd;    /* borrowed; -1 if none */
	bool swap;      /* the file has the other byte order */
	uint32_t attr_bytes;
	int broken; /* errno of a pipe that took a piece of a record and then failed */
	char *path;
	struct perfdata_header header;
	uint64_t data_end; /* file offset after the last complete record */
	/*
	 * Boundaries of records. `back` is at least RESERVE_BYTES before the end (or at the
	 * beginning of the data). If the disk is full, the last records are dropped to make room
	 * for the bytes that must follow the data. The search for their beginnings starts here.
	 */
	uint64_t back, next_back;
	perfdata_writer_drop_fn *on_drop; /* NULL if the caller does not count drops */
	void *on_drop_ctx;
	VEC(struct placed_feature) features; /* bodies written before the data */
};

/* Sets the error of a write that failed with this errno. */
int perfdata_writer_write_failed(const struct perfdata_writer *w, int error);
/* Truncates the file at `end` of its data and moves the descriptor's position. */
void perfdata_writer_truncate(struct perfdata_writer *w, uint64_t end);

#endif
