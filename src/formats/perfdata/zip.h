/* SPDX-License-Identifier: MIT */
/*
 * Records into compressed records, the other way round of sources/perfdata/unzip.h: zstd frames,
 * cut into units.
 *
 *	unit | SAMPLE SAMPLE SAMPLE |  ->  COMPRESSED ( one or two zstd blocks )
 *
 * perf 6.1 unpacks each compressed record by one call of zstd into a buffer of ZIP_UNIT_BYTES, and
 * takes a record that unpacks to nothing for damage. So each record holds the end of at least one
 * block, and a frame ends with its record. A block ends with its unit: what was zipped can be
 * unpacked at once.
 *
 * Each frame carries zstd's checksum and ends with a unit: what is behind a damaged frame can be
 * read. It takes at least 256 KiB of the file, unless zip_end() ends it.
 */
#ifndef SONDE_FORMATS_PERFDATA_ZIP_H
#define SONDE_FORMATS_PERFDATA_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct zip;

enum {
	ZIP_UNIT_BYTES = 126 << 10,
	ZIP_ROOM_BYTES = 132 << 10, /* what a unit takes at most */
	ZIP_LEVEL_MIN = 1,
	ZIP_LEVEL_MAX = 22,
	ZIP_TYPE_ZSTD = 1 /* in FEAT_COMPRESSED */
};

/* padded: COMPRESSED2, which perf reads from 6.16 on; else COMPRESSED, whose size is no multiple of 8. */
int zip_new(struct zip **ret, int level, bool padded);
/* At most ZIP_UNIT_BYTES, in pieces, into to[ZIP_ROOM_BYTES]. */
int zip_unit(struct zip *z, const struct iovec *pieces, int nr_pieces, uint8_t *to,
	     size_t *ret_len);
/*
 * Ends the open frame, into to[ZIP_ROOM_BYTES]. A record must unpack to something: this one holds a
 * FINISHED_INIT, which readers ignore at this place. Both lengths are 0 if no frame is open.
 */
int zip_end(struct zip *z, uint8_t *to, size_t *ret_len, size_t *ret_plain_len);
void zip_free(struct zip *z); /* NULL is fine */

#endif
