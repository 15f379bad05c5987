/* SPDX-License-Identifier: MIT */
/*
 * Kernel symbols out of a kallsyms text. Loaded whole, sorted by address, looked up by binary search; a cache of recent
 * answers in front. Ties and ends are perf's (docs/compat.md).
 */
#ifndef SONDE_SYMBOLS_KALLSYMS_H
#define SONDE_SYMBOLS_KALLSYMS_H

#include <stddef.h>
#include <stdint.h>

struct kallsyms;

struct kernel_symbol {
	const char *name; /* lent, as long as the table */
	const char
		*module; /* "[xfs]", "[kernel.kallsyms].init.text", or "" for the kernel itself */
	uint64_t start, end;
	uint8_t binding; /* 0 local, 1 global, 2 weak */
};

/* From a file (/proc/kallsyms, a copy); -ENODATA when all addresses are zero (kptr_restrict). */
int kallsyms_open(struct kallsyms **ret, const char *path);
/* From text in memory, which is copied. */
int kallsyms_read(struct kallsyms **ret, const char *text, size_t len, const char *origin);
/*
 * From another table: symbols with ends, ascending, whose names live in the set, which is the new table's. first, end: what
 * kallsyms_range() tells.
 */
struct symbol_set;
int kallsyms_new(struct kallsyms **ret, struct symbol_set **ret_set);
int kallsyms_add(struct kallsyms *k, const struct kernel_symbol *sym);
int kallsyms_finish(struct kallsyms *k, uint64_t first, uint64_t end);
const struct kernel_symbol *kallsyms_find(struct kallsyms *k, uint64_t addr); /* NULL: unknown */
/* Address of a symbol by name, 0 unknown. */
uint64_t kallsyms_address(struct kallsyms *k, const char *name);
/* From the first symbol to behind the kernel's own last one: those of modules come later. */
void kallsyms_range(const struct kallsyms *k, uint64_t *ret_first, uint64_t *ret_end);
/* Adds `by` (modulo 2^64) to all addresses: the text is of another boot, whose kernel lay elsewhere. */
void kallsyms_slide(struct kallsyms *k, uint64_t by);
void kallsyms_close(struct kallsyms *k); /* NULL is fine */

#endif
