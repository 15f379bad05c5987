/* SPDX-License-Identifier: MIT */
#include "state/address_space.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct code_piece {
	uint64_t start, end; /* as in a mapping */
	uint32_t known;      /* bit i: bytes[i] is known */
	uint8_t bytes[CODE_PIECE_BYTES];
};
_Static_assert(CODE_PIECE_BYTES == 32, "a bit of `known` for each byte");
_Static_assert(sizeof(struct code_piece) <= sizeof(struct mapping), "copied as a mapping");

struct map_node {
	union {
		struct mapping m; /* a mapping or a symbol */
		struct code_piece code;
	};
	struct map_node *left, *right; /* one reference each */
	unsigned refs;
	int height; /* height of the tree below and including this node: 1 without children */
};

/* ---- nodes ---------------------------------------------------------------------------------- */

static struct map_node *space_node_new(const struct mapping *m)
{
	struct map_node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->m = *m;
	n->refs = 1;
	n->height = 1;
	return n;
}

static struct map_node *space_node_ref(struct map_node *n)
{
	if (n)
		n->refs++;
	return n;
}

static void space_node_unref(struct map_node *n)
{
	if (!n || --n->refs)
		return;
	space_node_unref(n->left);
	space_node_unref(n->right);
	free(n);
}

static int space_map_node_height(const struct map_node *n)
{
	return n ? n->height : 0;
}

static void space_map_node_measure(struct map_node *n)
{
	int left = space_map_node_height(n->left), right = space_map_node_height(n->right);

	n->height = 1 + (left > right ? left : right);
}

/*
 * The functions below take over the reference to a node and return one. A node with further
 * references is copied. If memory runs out, *failed is set and the subtree is lost; the rest
 * remains a valid tree.
 */
static struct map_node *space_map_node_own(struct map_node *n, bool *failed)
{
	struct map_node *copy;

	if (!n || n->refs == 1)
		return n;
	copy = malloc(sizeof(*copy));
	if (!copy) {
		*failed = true;
		space_node_unref(n);
		return NULL;
	}
	*copy = *n;
	copy->refs = 1;
	space_node_ref(copy->left);
	space_node_ref(copy->right);
	n->refs--;
	return copy;
}

static struct map_node *space_rotate_right(struct map_node *n)
{
	struct map_node *top = n->left;

	n->left = top->right;
	top->right = n;
	space_map_node_measure(n);
	space_map_node_measure(top);
	return top;
}

static struct map_node *space_rotate_left(struct map_node *n)
{
	struct map_node *top = n->right;

	n->right = top->left;
	top->left = n;
	space_map_node_measure(n);
	space_map_node_measure(top);
	return top;
}

/* n is owned. Its sides differ in height by 2 at most, except after a failure. */
static struct map_node *space_map_node_balance(struct map_node *n, bool *failed)
{
	space_map_node_measure(n);
	if (space_map_node_height(n->left) > space_map_node_height(n->right) + 1) {
		n->left = space_map_node_own(n->left, failed);
		if (n->left &&
		    space_map_node_height(n->left->left) < space_map_node_height(n->left->right)) {
			n->left->right = space_map_node_own(n->left->right, failed);
			if (n->left->right)
				n->left = space_rotate_left(n->left);
		}
		if (n->left)
			return space_rotate_right(n);
	} else if (space_map_node_height(n->right) > space_map_node_height(n->left) + 1) {
		n->right = space_map_node_own(n->right, failed);
		if (n->right && space_map_node_height(n->right->right) <
					space_map_node_height(n->right->left)) {
			n->right->left = space_map_node_own(n->right->left, failed);
			if (n->right->left)
				n->right = space_rotate_right(n->right);
		}
		if (n->right)
			return space_rotate_left(n);
	}
	space_map_node_measure(n);
	return n;
}

/* No mapping in the tree may overlap it. */
static struct map_node *space_map_node_insert(struct map_node *n, const struct mapping *m,
					      bool *failed)
{
	if (!n) {
		n = space_node_new(m);
		*failed |= !n;
		return n;
	}
	n = space_map_node_own(n, failed);
	if (!n)
		return NULL;
	if (m->start < n->m.start)
		n->left = space_map_node_insert(n->left, m, failed);
	else
		n->right = space_map_node_insert(n->right, m, failed);
	return space_map_node_balance(n, failed);
}

