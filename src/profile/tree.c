/* SPDX-License-Identifier: MIT */
/*
 * The call tree of a row. Its paths are divided by their first frame, then each part by the next
 * one. Frames that are only called together are one node.
 *
 *	a b c (2)   a b d (1)   a b (1)		a,b (1)  ->  c (2), d (1)
 *
 * Equal first frames have equal classes. A node is divided when its turn is in the list of
 * nodes, so a path costs nothing below the first node that it has to itself, nor below a node that
 * is too small to be asked for.
 */

#include "profile/tree.h"

#include <stdio.h>
#include <string.h>

#include "base/err.h"
#include "profile/counts.h"
#include "profile/history.h"
#include "profile/rows.h"

/* The rest of a path: its frames from `at` on. */
struct tree_item {
	uint32_t at, end; /* in call_paths.frames */
	uint32_t cell;
};

/* Items of a node with equal first frames. */
struct tree_group {
	uint64_t period, samples, address;
	uint64_t dso; /* 1 + its order; 0 if there is none */
	const char *sym;
	const char *file; /* only for CALLGRAPH_SRCLINE */
	uint32_t line;
	bool inlined;
	uint32_t number; /* in the order of first items */
	uint32_t nr, items_at;
	uint64_t order; /* the period as counts_order() makes it */
};

struct tree {
	struct profile *p;
	uint64_t least;                /* nodes with a smaller period are not divided */
	struct tree_item *items;       /* owned; the items of a node are neighbours */
	struct tree_item *room;        /* owned; of the same size */
	uint32_t *group_of;            /* owned; by class: number of the group + 1 in this node */
	VEC(struct tree_group) groups; /* of the node that is being divided */
};

/* ---- equal frames ---------------------------------------------------------------------------- */

static uint64_t tree_text_key(const char *text)
{
	return hash_bytes(text, strlen(text));
}

/*
 * The file whose lines a frame is compared by; NULL if it is compared by function. addr2line may
 * give "??" for a file.
 */
static const char *tree_file(const struct profile *p, const struct profile_place *place)
{
	if (p->opts.callgraph_key != CALLGRAPH_SRCLINE || !place->file ||
	    !strcmp(place->file, "??"))
		return NULL;
	return place->file;
}

/*
 * perf compares inlined functions by name, other functions by their start, and unresolved frames by
 * address. In a merged profile functions have addresses of several builds, and are compared by
 * name.
 */
