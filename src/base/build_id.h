/* SPDX-License-Identifier: MIT */
/*
 * struct build_id: the bytes with which a linker marks one build of a file, passed by value. They
 * become text only in output, in paths and in the structs of sonde.h.
 *
 *	struct build_id id = build_id_of(note, len);
 *	char hex[BUILD_ID_HEX_CHARS];
 *	if (build_id_is_known(&id))
 *		puts(build_id_hex(&id, hex));
 */
#ifndef SONDE_BASE_BUILD_ID_H
#define SONDE_BASE_BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	BUILD_ID_MAX_BYTES = 32, /* a SHA-256, the longest that a linker makes */
	BUILD_ID_HEX_CHARS = 2 * BUILD_ID_MAX_BYTES + 1,
	BUILD_ID_PATH_CHARS = sizeof(".build-id//") + 2 * BUILD_ID_MAX_BYTES
};

struct build_id {
	uint8_t len;                       /* 0 if unknown */
	uint8_t bytes[BUILD_ID_MAX_BYTES]; /* zeros after len */
};

static inline bool build_id_is_known(const struct build_id *id)
{
	return id->len != 0;
}

/* Two unknown build ids are equal. */
bool build_id_equal(const struct build_id *a, const struct build_id *b);
/*
 * True if a recording may store id as `recorded`: recorders pad short ids with zeros to the length
 * of their field. False if either is unknown.
 */
bool build_id_is_recorded_as(const struct build_id *id, const struct build_id *recorded);

/* The result is unknown if len is 0 or more than BUILD_ID_MAX_BYTES. */
struct build_id build_id_of(const void *bytes, size_t len);
/*
 * Parses pairs of hex digits in either case. The result is unknown if there is any other character
 * or too many digits.
 */
struct build_id build_id_of_hex(const char *hex);

/* Lower-case digits; "" if the id is unknown. Both functions return ret. */
const char *build_id_hex(const struct build_id *id, char ret[BUILD_ID_HEX_CHARS]);
/* ".build-id/ab/cdef": the path of a known id in a cache and below /usr/lib/debug. */
const char *build_id_path(const struct build_id *id, char ret[BUILD_ID_PATH_CHARS]);

#endif