/* Sets the bytes of the piece that the mask selects; other bytes of an existing piece are kept. */
static struct map_node *space_write_piece(struct map_node *n, const struct code_piece *p,
					  uint32_t mask, bool *failed)
{
	if (!n) {
		n = space_node_new(&(struct mapping){ 0 });
		*failed |= !n;
		if (n)
			n->code = *p;
		return n;
	}
	n = space_map_node_own(n, failed);
	if (!n)
		return NULL;
	if (p->start < n->code.start) {
		n->left = space_write_piece(n->left, p, mask, failed);
	} else if (p->start > n->code.start) {
		n->right = space_write_piece(n->right, p, mask, failed);
	} else {
		for (unsigned i = 0; i < CODE_PIECE_BYTES; i++) {
			if (mask >> i & 1)
				n->code.bytes[i] = p->bytes[i];
		}
		n->code.known = (n->code.known & ~mask) | (p->known & mask);
	}
	return space_map_node_balance(n, failed);
}

/* Removes the node itself, which has at most one side. */
static struct map_node *space_map_node_drop(struct map_node *n)
{
	struct map_node *rest = n->left ? n->left : n->right;

	n->left = n->right = NULL;
	space_node_unref(n);
	return rest;
}

static struct map_node *space_remove_first(struct map_node *n, struct mapping *ret, bool *failed)
{
	n = space_map_node_own(n, failed);
	if (!n)
		return NULL;
	if (!n->left) {
		*ret = n->m;
		return space_map_node_drop(n);
	}
	n->left = space_remove_first(n->left, ret, failed);
	return space_map_node_balance(n, failed);
}

/* Removes the mapping that begins at start, which must exist. */
static struct map_node *space_remove_at(struct map_node *n, uint64_t start, bool *failed)
{
	struct mapping next = { 0 };

	n = space_map_node_own(n, failed);
	if (!n)
		return NULL;
	if (start < n->m.start) {
		n->left = space_remove_at(n->left, start, failed);
	} else if (start > n->m.start) {
		n->right = space_remove_at(n->right, start, failed);
	} else if (!n->left || !n->right) {
		return space_map_node_drop(n);
	} else {
		n->right = space_remove_first(n->right, &next, failed);
		n->m = next;
	}
	return space_map_node_balance(n, failed);
}

/* ---- ranges ---------------------------------------------------------------------------------- */

/*
 * A range of mappings is removed at once, by splits and joins of trees, whose cost is the logarithm
 * of their size. The removed nodes may be shared with a thousand forks that keep them, so they must
 * not be visited one by one.
 */

/* Joins left, middle and right, in this order. middle is an owned node whose sides are ignored. */
static struct map_node *space_map_node_join(struct map_node *left, struct map_node *middle,
					    struct map_node *right, bool *failed)
{
	if (space_map_node_height(left) > space_map_node_height(right) + 1 &&
	    (left = space_map_node_own(left, failed)) != NULL) {
		left->right = space_map_node_join(left->right, middle, right, failed);
		return space_map_node_balance(left, failed);
	}
	if (space_map_node_height(right) > space_map_node_height(left) + 1 &&
	    (right = space_map_node_own(right, failed)) != NULL) {
		right->left = space_map_node_join(left, middle, right->left, failed);
		return space_map_node_balance(right, failed);
	}
	middle->left = left;
	middle->right = right;
	space_map_node_measure(middle);
	return middle;
}

/* Splits a tree into mappings that begin before addr and mappings that begin at or after addr. */
static void space_map_node_split(struct map_node *n, uint64_t addr, struct map_node **ret_before,
				 struct map_node **ret_behind, bool *failed)
{
	struct map_node *left, *right, *middle;

	*ret_before = *ret_behind = NULL;
	n = space_map_node_own(n, failed);
	if (!n)
		return;
	left = n->left;
	right = n->right;
	if (n->m.start < addr) {
		space_map_node_split(right, addr, &middle, ret_behind, failed);
		*ret_before = space_map_node_join(left, n, middle, failed);
	} else {
		space_map_node_split(left, addr, ret_before, &middle, failed);
		*ret_behind = space_map_node_join(middle, n, right, failed);
	}
}

static const struct mapping *space_last_of(const struct map_node *n)
{
	while (n && n->right)
		n = n->right;
	return n ? &n->m : NULL;
}

