/* SPDX-License-Identifier: MIT */
/*
 * The call tree of a row. The paths of its cells are first added to a tree of single frames. Frames
 * that are only called together then become one node.
 *
 *	a b c (2)   a b d (1)   a b (1)		a,b (1)  ->  c (2), d (1)
 */

#include "profile/tree.h"

#include <string.h>

#include "base/err.h"
#include "profile/counts.h"
#include "profile/rows.h"

/* A frame of the tree. Number 0 is above the roots. */
struct tree_frame {
	uint32_t place, parent, child, next;
	struct profile_counts hit, sum;
};

struct tree {
	struct profile *p;
	VEC(struct tree_frame) frames;
	struct wordset by_class; /* parent << 32 | class: number - 1 */
	VEC(uint32_t) path;      /* places of the current path */
	VEC(uint32_t) siblings;
};

/* ---- equal frames ---------------------------------------------------------------------------- */

static uint64_t tree_text_key(const char *text)
{
	return hash_bytes(text, strlen(text));
}

/*
 * perf compares inlined functions by name, other functions by their start, and unresolved frames by
 * address.
 */
static void tree_class_key(const struct profile *p, const struct profile_place *place,
			   uint64_t key[3])
{
	enum { BY_ADDRESS, BY_FUNCTION, BY_NAME, BY_LINE };

	key[0] = two_halves(place->dso, BY_ADDRESS);
	key[1] = place->ip;
	key[2] = 0;
	if (p->opts.callgraph_key == CALLGRAPH_SRCLINE && place->file) {
		key[0] = two_halves(place->line, BY_LINE);
		key[1] = tree_text_key(place->file);
	} else if (p->opts.callgraph_key != CALLGRAPH_FUNCTION) {
		return;
	} else if (place->is_inlined) {
		key[0] = BY_NAME;
		key[1] = tree_text_key(place->sym);
	} else if (place->sym) {
		key[0] = two_halves(place->dso, BY_FUNCTION);
		key[1] = place->sym_start;
	}
}

