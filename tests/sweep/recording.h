/* SPDX-License-Identifier: MIT */
/*
 * A recording in memory, to be damaged: its files and the places of their records, also those of
 * unpacked compressed records. A recording in file mode can be converted into other forms with the
 * same records.
 */
#ifndef SWEEP_RECORDING_H
#define SWEEP_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum { MOST_FILES = 3 };

/*
 * The place of a record in a file, and its place as the reader sees it, which differs only in
 * recordings with compressed records.
 */
struct place {
	uint64_t begin, end, seen_begin, seen_end;
};

struct sweep_file {
	uint8_t *bytes; /* owned */
	size_t len;
	uint64_t data_begin, data_end; /* of the records; the header is outside */
	VEC(struct place) places;      /* of data, ascending */
	uint8_t *seen; /* owned; the file with its records unpacked; NULL if none is compressed */
	size_t seen_len;
};

struct recording {
	char name[64];
	struct sweep_file files[MOST_FILES];
	unsigned nr;    /* of files; more than one: a directory */
	bool is_pipe;   /* pipe mode: nothing follows the data */
	bool as_stream; /* read from a pipe */
	bool swap;
};

/*
 * Reads a file in file mode, in pipe mode, of blktrace, or of trace-cmd. <0 after a message on
 * stderr.
 */
int recording_read(struct recording *ret, const char *path);
/* These convert a recording in file mode and in this machine's byte order. */
int recording_make_pipe(struct recording *ret, const struct recording *from);
int recording_make_directory(struct recording *ret, const struct recording *from);
/* padded: COMPRESSED2. The recording may also be in pipe mode. */
int recording_make_compressed(struct recording *ret, const struct recording *from, bool padded);
void recording_done(struct recording *r);

/* The end, as the reader sees it, of the last complete record before `at`. */
uint64_t recording_seen_before(const struct sweep_file *f, uint64_t at);
/* The record that holds a byte of the data. */
const struct place *recording_place_of(const struct sweep_file *f, uint64_t at);

#endif
