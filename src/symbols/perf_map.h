/* SPDX-License-Identifier: MIT */
/* /tmp/perf-PID.map: where a JIT tells which functions it made, a line each: START SIZE NAME, hexadecimal. */
#ifndef SONDE_SYMBOLS_PERF_MAP_H
#define SONDE_SYMBOLS_PERF_MAP_H

#include "symbols/symbol_set.h"

/*
 * Only a regular file of root's or this user's, as in perf: whoever may write into /tmp must not name our functions.
 * any_owner: of anybody.
 */
int perf_map_add(struct symbol_set *s, const char *path, bool any_owner);
int perf_map_parse(struct symbol_set *s, char *text,
		   size_t len); /* text[len] is there; it is written into */

#endif
