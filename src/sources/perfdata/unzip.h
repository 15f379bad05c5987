/* SPDX-License-Identifier: MIT */
/*
 * The records of a recording with compressed ones in it (record -z) as one stream of plain records:
 *
 *	recorded | MMAP | COMPRESSED ( SAMPLE SAMPLE SAM ) | ROUND | COMPRESSED ( PLE SAMPLE ) | ...
 *	made     | MMAP | SAMPLE | SAMPLE | ROUND | SAMPLE | SAMPLE | ...
 *
 * The end of a compressed record may cut a record in two: its beginning is kept until the next one.
 * perf's compressed records are one frame of zstd for the complete file. Ours are several, each
 * with a checksum: damage ends with its frame.
 */
#ifndef SONDE_SOURCES_PERFDATA_UNZIP_H
#define SONDE_SOURCES_PERFDATA_UNZIP_H

#include "model/defects.h"
#include "sources/stream.h"
#include "sources/unpacked.h"

struct unzip;

struct unzip_options {
	struct stream *from; /* a pipe; borrowed. NULL: fd */
	int fd;
	uint64_t begin, end; /* of the records in it */
	const char *path;
	const char *behind_offset; /* in messages: which file it is of; NULL: there is one only */
	bool swap;
	bool is_complete;          /* its recorder ended it: a frame with a checksum has its end */
	bool keeps_places;         /* unzip_place() will be asked */
	struct unpacked *unpacked; /* shared by the files of a recording; borrowed */
	struct defects *defects;
};

int unzip_open(struct unzip **ret, const struct unzip_options *opts);
/* The plain records; offsets begin at opts->begin. The unzip's own. */
struct stream *unzip_stream(struct unzip *u);
/*
 * The offset in the recording of the record at this offset of the stream, which was already made:
 * that of the compressed record that has its end, or its own.
 */
uint64_t unzip_place(const struct unzip *u, uint64_t off);
void unzip_close(struct unzip *u); /* NULL is fine */

#endif
