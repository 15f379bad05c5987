/* SPDX-License-Identifier: MIT */
/*
 * Compresses records; sources/perfdata/unzip.h is the reverse. The output is zstd frames, divided
 * into chunks.
 *
 *	chunk | SAMPLE SAMPLE SAMPLE |  ->  COMPRESSED ( one or two zstd blocks )
 *
 * perf 6.1 unpacks each compressed record by one call of zstd into a buffer of ZIP_CHUNK_BYTES, and
 * reports a record that unpacks to nothing as damage. So each record contains the end of at least
 * one block, and a frame ends with its record. A block ends with its chunk, so that zipped data can
 * be unpacked immediately.
 *
 * Each frame has zstd's checksum and ends with a chunk, so that data after a damaged frame can be
 * read. A frame takes at least 256 KiB of the file, unless zip_end() ends it.
 */
#ifndef SONDE_FORMATS_PERFDATA_ZIP_H
#define SONDE_FORMATS_PERFDATA_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct zip;

enum {
	ZIP_CHUNK_BYTES = 126 << 10,
	ZIP_ROOM_BYTES = 132 << 10, /* the maximum output of a chunk */
	ZIP_LEVEL_MIN = 1,
	ZIP_LEVEL_MAX = 22,
	ZIP_TYPE_ZSTD = 1 /* the value in FEAT_COMPRESSED */
};

/*
 * padded: writes COMPRESSED2, which perf reads since 6.16; otherwise COMPRESSED, whose size is no
 * multiple of 8.
 */
int zip_new(struct zip **ret, int level, bool padded);
/* Compresses at most ZIP_CHUNK_BYTES, given in pieces, into to[ZIP_ROOM_BYTES]. */
int zip_chunk(struct zip *z, const struct iovec *pieces, int nr_pieces, uint8_t *to,
	      size_t *ret_len);
/*
 * Ends the open frame, into to[ZIP_ROOM_BYTES]. The record must unpack to at least one record, so
 * it contains a FINISHED_INIT, which readers ignore at this place. Both lengths are 0 if no frame
 * is open.
 */
int zip_end(struct zip *z, uint8_t *to, size_t *ret_len, size_t *ret_plain_len);
void zip_free(struct zip *z); /* NULL is fine */

#endif