static void tree_class_key(const struct profile *p, const struct profile_place *place,
			   uint64_t key[3])
{
	enum { BY_ADDRESS, BY_FUNCTION, BY_NAME, BY_LINE };

	key[0] = two_halves(place->dso, BY_ADDRESS);
	key[1] = p->merged ? place->dso_addr : place->ip;
	key[2] = 0;
	if (tree_file(p, place)) {
		key[0] = two_halves(place->line, BY_LINE);
		key[1] = tree_text_key(tree_file(p, place));
	} else if (p->opts.callgraph_key == CALLGRAPH_ADDRESS) {
		return;
	} else if (place->sym && p->merged) {
		key[0] = two_halves(place->is_inlined ? 0 : place->dso, BY_NAME);
		key[1] = tree_text_key(place->sym);
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
	if (r < 0) /* numbers start again at 0 */
		vec_clear(&p->place_class);
	return r;
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static uint32_t tree_class(const struct tree *t, uint32_t frame_at)
{
	return t->p->place_class.v[t->p->call_paths.frames.v[frame_at] - 1];
}

static void tree_add_counts(struct profile *p, uint64_t *period, uint64_t *samples, uint32_t cell)
{
	const struct cell_counts *c = &p->counts.v[cell];

	counts_sum_as(p, c->is_signed, period, c->period);
	counts_sum_as(p, c->is_signed, samples, c->samples);
}

/* The longest run of frames that all items begin with, at least one. */
static uint32_t tree_run(const struct tree *t, const struct tree_item *items, uint32_t nr)
{
	uint32_t len = items[0].end - items[0].at;

	for (uint32_t i = 1; i < nr && len > 1; i++) {
		uint32_t same = 1;

		if (items[i].end - items[i].at < len)
			len = items[i].end - items[i].at;
		while (same < len &&
		       tree_class(t, items[0].at + same) == tree_class(t, items[i].at + same))
			same++;
		len = same;
	}
	return len;
}

/* Adds the items that end with the node to its hits; keeps the others. */
static void tree_take_hits(struct tree *t, struct profile_tree_node *n)
{
	struct tree_item *items = t->items + n->items_at;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n->nr_items; i++) {
		items[i].at += n->nr_frames;
		if (items[i].at < items[i].end)
			items[kept++] = items[i];
		else
			tree_add_counts(t->p, &n->hit_period, &n->hit_samples, items[i].cell);
	}
	n->nr_items = kept;
}

/* Adds up the branches of the frames of a node. */
static int tree_sum_branches(struct tree *t, struct profile_tree_node *n)
{
	struct history *h = t->p->history;

	n->sums_at = (uint32_t)h->tree.n;
	TRY(vec_reserve(&h->tree, n->nr_frames));
	memset(h->tree.v + h->tree.n, 0, n->nr_frames * sizeof(*h->tree.v));
	h->tree.n += n->nr_frames;
	for (uint32_t i = 0; i < n->nr_items; i++) {
		const struct tree_item *item = &t->items[n->items_at + i];

		for (uint32_t k = 0; k < n->nr_frames; k++)
			history_sum(&h->tree.v[n->sums_at + k],
				    history_at(t->p, item->cell, item->at + k));
	}
	return 0;
}

static int tree_add_node(struct tree *t, const struct tree_group *g, uint32_t parent)
{
	struct profile_tree_node n = {
		.frames_at = t->items[g->items_at].at,
		.nr_frames = 1,
		.parent = parent,
		.items_at = g->items_at,
		.nr_items = g->nr,
		.period = g->period,
		.samples = g->samples,
	};

	if (counts_size(t->p, g->period) < t->least)
		n.nr_items = 0;
	else
		n.nr_frames = tree_run(t, t->items + g->items_at, g->nr);
	if (t->p->history)
		TRY(tree_sum_branches(t, &n));
	if (n.nr_items)
		tree_take_hits(t, &n);
	return vec_push(&t->p->tree, n);
}

/* ---- division -------------------------------------------------------------------------------- */

/* perf compares the texts of lines, without folders; the last is first, after frames without. */
static int tree_compare_lines(const struct tree_group *x, const struct tree_group *y)
{
	char a[512], b[512];
	const char *slash;

	if (!x->file || !y->file)
		return (x->file != NULL) - (y->file != NULL);
	slash = strrchr(x->file, '/');
	snprintf(a, sizeof(a), "%s:%u", slash ? slash + 1 : x->file, x->line);
	slash = strrchr(y->file, '/');
	snprintf(b, sizeof(b), "%s:%u", slash ? slash + 1 : y->file, y->line);
	return strcmp(b, a);
}

/*
 * The larger period first, then the younger dso, the higher address, the younger group. perf orders
 * functions by name if one of them is inlined.
 */
static int tree_compare(const void *a, const void *b)
{
	const struct tree_group *x = a, *y = b;

	if (x->order != y->order)
		return x->order > y->order ? -1 : 1;
	if (x->file || y->file) {
		int r = tree_compare_lines(x, y);

		if (r)
			return r;
	}
	if ((x->inlined || y->inlined) && x->sym && y->sym && strcmp(x->sym, y->sym))
		return strcmp(y->sym, x->sym);
	if (x->dso != y->dso)
		return x->dso > y->dso ? -1 : 1;
	if (x->address != y->address)
		return x->address > y->address ? -1 : 1;
	return x->number > y->number ? -1 : 1;
}

static int tree_add_group(struct tree *t, const struct tree_item *first, uint32_t *ret)
{
	const struct profile *p = t->p;
	const struct profile_place *place = place_at(p, p->call_paths.frames.v[first->at] - 1);
	const struct tree_group g = {
		.address = place->sym && p->opts.callgraph_key != CALLGRAPH_ADDRESS
				   ? place->sym_start
				   : place->ip,
		.dso = place->dso ? 1 + p->dsos.v[place->dso - 1].order : 0,
		.sym = place->sym,
		.inlined = place->is_inlined && p->opts.callgraph_key == CALLGRAPH_FUNCTION,
		.file = tree_file(p, place),
		.line = place->line,
		.number = (uint32_t)t->groups.n,
	};

	*ret = g.number + 1;
	return vec_push(&t->groups, g);
}

static int tree_make_groups(struct tree *t, const struct tree_item *items, uint32_t nr)
{
	vec_clear(&t->groups);
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t *number = &t->group_of[tree_class(t, items[i].at)];
		struct tree_group *g;

		if (!*number)
			TRY(tree_add_group(t, &items[i], number));
		g = &t->groups.v[*number - 1];
		g->nr++;
		tree_add_counts(t->p, &g->period, &g->samples, items[i].cell);
	}
	return 0;
}

