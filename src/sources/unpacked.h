/* SPDX-License-Identifier: MIT */
/*
 * How much a packed input may unpack to: a packed file of 32 KB can hold 1 GB of zeros, which would
 * fill the disk with temporary files. Unless the user says otherwise the limit is UNPACKED_TIMES
 * the packed bytes, and never below UNPACKED_LEAST_BYTES.
 */
#ifndef SONDE_SOURCES_UNPACKED_H
#define SONDE_SOURCES_UNPACKED_H

#include <stdint.h>

#define UNPACKED_LEAST_BYTES (UINT64_C(1) << 30)

enum { UNPACKED_TIMES = 200 }; /* recordings pack to a hundredth at best */

struct unpacked {
	uint64_t max_bytes;    /* the user's limit; 0: none was given */
	uint64_t packed_bytes; /* of the input; of a pipe those that were read */
	uint64_t bytes;        /* unpacked so far */
	uint64_t records[2];   /* of perf.data, read so far: COMPRESSED, COMPRESSED2 */
};

/*
 * Counts bytes that were unpacked. 0, or -EFBIG with a message if they are more than may be: path
 * names the input.
 */
int unpacked_add(struct unpacked *u, uint64_t bytes, const char *path);

#endif
