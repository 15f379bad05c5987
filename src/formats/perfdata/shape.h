/* SPDX-License-Identifier: MIT */
/*
 * Whether the bytes of a record are such as its type has them: a header that was damaged makes a record of another type
 * or size out of them.
 */
#ifndef SONDE_FORMATS_PERFDATA_SHAPE_H
#define SONDE_FORMATS_PERFDATA_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Of a record of the kernel or the tool but SAMPLE; true for types that nothing is known of. trailer_bytes: of the
 * sample_id behind records of the kernel. Sizes and names are as every recorder has written them since 5.2, the first
 * perf that compresses; older ones pad them otherwise.
 */
bool perfdata_has_shape(const uint8_t *rec, uint32_t len, uint32_t trailer_bytes, bool swap);

#endif
