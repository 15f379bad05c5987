/* SPDX-License-Identifier: MIT */
/*
 * The symbols of one file, gathered, put in order and looked up. The rules for ends and for several symbols at one address
 * are perf's. Where symbols overlap otherwise, the one that begins last is meant, or, of a file that grew while the program
 * ran, the one that was added last; perf's answer then depends on the shape of its tree (symbols/symbol_tree.h).
 *
 *	symbol_set_add() for each of a table, symbol_set_settle(), the next table ..., symbol_set_finish(), symbol_set_find()
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
	uint64_t start, end; /* offsets in the file; equal: the size is not told */
	uint64_t to_address; /* added to an offset: the address by the file's own tables */
	const char *raw;     /* the name as it stands in the file; lent by the set */
	const char *shown;   /* NULL: not yet made */
	uint32_t seq;        /* in the order in which symbols were added */
	uint8_t binding;
	bool is_plt;   /* "@plt" comes behind the name */
	bool is_ifunc; /* it, or another one at its place, is a function that is chosen at run time */
};

/* From start to the next stretch one symbol is meant. */
struct symbol_stretch {
	uint64_t start;
	uint32_t sym; /* place in syms; UINT32_MAX: none */
};

/* A name made for a comparison. */
struct compared_name {
	const char *raw, *shown; /* shown: raw or in text */
	bool is_plt;
	struct outbuf text;
};

struct symbol_tree;

struct symbol_set {
	struct arena arena;
	VEC(struct set_symbol) syms;    /* ascending, once settled */
	VEC(struct set_symbol) dropped; /* as_perf: doubles, in the order in which they went ... */
	VEC(uint32_t)
	tables; /* ... and how many had been added, had gone, pair by pair, after each table */
	VEC(void *) blobs;                    /* owned; what raw names lie in */
	VEC(struct symbol_stretch) stretches; /* ascending; what a lookup searches */
	struct symbol_tree *tree; /* owned; NULL: symbols do not overlap, or not as_perf */
	uint32_t *places;         /* owned; of the tree's symbols in syms */
	struct hash64 shown; /* raw name and is_plt -> the name to show, where it is another one */
	uint64_t shown_bytes, compared_bytes; /* made so far; bounded */
	struct compared_name compared[2];
	enum demangle_style demangle;
	size_t settled; /* the first ones of syms */
	bool broken;    /* settling failed */
	bool as_perf;
	bool latest_wins;
};

void symbol_set_init(struct symbol_set *s, enum demangle_style demangle, bool as_perf);
void symbol_set_done(struct symbol_set *s);
/* Owns a malloc'd blob from now on, also when it fails. */
int symbol_set_keep(struct symbol_set *s, void *take_blob);
int symbol_set_add(struct symbol_set *s, const struct set_symbol *sym);
/* Sorts what was added; ends: gives ends to symbols without a size, and leaves one symbol at each address. */
int symbol_set_settle(struct symbol_set *s, bool ends);
/* What was added since it was last settled goes, being in no order; all of it when settling or this fails. */
int symbol_set_finish(struct symbol_set *s);
struct set_symbol *symbol_set_find(struct symbol_set *s, uint64_t offset);
/* The name to show, made when first asked for; the raw one when out of memory. */
const char *symbol_set_name(struct symbol_set *s, struct set_symbol *sym);

#endif
