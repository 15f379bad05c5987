/* SPDX-License-Identifier: MIT */
/* Sizes as users write them: 512K, 4M, 1G. */
#ifndef SONDE_BASE_SIZE_H
#define SONDE_BASE_SIZE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Parses decimal digits at the beginning of text; *ret_rest is the text after them. False if there
 * are none or the number is too large.
 */
bool size_digits(const char *text, uint64_t *ret, const char **ret_rest);
/*
 * The number of bits by which one of the units B K M G, in either case, shifts the number before
 * it; -1 for any other text.
 */
int size_unit_shift(const char *unit);
/* Parses a number and a unit, in bytes. False if text is anything else or the size is too large. */
bool size_parse(const char *text, uint64_t *ret_bytes);

#endif
