/* SPDX-License-Identifier: MIT */
#include "profile/treesort.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/err.h"

enum side { LEFT, RIGHT };

/* Node 0 is the empty leaf, which is black; element i is node i + 1. */
struct treesort_node {
	uint32_t parent;
	uint32_t child[2];
	bool is_red;
};

struct treesort {
	struct treesort_node *nodes;
	uint32_t root;
};

static enum side treesort_side(const struct treesort *t, uint32_t node)
{
	return t->nodes[t->nodes[node].parent].child[RIGHT] == node ? RIGHT : LEFT;
}

/*
 * Replaces a node with its child on the other side; the node becomes that child's child on `side`.
 */
static void treesort_rotate(struct treesort *t, uint32_t node, enum side side)
{
	struct treesort_node *nodes = t->nodes;
	const uint32_t up = nodes[node].child[!side], parent = nodes[node].parent;
	const uint32_t moved = nodes[up].child[side];

	if (!parent)
		t->root = up;
	else
		nodes[parent].child[treesort_side(t, node)] = up;
	nodes[up].parent = parent;
	nodes[up].child[side] = node;
	nodes[node].parent = up;
	nodes[node].child[!side] = moved;
	if (moved)
		nodes[moved].parent = node;
}

/* Restores the colors above a red node: makes its parent black, or moves the conflict up. */
static void treesort_mend(struct treesort *t, uint32_t node)
{
	struct treesort_node *nodes = t->nodes;

	while (nodes[nodes[node].parent].is_red) {
		uint32_t parent = nodes[node].parent;
		const uint32_t grand = nodes[parent].parent;
		const enum side side = treesort_side(t, parent);
		const uint32_t uncle = nodes[grand].child[!side];

		if (nodes[uncle].is_red) {
			nodes[parent].is_red = nodes[uncle].is_red = false;
			nodes[grand].is_red = true;
			node = grand;
			continue;
		}
		if (treesort_side(t, node) != side) {
			treesort_rotate(t, parent, side);
			node = parent;
			parent = nodes[node].parent;
		}
		nodes[parent].is_red = false;
		nodes[grand].is_red = true;
		treesort_rotate(t, grand, !side);
	}
	nodes[t->root].is_red = false;
}

static uint32_t treesort_first(const struct treesort *t, uint32_t node)
{
	while (node && t->nodes[node].child[LEFT])
		node = t->nodes[node].child[LEFT];
	return node;
}

static uint32_t treesort_next(const struct treesort *t, uint32_t node)
{
	if (t->nodes[node].child[RIGHT])
		return treesort_first(t, t->nodes[node].child[RIGHT]);
	while (t->nodes[node].parent && treesort_side(t, node) == RIGHT)
		node = t->nodes[node].parent;
	return t->nodes[node].parent;
}

int treesort(uint32_t *v, size_t n, int (*compare)(const void *a, const void *b, void *ctx),
	     void *ctx)
{
	struct treesort t = { .nodes = calloc(n + 1, sizeof(*t.nodes)) };
	uint32_t *sorted = calloc(n + 1, sizeof(*sorted));
	size_t i = 0;

	if (!t.nodes || !sorted) {
		free(t.nodes);
		free(sorted);
		return err_nomem();
	}
	for (i = 0; i < n; i++) {
		const uint32_t node = (uint32_t)i + 1;
		uint32_t parent = 0, *link = &t.root;

		while (*link) {
			parent = *link;
			link = &t.nodes[parent]
					.child[compare(&v[i], &v[parent - 1], ctx) < 0 ? LEFT
										       : RIGHT];
		}
		*link = node;
		t.nodes[node].parent = parent;
		t.nodes[node].is_red = true;
		treesort_mend(&t, node);
	}
	i = 0;
	for (uint32_t node = treesort_first(&t, t.root); node; node = treesort_next(&t, node))
		sorted[i++] = v[node - 1];
	for (i = 0; i < n; i++)
		v[i] = sorted[i];
	free(sorted);
	free(t.nodes);
	return 0;
}
