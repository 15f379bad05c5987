/* SPDX-License-Identifier: MIT */
/* /tmp/perf-PID.map: where a JIT tells which functions it made, a line each: START SIZE NAME, hexadecimal. */
#ifndef SONDE_SYMBOLS_PERF_MAP_H
#define SONDE_SYMBOLS_PERF_MAP_H

#include "symbols/symbol_set.h"

/*
 * Some three million functions, as their lines usually are; a JIT that appends without end is
 * beyond it one day. Short lines take 6.5 times their bytes of memory. A recording may name any
 * number of processes, so the sum is bounded, too.
 */
#define PERF_MAP_MAX_BYTES  (UINT64_C(256) << 20)
#define PERF_MAPS_MAX_BYTES (UINT64_C(512) << 20)

/*
 * Only a regular file of root's or this user's, as in perf: whoever may write into /tmp must not name our functions.
 * any_owner: of anybody. A map above PERF_MAP_MAX_BYTES, or above *left, is not read: -EFBIG. *left
 * loses the bytes of one that is.
 */
int perf_map_add(struct symbol_set *s, const char *path, bool any_owner, uint64_t *left);
int perf_map_parse(struct symbol_set *s, char *text,
		   size_t len); /* text[len] is there; it is written into */

#endif
