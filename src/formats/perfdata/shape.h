/* SPDX-License-Identifier: MIT */
/*
 * Checks the bytes of a record against its type. A damaged header gives a record another type
 * or size.
 */
#ifndef SONDE_FORMATS_PERFDATA_SHAPE_H
#define SONDE_FORMATS_PERFDATA_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Takes any record but a SAMPLE. Returns true for unknown types. trailer_bytes: of the sample_id
 * behind records of the kernel. Sizes and padding of names are those of recorders since perf 5.2,
 * the first one that compresses.
 */
bool perfdata_has_shape(const uint8_t *rec, uint32_t len, uint32_t trailer_bytes, bool swap);

#endif
