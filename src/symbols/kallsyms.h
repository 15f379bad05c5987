/* SPDX-License-Identifier: MIT */
/*
 * Kernel symbols of a kallsyms text, sorted by address. Lookups use a cache of recent answers, then
 * a binary search. Ties and ends follow perf (docs/compat.md).
 */
#ifndef SONDE_SYMBOLS_KALLSYMS_H
#define SONDE_SYMBOLS_KALLSYMS_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

struct kallsyms;

struct kernel_symbol {
	const char *name; /* borrowed as long as the table, as is the module's */
	/* "[xfs]", "[kernel.kallsyms].init.text", or "" for the kernel itself */
	const char *module;
	uint64_t start, end;
	uint8_t binding; /* 0 local, 1 global, 2 weak */
	bool is_object;  /* a variable, not a function */
};

/* Reads a file (/proc/kallsyms, a copy). -ENODATA if all addresses are zero (kptr_restrict). */
int kallsyms_open(struct kallsyms **ret, const char *path);
/* The same from a text in memory, which is borrowed for the call. */
int kallsyms_read(struct kallsyms **ret, const char *text, size_t len, const char *origin);
/*
 * Makes a table of symbols with ends, which are added in ascending order. The table copies their
 * names. first and end are the results of kallsyms_range().
 */
int kallsyms_new(struct kallsyms **ret);
int kallsyms_add(struct kallsyms *k, const struct kernel_symbol *sym);
int kallsyms_finish(struct kallsyms *k, uint64_t first, uint64_t end);
/* Borrowed until the next call; NULL if unknown. */
const struct kernel_symbol *kallsyms_find(struct kallsyms *k, uint64_t addr);
/* The address of a symbol by name; 0 if unknown. */
uint64_t kallsyms_address(struct kallsyms *k, const char *name);
/*
 * The range from the first symbol to the end of the kernel's own last one. Symbols of modules
 * follow.
 */
void kallsyms_range(const struct kallsyms *k, uint64_t *ret_first, uint64_t *ret_end);
/*
 * Adds `by` (modulo 2^64) to all addresses, for a text of another boot, whose kernel had another
 * address.
 */
void kallsyms_slide(struct kallsyms *k, uint64_t by);
void kallsyms_close(struct kallsyms *k); /* NULL is fine */

#endif
