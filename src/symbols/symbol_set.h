/* SPDX-License-Identifier: MIT */
/*
 * Collects, sorts and looks up the symbols of one file. The rules for ends and for several symbols
 * at one address are perf's. If symbols overlap otherwise, the one that begins last is preferred.
 * In a file that grew while the program ran, the one that was added last is preferred. perf's
 * answer depends on the shape of its tree (symbols/symbol_tree.h).
 *
 *	symbol_set_add() for each symbol of a table, symbol_set_settle(), the next table ...,
 *	symbol_set_finish(), symbol_set_find()
 */
#ifndef SONDE_SYMBOLS_SYMBOL_SET_H
#define SONDE_SYMBOLS_SYMBOL_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/hash.h"
#include "base/outbuf.h"
#include "base/vec.h"
#include "symbols/demangle.h"

struct set_symbol {
	uint64_t start, end; /* offsets in the file; equal if the size is unknown */
	uint64_t to_address; /* added to an offset gives the file address */
	const char *raw;     /* the name in the file; borrowed from the set */
	const char *shown;   /* NULL until it is made */
	uint32_t seq;        /* the order in which symbols were added */
	uint8_t binding;
	bool is_object; /* a variable, not a function */
	bool is_plt;    /* print "@plt" after the name */
	/* this symbol, or another one at its place, is a function chosen at run time (IFUNC) */
	bool is_ifunc;
};

/* From start to the next stretch, lookups find the same symbol. */
struct symbol_stretch {
	uint64_t start;
	uint32_t sym; /* index in syms; UINT32_MAX if none */
};

/* A name made for a comparison. */
struct compared_name {
	const char *raw, *shown; /* shown is raw or in text */
	bool is_plt;
	struct outbuf text;
};

struct symbol_tree;

struct symbol_set {
	struct arena arena;
	VEC(struct set_symbol) syms; /* ascending after settling */
	/* as_perf: duplicates, in the order in which they were dropped ... */
	VEC(struct set_symbol) dropped;
	VEC(uint32_t)
	tables; /* ... and pairs of counts after each table: symbols added, symbols dropped */
	VEC(void *) blobs;                    /* owned; contain the raw names */
	VEC(struct symbol_stretch) stretches; /* ascending; lookups search these */
	struct symbol_tree *tree; /* owned; NULL if symbols do not overlap, or not as_perf */
	uint32_t *places;         /* owned; indexes in syms of the tree's symbols */
	struct hash64 shown;      /* raw name and is_plt -> the name to print, if it differs */
	uint64_t shown_bytes, compared_bytes; /* total so far; limited */
	struct compared_name compared[2];
	enum demangle_style demangle;
	size_t settled; /* number of settled symbols, which are first in syms */
	bool broken;    /* settling failed */
	bool as_perf;
	bool latest_wins;
};

void symbol_set_init(struct symbol_set *s, enum demangle_style demangle, bool as_perf);
void symbol_set_done(struct symbol_set *s);
/* Takes over a malloc'd blob, even on failure. */
int symbol_set_keep(struct symbol_set *s, void *take_blob);
int symbol_set_add(struct symbol_set *s, const struct set_symbol *sym);
/*
 * Sorts the added symbols. ends: sets the ends of symbols without a size, and keeps one symbol per
 * address.
 */
int symbol_set_settle(struct symbol_set *s, bool ends);
/*
 * Drops symbols that were added after the last settling, because they are not sorted. Drops all if
 * settling or this call fails.
 */
int symbol_set_finish(struct symbol_set *s);
struct set_symbol *symbol_set_find(struct symbol_set *s, uint64_t offset);
/* The name to print, made on first use; the raw name if out of memory. */
const char *symbol_set_name(struct symbol_set *s, struct set_symbol *sym);

#endif
