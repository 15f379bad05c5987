/* SPDX-License-Identifier: MIT */
#include "symbols/symbol_tree.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"

enum { LEFT, RIGHT };

/* Number 0 is the black leaf below all nodes; nodes count from 1. */
struct node {
	uint64_t start, end;
	uint32_t parent, child[2];
	bool red;
};

struct symbol_tree {
	uint32_t root;
	struct node nodes[];
};

int symbol_tree_new(struct symbol_tree **ret, size_t nodes)
{
	struct symbol_tree *t;

	if (nodes >= UINT32_MAX)
		return err_set(-EFBIG, "%zu symbols are too many", nodes);
	t = calloc(1, sizeof(*t) + (nodes + 1) * sizeof(*t->nodes));
	if (!t)
		return err_nomem();
	*ret = t;
	return 0;
}

void symbol_tree_free(struct symbol_tree *t)
{
	free(t);
}

/* Puts `by` in the place of n below n's parent. */
static void symbol_tree_replace(struct symbol_tree *t, uint32_t n, uint32_t by)
{
	uint32_t parent = t->nodes[n].parent;

	if (!parent)
		t->root = by;
	else
		t->nodes[parent].child[t->nodes[parent].child[RIGHT] == n] = by;
	t->nodes[by].parent = parent;
}

/*
 *	      n                 c
 *	    a   c      ->     n   e      side LEFT: n moves down to the left
 *	       d e           a d
 */
static void symbol_tree_rotate(struct symbol_tree *t, uint32_t n, int side)
{
	struct node *nodes = t->nodes;
	uint32_t c = nodes[n].child[!side], d = nodes[c].child[side];

	nodes[n].child[!side] = d;
	if (d)
		nodes[d].parent = n;
	symbol_tree_replace(t, n, c);
	nodes[c].child[side] = n;
	nodes[n].parent = c;
}

void symbol_tree_insert(struct symbol_tree *t, uint32_t node, uint64_t start, uint64_t end)
{
	struct node *nodes = t->nodes;
	uint32_t n = node + 1, parent = 0, at = t->root;
	int side = LEFT;

	while (at) {
		parent = at;
		side = start < nodes[at].start ? LEFT : RIGHT;
		at = nodes[at].child[side];
	}
	nodes[n] = (struct node){ .start = start, .end = end, .parent = parent, .red = true };
	if (parent)
		nodes[parent].child[side] = n;
	else
		t->root = n;
	while (nodes[parent = nodes[n].parent].red) {
		uint32_t grand = nodes[parent].parent, uncle;

		side = nodes[grand].child[RIGHT] == parent;
		uncle = nodes[grand].child[!side];
		if (nodes[uncle].red) {
			nodes[parent].red = nodes[uncle].red = false;
			nodes[grand].red = true;
			n = grand;
			continue;
		}
		if (nodes[parent].child[!side] == n) {
			symbol_tree_rotate(t, parent, side);
			n = parent;
			parent = nodes[n].parent;
		}
		nodes[parent].red = false;
		nodes[grand].red = true;
		symbol_tree_rotate(t, grand, !side);
	}
	nodes[t->root].red = false;
}

/* n's side has one black node too few. */
static void symbol_tree_mend(struct symbol_tree *t, uint32_t n)
{
	struct node *nodes = t->nodes;

	while (n != t->root && !nodes[n].red) {
		uint32_t parent = nodes[n].parent, sibling;
		int side = nodes[parent].child[RIGHT] == n;

		sibling = nodes[parent].child[!side];
		if (nodes[sibling].red) {
			nodes[sibling].red = false;
			nodes[parent].red = true;
			symbol_tree_rotate(t, parent, side);
			sibling = nodes[parent].child[!side];
		}
		if (!nodes[nodes[sibling].child[LEFT]].red &&
		    !nodes[nodes[sibling].child[RIGHT]].red) {
			nodes[sibling].red = true;
			n = parent;
			continue;
		}
		if (!nodes[nodes[sibling].child[!side]].red) {
			nodes[nodes[sibling].child[side]].red = false;
			nodes[sibling].red = true;
			symbol_tree_rotate(t, sibling, !side);
			sibling = nodes[parent].child[!side];
		}
		nodes[sibling].red = nodes[parent].red;
		nodes[parent].red = false;
		nodes[nodes[sibling].child[!side]].red = false;
		symbol_tree_rotate(t, parent, side);
		n = t->root;
	}
	nodes[n].red = false;
}

void symbol_tree_remove(struct symbol_tree *t, uint32_t node)
{
	struct node *nodes = t->nodes;
	uint32_t n = node + 1, lower, next;
	bool was_red = nodes[n].red;

	/* This sets the parent even of the leaf, for symbol_tree_mend(). */
	if (!nodes[n].child[LEFT] || !nodes[n].child[RIGHT]) {
		lower = nodes[n].child[!nodes[n].child[LEFT] ? RIGHT : LEFT];
		symbol_tree_replace(t, n, lower);
	} else {
		for (next = nodes[n].child[RIGHT]; nodes[next].child[LEFT];)
			next = nodes[next].child[LEFT];
		was_red = nodes[next].red;
		lower = nodes[next].child[RIGHT];
		if (nodes[next].parent == n) {
			nodes[lower].parent = next;
		} else {
			symbol_tree_replace(t, next, lower);
			nodes[next].child[RIGHT] = nodes[n].child[RIGHT];
			nodes[nodes[next].child[RIGHT]].parent = next;
		}
		symbol_tree_replace(t, n, next);
		nodes[next].child[LEFT] = nodes[n].child[LEFT];
		nodes[nodes[next].child[LEFT]].parent = next;
		nodes[next].red = nodes[n].red;
	}
	if (!was_red && t->root)
		symbol_tree_mend(t, lower);
	nodes[0] = (struct node){ 0 };
}

uint32_t symbol_tree_find(const struct symbol_tree *t, uint64_t addr)
{
	uint32_t n = t->root;

	while (n) {
		const struct node *at = &t->nodes[n];

		if (addr < at->start)
			n = at->child[LEFT];
		else if (addr > at->end || (addr == at->end && addr != at->start))
			n = at->child[RIGHT];
		else
			return n - 1;
	}
	return UINT32_MAX;
}
