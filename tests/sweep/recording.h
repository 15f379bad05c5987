/* SPDX-License-Identifier: MIT */
/*
 * A recording in memory, to be damaged: its files, the places of their records, and those of
 * compressed records once they are unpacked. One in file mode is made into others that hold the
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
 * A record in a file, and where the reader sees its bytes begin and end: the same places, unless
 * there are compressed ones.
 */
struct place {
	uint64_t begin, end, seen_begin, seen_end;
};

struct sweep_file {
	uint8_t *bytes; /* owned */
	size_t len;
	uint64_t data_begin, data_end; /* where a flipped bit cannot reach what the header says */
	VEC(struct place) places;      /* of data, ascending */
	uint8_t *
		seen; /* owned; the file as the reader sees it, where that is not bytes; else NULL */
	size_t seen_len;
};

struct recording {
	char name[64];
	struct sweep_file files[MOST_FILES];
	unsigned nr;    /* one; more: a directory */
	bool is_pipe;   /* pipe mode: nothing is behind the data */
	bool as_stream; /* read from a pipe */
	bool swap;
};

/* A file in file mode, in pipe mode, or of blktrace. <0 with a message on stderr. */
int recording_read(struct recording *ret, const char *path);
/* Of one in file mode, of this machine's byte order: */
int recording_make_pipe(struct recording *ret, const struct recording *from);
int recording_make_directory(struct recording *ret, const struct recording *from);
/* padded: in the new form. From one in pipe mode as well. */
int recording_make_compressed(struct recording *ret, const struct recording *from, bool padded);
void recording_done(struct recording *r);

/* The last place that the reader sees of the complete records before `at`. */
uint64_t recording_seen_before(const struct sweep_file *f, uint64_t at);
/* The record that holds a byte of the data. */
const struct place *recording_place_of(const struct sweep_file *f, uint64_t at);

#endif