/* Shortens the last mapping to end at `end`. */
static struct map_node *space_end_last(struct map_node *n, uint64_t end, bool *failed)
{
	n = space_map_node_own(n, failed);
	if (n && n->right)
		n->right = space_end_last(n->right, end, failed);
	else if (n)
		n->m.end = end;
	return n;
}

/* ---- spaces --------------------------------------------------------------------------------- */

int address_space_new(struct address_space **ret, uint64_t stamp)
{
	struct address_space *a = calloc(1, sizeof(*a));

	if (!a)
		return err_nomem();
	a->refs = 1;
	a->stamp = stamp;
	*ret = a;
	return 0;
}

struct address_space *address_space_ref(struct address_space *a)
{
	a->refs++;
	return a;
}

void address_space_unref(struct address_space *a)
{
	if (!a || --a->refs)
		return;
	space_node_unref(a->root);
	space_node_unref(a->symbols);
	space_node_unref(a->code);
	address_space_unref(a->before);
	free(a);
}

void address_space_settle(struct address_space *a)
{
	address_space_unref(a->before);
	a->before = NULL;
}

static const struct mapping *space_first_behind(const struct map_node *root, uint64_t addr)
{
	const struct mapping *found = NULL;

	for (const struct map_node *n = root; n;) {
		if (n->m.end > addr) {
			found = &n->m;
			n = n->left;
		} else {
			n = n->right;
		}
	}
	return found;
}

const struct mapping *address_space_behind(const struct address_space *a, uint64_t addr)
{
	return space_first_behind(a->root, addr);
}

static const struct mapping *space_find_in(const struct map_node *root, uint64_t addr)
{
	const struct mapping *m = space_first_behind(root, addr);

	return m && m->start <= addr ? m : NULL;
}

const struct mapping *address_space_find(const struct address_space *a, uint64_t addr)
{
	return space_find_in(a->root, addr);
}

const struct mapping *address_space_symbol(const struct address_space *a, uint64_t addr)
{
	return space_find_in(a->symbols, addr);
}

static int space_make_own(struct address_space **a)
{
	struct address_space *copy = NULL;

	if ((*a)->refs == 1)
		return 0;
	TRY(address_space_new(&copy, (*a)->stamp));
	copy->root = space_node_ref((*a)->root);
	copy->symbols = space_node_ref((*a)->symbols);
	copy->code = space_node_ref((*a)->code);
	copy->nr_code = (*a)->nr_code;
	copy->before = (*a)->before ? address_space_ref((*a)->before) : NULL;
	address_space_unref(*a);
	*a = copy;
	return 0;
}

static int address_space_put(struct address_space *a, const struct mapping *m)
{
	bool failed = false;

	a->root = space_map_node_insert(a->root, m, &failed);
	return failed ? err_nomem() : 0;
}

/*
 *	before   |---a---|  |--b--|   |---c---|
 *	new            |==============|
 *	after    |--a-||==============||--c---|
 *
 * a loses its end, b is removed, c loses its start.
 */
static int address_space_replace(struct address_space *a, const struct mapping *m)
{
	struct map_node *before, *inside, *behind, *node = space_node_new(m);
	const struct mapping *last;
	struct mapping rest = { 0 };
	bool failed = false;

	if (!node)
		return err_nomem();
	space_map_node_split(a->root, m->start, &before, &inside, &failed);
	space_map_node_split(inside, m->end, &inside, &behind, &failed);
	last = space_last_of(inside);
	if (last && last->end > m->end)
		rest = *last;
	last = space_last_of(before);
	if (last && last->end > m->start) {
		if (last->end > m->end)
			rest = *last;
		before = space_end_last(before, m->start, &failed);
	}
	space_node_unref(inside);
	a->root = space_map_node_join(before, node, behind, &failed);
	if (failed)
		return err_nomem();
	if (!rest.end)
		return 0;
	rest.pgoff += m->end - rest.start;
	rest.start = m->end;
	return address_space_put(a, &rest);
}

int address_space_add(struct address_space **a, const struct mapping *m, uint64_t stamp)
{
	const struct mapping *at;

	TRY(space_make_own(a));
	(*a)->stamp = stamp;
	at = address_space_behind(*a, m->start);
	return at && at->start < m->end ? address_space_replace(*a, m) : address_space_put(*a, m);
}

