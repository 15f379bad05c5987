/* SPDX-License-Identifier: MIT */
/*
 * Values of settings that several modules of the recorder use. option: "--max-size", for messages.
 * -EBADR on a mistake.
 */
#ifndef SONDE_CAPTURE_SETUP_VALUES_H
#define SONDE_CAPTURE_SETUP_VALUES_H

#include <stdint.h>

/* A decimal number from min to max. */
int capture_value_number(const char *option, const char *text, uint64_t min, uint64_t max,
			 uint64_t *ret);
/* A number with a unit B, K, M or G (in either case), in bytes. */
int capture_value_size(const char *option, const char *text, uint64_t *ret_bytes);
/* A number of pages, or a size, rounded up to complete pages; at least one. */
int capture_value_pages(const char *option, const char *text, uint64_t *ret_pages);

#endif
