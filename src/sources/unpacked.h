/* SPDX-License-Identifier: MIT */
/*
 * Limits the size that a packed input may unpack to. A packed file of 32 KB can contain 1 GB of
 * zeros, which would fill the disk with temporary files. Without a limit from the user, the limit
 * is UNPACKED_TIMES the packed bytes, but at least UNPACKED_LEAST_BYTES.
 */
#ifndef SONDE_SOURCES_UNPACKED_H
#define SONDE_SOURCES_UNPACKED_H

#include <stdint.h>

#define UNPACKED_LEAST_BYTES (UINT64_C(1) << 30)

enum { UNPACKED_TIMES = 200 }; /* recordings pack to a hundredth at best */

struct unpacked {
	uint64_t max_bytes;    /* the user's limit; 0 if none was given */
	uint64_t packed_bytes; /* size of the input; for a pipe the bytes read so far */
	uint64_t bytes;        /* unpacked so far */
	uint64_t records[2];   /* perf.data records read so far: COMPRESSED, COMPRESSED2 */
};

/*
 * Counts unpacked bytes. -EFBIG with a message if they exceed the limit; path names the input.
 */
int unpacked_add(struct unpacked *u, uint64_t bytes, const char *path);

#endif
