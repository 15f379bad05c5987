/* SPDX-License-Identifier: MIT */
/*
 * Turns a recording with compressed records (record -z) into one stream of plain records:
 *
 *	recorded | MMAP | COMPRESSED ( SAMPLE SAMPLE SAM ) | ROUND | COMPRESSED ( PLE SAMPLE ) | ...
 *	made     | MMAP | SAMPLE | SAMPLE | ROUND | SAMPLE | SAMPLE | ...
 *
 * The end of a compressed record may cut a plain record in two; its first part is kept until the
 *next compressed record. perf writes one frame of zstd for the complete file. We write several
 *frames, each with a checksum, so damage is limited to one frame.
 */
#ifndef SONDE_SOURCES_PERFDATA_UNZIP_H
#define SONDE_SOURCES_PERFDATA_UNZIP_H

#include "model/defects.h"
#include "sources/stream.h"
#include "sources/unpacked.h"

struct unzip;

struct unzip_options {
	struct stream *from; /* a pipe, borrowed; NULL if fd is read */
	int fd;
	uint64_t begin, end; /* range of the records in the file */
	const char *path;
	const char *behind_offset; /* names the file in messages; NULL if there is only one */
	bool swap;
	bool is_complete;  /* the recorder finished it: a frame with a checksum is complete */
	bool keeps_places; /* unzip_place() will be called */
	struct unpacked *unpacked; /* shared by the files of a recording; borrowed */
	struct defects *defects;
};

int unzip_open(struct unzip **ret, const struct unzip_options *opts);
/* The plain records; offsets begin at opts->begin. Owned by u. */
struct stream *unzip_stream(struct unzip *u);
/*
 * Converts an offset in the stream, of a record that was already made, to an offset in the
 * recording: the offset of the compressed record that contains its end, or its own offset.
 */
uint64_t unzip_place(const struct unzip *u, uint64_t off);
void unzip_close(struct unzip *u); /* NULL is fine */

#endif
