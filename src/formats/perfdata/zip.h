/* SPDX-License-Identifier: MIT */
/*
 * Records into compressed records, the other way round of sources/perfdata/unzip.h: one zstd stream, cut into units.
 *
 *	unit | SAMPLE SAMPLE SAMPLE |  ->  COMPRESSED ( one zstd block )
 *
 * Each compressed record holds the end of at least one block, because perf takes one that unpacks to nothing for damage,
 * and unpacks to no more than ZIP_UNIT_BYTES. A block ends with its unit: what was zipped can be unpacked at once.
 */
#ifndef SONDE_FORMATS_PERFDATA_ZIP_H
#define SONDE_FORMATS_PERFDATA_ZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

struct zip;

enum {
	ZIP_UNIT_BYTES = 128 << 10, /* the largest block of zstd */
	ZIP_ROOM_BYTES = 132 << 10, /* what a unit takes at most */
	ZIP_LEVEL_MIN = 1,
	ZIP_LEVEL_MAX = 22,
	ZIP_TYPE_ZSTD = 1 /* in FEAT_COMPRESSED */
};

/* padded: COMPRESSED2, which perf reads from 6.16 on; else COMPRESSED, whose size is no multiple of 8. */
int zip_new(struct zip **ret, int level, bool padded);
/* How large a unit had best be now: one that comes to be one record. */
size_t zip_wants(const struct zip *z);
/* At most ZIP_UNIT_BYTES, in pieces, into to[ZIP_ROOM_BYTES]. */
int zip_unit(struct zip *z, const struct iovec *pieces, int nr_pieces, uint8_t *to,
	     size_t *ret_len);
void zip_free(struct zip *z); /* NULL is fine */

#endif
