/* SPDX-License-Identifier: MIT */
/*
 * The size of the buffers that the kernel writes events to, and the amount of data that wakes the
 * recorder.
 */
#ifndef SONDE_CAPTURE_SETUP_BUFFERS_H
#define SONDE_CAPTURE_SETUP_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/say.h"

/* Parses -m: PAGES[,AUX]. *ret_pages is 0 if only AUX is given. -EBADR if the text is wrong. */
int buffers_parse(const char *text, const struct say *say, uint64_t *ret_pages);
/*
 * The number of data pages for each of nr buffers. text and given: -m as written and its number of
 * pages; NULL and 0 if not given. -EBADR if there are too many.
 */
int buffers_choose(const char *text, uint64_t given, size_t nr, const struct say *say,
		   size_t *ret_pages);
/* is_zipped: the data is compressed when it is read. */
uint32_t buffers_wakeup_bytes(size_t pages, bool is_zipped);

#endif
