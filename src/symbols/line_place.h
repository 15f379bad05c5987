/* SPDX-License-Identifier: MIT */
/*
 * One function at an address, with its place in the source; lines.h has what several of them mean.
 */
#ifndef SONDE_SYMBOLS_LINE_PLACE_H
#define SONDE_SYMBOLS_LINE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_place {
	const char *function; /* demangled if asked for; NULL unknown */
	const char *file;     /* with its folder; NULL unknown */
	uint32_t line;        /* 0 unknown */
	bool is_inlined;
};

struct line_places {
	struct line_place *v;
	size_t n, capacity;
};

#endif
