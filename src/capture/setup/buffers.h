/* SPDX-License-Identifier: MIT */
/* How large the buffers are that the kernel writes events to, and how full one is when it wakes the recorder. */
#ifndef SONDE_CAPTURE_SETUP_BUFFERS_H
#define SONDE_CAPTURE_SETUP_BUFFERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/say.h"

/* -m as it was written: PAGES[,AUX]. *ret_pages: 0 when only AUX is given. -EBADR: it is not understood. */
int buffers_parse(const char *text, const struct say *say, uint64_t *ret_pages);
/*
 * Pages of data of each of nr buffers. text, given: -m as it was written and how many pages that is; NULL and 0: it is
 * chosen. -EBADR: too many.
 */
int buffers_choose(const char *text, uint64_t given, size_t nr, const struct say *say,
		   size_t *ret_pages);
/* is_zipped: what is fetched is compressed. */
uint32_t buffers_wakeup_bytes(size_t pages, bool is_zipped);

#endif
