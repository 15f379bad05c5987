/* SPDX-License-Identifier: MIT */
/*
 * A red-black tree of symbols by their start, as in perf. Among overlapping symbols perf finds the
 * first on its way down. For its rule overlaps_by_tree this tree therefore gets the same insertions
 * and removals in the same order.
 */
#ifndef SONDE_SYMBOLS_SYMBOL_TREE_H
#define SONDE_SYMBOLS_SYMBOL_TREE_H

#include <stddef.h>
#include <stdint.h>

struct symbol_tree;

int symbol_tree_new(struct symbol_tree **ret, size_t nodes);
void symbol_tree_free(struct symbol_tree *t); /* NULL is fine */
/*
 * node: a number below `nodes`, used at most once. A node is sorted after earlier nodes with the
 * same start.
 */
void symbol_tree_insert(struct symbol_tree *t, uint32_t node, uint64_t start, uint64_t end);
void symbol_tree_remove(struct symbol_tree *t, uint32_t node);
/* The first node on the way down that contains addr; UINT32_MAX if none. */
uint32_t symbol_tree_find(const struct symbol_tree *t, uint64_t addr);

#endif