/* Orders the items by group, without changing the order in a group. */
static void tree_divide_items(struct tree *t, uint32_t items_at, uint32_t nr)
{
	struct tree_item *items = t->items + items_at;
	uint32_t at = items_at;

	vec_foreach(g, &t->groups) {
		g->items_at = at;
		at += g->nr;
	}
	for (uint32_t i = 0; t->groups.n > 1 && i < nr; i++) {
		const uint32_t number = t->group_of[tree_class(t, items[i].at)];

		t->room[t->groups.v[number - 1].items_at++] = items[i];
	}
	for (uint32_t i = 0; i < nr; i++)
		t->group_of[tree_class(t, items[i].at)] = 0;
	if (t->groups.n < 2)
		return;
	memcpy(items, t->room + items_at, nr * sizeof(*items));
	vec_foreach(g, &t->groups)
		g->items_at -= g->nr;
}

/* Adds the children of a node. */
static int tree_divide(struct tree *t, uint32_t node)
{
	const struct profile_tree_node n = t->p->tree.v[node];
	const uint32_t first = (uint32_t)t->p->tree.n;

	if (!n.nr_items)
		return 0;
	TRY(tree_make_groups(t, t->items + n.items_at, n.nr_items));
	tree_divide_items(t, n.items_at, n.nr_items);
	vec_foreach(g, &t->groups)
		g->order =
			t->p->opts.tree_order == TREE_BY_SIZE ? counts_order(t->p, g->period) : 0;
	if (t->groups.n > 1)
		qsort(t->groups.v, t->groups.n, sizeof(*t->groups.v), tree_compare);
	vec_foreach(g, &t->groups)
		TRY(tree_add_node(t, g, node));
	t->p->tree.v[node].child = first;
	for (uint32_t i = first; i + 1 < t->p->tree.n; i++)
		t->p->tree.v[i].next = i + 1;
	return 0;
}

/* ---- the tree -------------------------------------------------------------------------------- */

static int tree_take_items(struct tree *t, uint32_t row, uint32_t *ret_nr)
{
	struct profile *p = t->p;
	const uint64_t begin = p->first_meeting[row], nr = p->first_meeting[row + 1] - begin;
	uint32_t n = 0;

	t->items = reallocarray(NULL, nr + 1, sizeof(*t->items));
	t->room = reallocarray(NULL, nr + 1, sizeof(*t->room));
	t->group_of = calloc(p->place_class.n + 1, sizeof(*t->group_of));
	if (!t->items || !t->room || !t->group_of)
		return err_nomem();
	for (uint64_t i = begin; i < begin + nr; i++) {
		const struct profile_meeting *m = &p->meetings[i];
		const uint32_t path = cell_path(p, m->cell);

		if (path != PROFILE_ROOT)
			t->items[n++] = (struct tree_item){
				.at = pathset_begin(&p->call_paths, path) + m->from,
				.end = pathset_end(&p->call_paths, path),
				.cell = m->cell,
			};
	}
	*ret_nr = n;
	return 0;
}

static int tree_build(struct tree *t, uint32_t row)
{
	struct profile *p = t->p;
	struct profile_tree_node top = { 0 };

	vec_clear(&p->tree);
	if (p->history)
		vec_clear(&p->history->tree);
	TRY(tree_make_classes(p));
	TRY(rows_find_meetings(p));
	TRY(tree_take_items(t, row, &top.nr_items));
	TRY(vec_push(&p->tree, top));
	for (uint32_t node = 0; node < p->tree.n; node++)
		TRY(tree_divide(t, node));
	return 0;
}

int tree_make(struct profile *p, uint32_t table, uint64_t row, uint64_t least, uint32_t *ret_root)
{
	struct tree t = { .p = p, .least = least };
	int r;

	if (table >= p->tables.n || row >= p->tables.v[table].nr_rows || !p->needs_paths)
		return 0;
	r = tree_build(&t, p->tables.v[table].order[row]);
	free(t.items);
	free(t.room);
	free(t.group_of);
	vec_done(&t.groups);
	if (r < 0)
		return r;
	*ret_root = p->tree.v[0].child;
	return *ret_root != 0;
}

int tree_path_frames(struct profile *p, uint32_t cell, const uint32_t **ret, uint32_t *ret_nr)
{
	*ret = NULL;
	*ret_nr = cell_is_borrowed(p, cell) ? 0 : cell_frames(p, cell, ret);
	if (p->opts.callgraph == CALLGRAPH_CALLER)
		return 0;
	vec_clear(&p->frames);
	TRY(vec_reserve(&p->frames, *ret_nr));
	for (uint32_t i = *ret_nr; i--;)
		p->frames.v[p->frames.n++] = (*ret)[i];
	*ret = p->frames.v;
	return 0;
}
