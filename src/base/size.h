/* SPDX-License-Identifier: MIT */
/* Sizes as users write them: 512K, 4M, 1G. */
#ifndef SONDE_BASE_SIZE_H
#define SONDE_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Decimal digits at the beginning of text, *ret_rest what follows; false if there are none or the
 * number is too large.
 */
bool size_digits(const char *text, uint64_t *ret, const char **ret_rest);
/*
 * How far one of the units B K M G, lower case as well, shifts the number before it; -1 if it is
 * none of them.
 */
int size_unit_shift(const char *unit);
/* A number and a unit, in bytes; false if text is anything else or the size is too large. */
bool size_parse(const char *text, uint64_t *ret_bytes);

#endif
