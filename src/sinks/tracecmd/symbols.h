/* SPDX-License-Identifier: MIT */
/*
 * The kernel's symbols as libtraceevent finds them. If several are at an address, the search itself
 * decides which one it meets; the last symbol of all has no length.
 */
#ifndef SONDE_SINKS_TRACECMD_SYMBOLS_H
#define SONDE_SINKS_TRACECMD_SYMBOLS_H

#include "base/vec.h"

struct tracecmd_symbol {
	uint64_t addr;
	const char *name; /* borrowed from the text of kallsyms, not NUL-terminated */
	uint32_t len;
	uint32_t line;
	uint32_t id; /* of its name in the sink's string pool; 0 until it was asked for */
};

struct tracecmd_symbols {
	VEC(struct tracecmd_symbol) v; /* ascending; later lines first at equal addresses */
};

/* Reads the text of kallsyms, which must stay. Fails with -ENOMEM only. */
int tracecmd_symbols_read(struct tracecmd_symbols *ret, const char *text, size_t len);
/* NULL if no symbol has the address. */
struct tracecmd_symbol *tracecmd_symbols_find(const struct tracecmd_symbols *s, uint64_t addr);
void tracecmd_symbols_done(struct tracecmd_symbols *s);

#endif
