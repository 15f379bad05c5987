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
	bool is_text;   /* of ftrace: a part of a line may belong to the record in front of it */
	bool is_folder; /* a CTF trace: the first file is the metadata */
	char file_names[MOST_FILES][16]; /* of a folder */
};

struct sonde_event;

/*
 * Reads a file in file mode, in pipe mode, of blktrace, of trace-cmd, of ftrace's text, or a folder
 * with a CTF trace. <0 after a message on stderr.
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
/* The file of an event. Files of a directory have the same offsets: the record's bytes decide. */
uint16_t recording_file_of(const struct recording *r, const struct sonde_event *ev);

/* Parts of recording_read(). */
int recording_read_file(struct sweep_file *f, const char *path);
void recording_name(struct recording *r, const char *from, const char *how);
/* recording_text.c. False if the file has no text of ftrace. */
bool recording_find_text_places(struct recording *r, const char *path);
int recording_read_folder(struct recording *ret, const char *path);

#endif