static const struct code_piece *space_piece_at(const struct address_space *a, uint64_t addr)
{
	return (const struct code_piece *)space_find_in(a->code, addr);
}

/* The bits of the bytes from addr to end in the piece at `start`. */
static uint32_t address_space_piece_bits(uint64_t start, uint64_t addr, uint64_t end)
{
	uint64_t from = addr > start ? addr - start : 0;
	uint64_t to = end - start < CODE_PIECE_BYTES ? end - start : CODE_PIECE_BYTES;

	return (uint32_t)(((UINT64_C(1) << (to - from)) - 1) << from);
}

/* a must not be shared. */
static int space_forget_code(struct address_space *a, uint64_t addr, uint64_t end)
{
	const struct mapping *at;
	bool failed = false;

	while (!failed && (at = space_first_behind(a->code, addr)) && at->start < end) {
		struct code_piece none = { .start = at->start, .end = at->end };

		if (none.start >= addr && none.end <= end) {
			a->code = space_remove_at(a->code, none.start, &failed);
			a->nr_code--;
		} else {
			a->code = space_write_piece(a->code, &none,
						    address_space_piece_bits(none.start, addr, end),
						    &failed);
			addr = none.end;
		}
	}
	return failed ? err_nomem() : 0;
}

int address_space_write_code(struct address_space **ret, uint64_t addr, const uint8_t *code,
			     size_t len)
{
	uint64_t end = addr + len;
	struct address_space *a;
	bool failed = false;
	int left_out = 0;

	if (end < addr || end > UINT64_MAX - CODE_PIECE_BYTES)
		return 0;
	TRY(space_make_own(ret));
	a = *ret;
	if (!code)
		return space_forget_code(a, addr, end);
	for (uint64_t start = addr - addr % CODE_PIECE_BYTES; start < end && !failed;
	     start += CODE_PIECE_BYTES) {
		struct code_piece p = {
			.start = start,
			.end = start + CODE_PIECE_BYTES,
			.known = address_space_piece_bits(start, addr, end),
		};
		bool is_new = !space_piece_at(a, start);

		if (is_new && a->nr_code >= MAX_CODE_PIECES) {
			left_out = 1;
			continue;
		}
		for (unsigned i = 0; i < CODE_PIECE_BYTES; i++) {
			if (p.known >> i & 1)
				p.bytes[i] = code[start + i - addr];
		}
		a->code = space_write_piece(a->code, &p, p.known, &failed);
		a->nr_code += is_new;
	}
	return failed ? err_nomem() : left_out;
}

size_t address_space_code(const struct address_space *a, uint64_t addr, uint8_t *buf, size_t len)
{
	const struct code_piece *p = NULL;
	size_t nr_known = 0;

	for (size_t i = 0; i < len; i++) {
		uint64_t at = addr + i;

		if (!p || at < p->start || at >= p->end)
			p = space_piece_at(a, at);
		if (!p || !(p->known >> (at - p->start) & 1))
			continue;
		buf[i] = p->bytes[at - p->start];
		nr_known += nr_known == i;
	}
	return nr_known;
}

static int space_remove_symbol(struct address_space *a, const struct mapping *m)
{
	bool failed = false;

	a->symbols = space_remove_at(a->symbols, m->start, &failed);
	return failed ? err_nomem() : 0;
}

int address_space_add_symbol(struct address_space **ret, const struct mapping *m, uint64_t stamp)
{
	const struct mapping *at;
	struct address_space *a;
	bool failed = false;

	TRY(space_make_own(ret));
	a = *ret;
	a->stamp = stamp;
	while ((at = space_first_behind(a->symbols, m->start)) && at->start < m->end)
		TRY(space_remove_symbol(a, at));
	TRY(space_forget_code(a, m->start, m->end));
	a->symbols = space_map_node_insert(a->symbols, m, &failed);
	return failed ? err_nomem() : 0;
}

int address_space_remove_symbol(struct address_space **ret, uint64_t addr, uint64_t stamp)
{
	const struct mapping *at = address_space_symbol(*ret, addr);

	if (!at)
		return 0;
	TRY(space_make_own(ret));
	(*ret)->stamp = stamp;
	TRY(space_forget_code(*ret, at->start, at->end));
	return space_remove_symbol(*ret, at);
}