static int tree_make_classes(struct profile *p)
{
	struct wordset classes;
	int r = 0;

	wordset_init(&classes, 3);
	for (size_t i = p->place_class.n; r >= 0 && i < p->place_list.n; i++) {
		uint64_t key[3];
		uint32_t class;

		tree_class_key(p, place_at(p, (uint32_t)i), key);
		r = wordset_put(&classes, key, &class);
		if (r >= 0)
			r = vec_push(&p->place_class, class);
	}
	wordset_done(&classes);
	return r;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static int tree_step(struct tree *t, uint32_t parent, uint32_t place, uint32_t *ret)
{
	const uint64_t key = two_halves(parent, t->p->place_class.v[place]);
	uint32_t number;
	int r = wordset_put(&t->by_class, &key, &number);

	if (r < 0)
		return r;
	*ret = number + 1;
	if (!r)
		return 0;
	TRY(vec_push(&t->frames, (struct tree_frame){ .place = place, .parent = parent }));
	t->frames.v[*ret].next = t->frames.v[parent].child;
	t->frames.v[parent].child = *ret;
	return 0;
}

static int tree_add_path(struct tree *t, const struct profile_counts *counts)
{
	uint32_t at = 0;

	for (size_t i = 0; i < t->path.n; i++) {
		TRY(tree_step(t, at, t->path.v[i], &at));
		counts_add(t->p, &t->frames.v[at].sum, counts);
	}
	if (at)
		counts_add(t->p, &t->frames.v[at].hit, counts);
	return 0;
}

static void tree_reverse(struct tree *t)
{
	for (size_t i = 0, j = t->path.n; i + 1 < j; i++, j--) {
		const uint32_t place = t->path.v[i];

		t->path.v[i] = t->path.v[j - 1];
		t->path.v[j - 1] = place;
	}
}

/*
 * Takes the part of a path that belongs to a row, in the order of the tree: from the frame at
 * `depth` outwards, or inwards with CALLGRAPH_CALLER. If depth is 0, takes the complete path.
 */
static int tree_take_path(struct tree *t, const struct profile_meeting *m)
{
	const struct profile *p = t->p;
	const bool from_caller = p->opts.callgraph == CALLGRAPH_CALLER;

	vec_clear(&t->path);
	for (uint32_t node = cell_node(p, m->cell); node != PROFILE_ROOT;
	     node = node_parent(p, node))
		TRY(vec_push(&t->path, node_place(p, node)));
	if (m->depth && from_caller) {
		t->path.n -= m->depth - 1;
	} else if (m->depth) {
		memmove(t->path.v, t->path.v + t->path.n - m->depth, m->depth * sizeof(*t->path.v));
		t->path.n = m->depth;
	}
	if (from_caller)
		tree_reverse(t);
	return 0;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static int tree_compare(const void *a, const void *b, void *ctx)
{
	const struct tree *t = ctx;
	const struct tree_frame *x = &t->frames.v[*(const uint32_t *)a],
				*y = &t->frames.v[*(const uint32_t *)b];
	const struct profile_place *f = place_at(t->p, x->place), *g = place_at(t->p, y->place);
	const uint64_t p = counts_period(&x->sum), q = counts_period(&y->sum),
		       i = f->sym ? f->sym_start : f->ip, j = g->sym ? g->sym_start : g->ip;

	if (p != q)
		return p > q ? -1 : 1;
	if (f->dso != g->dso)
		return f->dso > g->dso ? -1 : 1;
	return (i < j) - (i > j);
}

static int tree_node(struct tree *t, uint32_t frame, uint32_t parent, uint32_t *ret);

static int tree_children(struct tree *t, uint32_t frame, uint32_t parent, uint32_t *ret)
{
	const size_t begin = t->siblings.n;
	uint32_t previous = 0;
	int r = 0;

	*ret = 0;
	for (uint32_t c = t->frames.v[frame].child; c; c = t->frames.v[c].next)
		TRY(vec_push(&t->siblings, c));
	if (t->siblings.n > begin)
		qsort_r(t->siblings.v + begin, t->siblings.n - begin, sizeof(uint32_t),
			tree_compare, t);
	for (size_t i = begin, end = t->siblings.n; r >= 0 && i < end; i++) {
		uint32_t node;

		r = tree_node(t, t->siblings.v[i], parent, &node);
		if (r < 0)
			break;
		if (previous)
			t->p->tree.v[previous].next = node;
		else
			*ret = node;
		previous = node;
	}
	t->siblings.n = begin;
	return r;
}

static int tree_node(struct tree *t, uint32_t frame, uint32_t parent, uint32_t *ret)
{
	struct profile *p = t->p;
	struct profile_tree_node node = {
		.frames_at = (uint32_t)p->tree_frames.n,
		.parent = parent,
		.sum = t->frames.v[frame].sum,
	};
	uint32_t child;

	for (;;) {
		const struct tree_frame *f = &t->frames.v[frame];

		TRY(vec_push(&p->tree_frames, f->place + 1));
		node.nr_frames++;
		if (f->hit.samples || !f->child || t->frames.v[f->child].next)
			break;
		frame = f->child;
	}
	node.hit = t->frames.v[frame].hit;
	*ret = (uint32_t)p->tree.n;
	TRY(vec_push(&p->tree, node));
	TRY(tree_children(t, frame, *ret, &child));
	p->tree.v[*ret].child = child;
	return 0;
}

static int tree_build(struct tree *t, uint32_t row, uint32_t *ret_root)
{
	struct profile *p = t->p;

	TRY(tree_make_classes(p));
	TRY(vec_push(&t->frames, (struct tree_frame){ 0 }));
	TRY(rows_find_meetings(p));
	for (uint64_t i = p->first_meeting[row]; i < p->first_meeting[row + 1]; i++) {
		TRY(tree_take_path(t, &p->meetings[i]));
		TRY(tree_add_path(t, &p->counts.v[p->meetings[i].cell]));
	}
	vec_clear(&p->tree);
	vec_clear(&p->tree_frames);
	TRY(vec_push(&p->tree, (struct profile_tree_node){ 0 }));
	return tree_children(t, 0, 0, ret_root);
}

int tree_make(struct profile *p, uint32_t table, uint64_t row, uint32_t *ret_root)
{
	struct tree t = { .p = p };
	uint32_t root = 0;
	int r;

	if (table >= p->tables.n || row >= p->tables.v[table].nr_rows || !p->needs_paths)
		return 0;
	wordset_init(&t.by_class, 1);
	r = tree_build(&t, p->tables.v[table].order[row], &root);
	vec_done(&t.frames);
	vec_done(&t.path);
	vec_done(&t.siblings);
	wordset_done(&t.by_class);
	if (r < 0)
		return r;
	*ret_root = root;
	return root != 0;
}

int tree_path_frames(struct profile *p, uint32_t cell)
{
	vec_clear(&p->frames);
	for (uint32_t node = cell_node(p, cell); node != PROFILE_ROOT; node = node_parent(p, node))
		TRY(vec_push(&p->frames, node_place(p, node) + 1));
	for (size_t i = 0, j = p->frames.n; i + 1 < j; i++) {
		const uint32_t place = p->frames.v[i];

		p->frames.v[i] = p->frames.v[--j];
		p->frames.v[j] = place;
	}
	return 0;
}
