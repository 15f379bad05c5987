/* SPDX-License-Identifier: MIT */
/*
 * One function at an address, with its place in the source. lines.h explains the order of inlined
 * functions at one address.
 */
#ifndef SONDE_SYMBOLS_LINE_PLACE_H
#define SONDE_SYMBOLS_LINE_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_place {
	const char *function; /* demangled if requested; NULL if unknown */
	const char *file;     /* with its folder; NULL if unknown */
	uint32_t line;        /* 0 if unknown */
	bool is_inlined;
};

struct line_places {
	struct line_place *v;
	size_t n, capacity;
};

#endif
