/* SPDX-License-Identifier: MIT */
/*
 * /tmp/perf-PID.map: the file in which a JIT lists its functions, one per line: START SIZE NAME,
 * hexadecimal.
 */
#ifndef SONDE_SYMBOLS_PERF_MAP_H
#define SONDE_SYMBOLS_PERF_MAP_H

#include "symbols/symbol_set.h"

/*
 * Room for some three million functions with lines of usual length. A JIT that appends without end
 * exceeds it one day. Short lines take 6.5 times their bytes of memory. A recording may name any
 * number of processes, so the sum is also limited.
 */
#define PERF_MAP_MAX_BYTES  (UINT64_C(256) << 20)
#define PERF_MAPS_MAX_BYTES (UINT64_C(512) << 20)

/*
 * Reads only a regular file owned by root or this user, as perf does: others who may write to /tmp
 * must not name our functions. any_owner: accept any owner. A map larger than PERF_MAP_MAX_BYTES or
 * *left is not read: -EFBIG. The bytes of a map that is read are subtracted from *left.
 */
int perf_map_add(struct symbol_set *s, const char *path, bool any_owner, uint64_t *left);
/* text[len] must exist; the text is modified */
int perf_map_parse(struct symbol_set *s, char *text, size_t len);

#endif
