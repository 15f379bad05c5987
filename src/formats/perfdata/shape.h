/* SPDX-License-Identifier: MIT */
/*
 * Checks the bytes of a record against its type. With a damaged header a record has a wrong type or
 * size.
 */
#ifndef SONDE_FORMATS_PERFDATA_SHAPE_H
#define SONDE_FORMATS_PERFDATA_SHAPE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Accepts any record but a SAMPLE. Returns true for unknown types. trailer_bytes: size of the
 * sample_id after records of the kernel. Expects sizes and padding of names as written by
 * recorders since perf 5.2, the first version that compresses.
 */
bool perfdata_has_shape(const uint8_t *rec, uint32_t len, uint32_t trailer_bytes, bool swap);

#endif
