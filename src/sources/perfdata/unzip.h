/* SPDX-License-Identifier: MIT */
/*
 * The records of a recording with compressed ones in it (record -z) as one stream of plain records:
 *
 *	recorded | MMAP | COMPRESSED ( SAMPLE SAMPLE SAM ) | ROUND | COMPRESSED ( PLE SAMPLE ) | ...
 *	made     | MMAP | SAMPLE | SAMPLE | ROUND | SAMPLE | SAMPLE | ...
 *
 * A record may be cut in two by the end of a compressed one: its beginning waits for the next.
 * perf's compressed records are one frame of zstd for the whole file. Ours are several, each with a
 * checksum: damage ends with its frame.
 */
#ifndef SONDE_SOURCES_PERFDATA_UNZIP_H
#define SONDE_SOURCES_PERFDATA_UNZIP_H

#include "model/defects.h"
#include "sources/stream.h"
#include "sources/unpacked.h"

struct unzip;

struct unzip_options {
	struct stream *from; /* a pipe; lent. NULL: fd */
	int fd;
	uint64_t begin, end; /* of the records in it */
	const char *path;
	const char *behind_offset; /* in messages: which file it is of; NULL: there is one only */
	bool swap;
	bool is_complete;          /* its recorder ended it: a frame with a checksum has its end */
	bool keeps_places;         /* unzip_place() will be asked */
	struct unpacked *unpacked; /* shared by the files of a recording; lent */
	struct defects *defects;
};

int unzip_open(struct unzip **ret, const struct unzip_options *opts);
/* The plain records; offsets begin at opts->begin. The unzip's own. */
struct stream *unzip_stream(struct unzip *u);
/* Where the record at this offset of the stream, which was made already, lies as recorded: at the compressed record that
 * has its end, or at its own place. */
uint64_t unzip_place(const struct unzip *u, uint64_t off);
void unzip_close(struct unzip *u); /* NULL is fine */

#endif
