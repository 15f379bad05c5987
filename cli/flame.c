/* SPDX-License-Identifier: MIT */
#include "flame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- hash tables: index of an entry + 1, or 0; a power of two of slots, 3/4 used at most ---- */

struct flame_table {
	uint32_t *slots;
	uint32_t mask, used;
};
struct flame_index {
	struct flame_table names, files, frames, nodes;
	uint32_t room_names, room_files, room_frames, room_nodes;
	/*
	 * Owned; of each node; NULL if nothing was added to the side. Without callees until
	 * flame_finish(), which adds them in place.
	 */
	struct flame_sums *sums[FLAME_SIDES];
	/* Owned; ascending. The nodes that have sums of their own are few: the ends of paths. */
	struct flame_own *own[FLAME_SIDES];
	uint32_t nr_own[FLAME_SIDES], room_own[FLAME_SIDES];
	uint32_t nr_added; /* number of nodes at flame_finish(); later ones have no callees */
};

struct flame_own {
	uint32_t node;
	struct flame_sums sums;
};

static uint64_t flame_mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
	return a ^ a >> 32;
}

static uint64_t flame_hash_text(const char *text)
{
	uint64_t h = 0;

	while (*text)
		h = flame_mix(h, (unsigned char)*text++);
	return h;
}

static uint64_t flame_hash_frame(const struct flame_frame *f)
{
	return flame_mix(flame_mix(f->name, (uint64_t)f->file), (unsigned char)f->kind);
}

static uint64_t flame_hash_node(const struct flame_node *n)
{
	return flame_mix(n->parent, n->frame);
}

/* The hash of entry i of a table. */
static uint64_t flame_hash(const struct flame *f, const struct flame_table *t, uint32_t i)
{
	if (t == &f->index->names)
		return flame_hash_text(f->names.text[i]);
	if (t == &f->index->files)
		return flame_hash_text(f->files.text[i]);
	if (t == &f->index->frames)
		return flame_hash_frame(&f->frames[i]);
	return flame_hash_node(&f->nodes[i]);
}

static int flame_table_grow(const struct flame *f, struct flame_table *t)
{
	const uint32_t size = t->slots ? (t->mask + 1) * 2 : 1024;
	uint32_t *slots;

	if (t->used < (t->slots ? (t->mask + 1) / 4 * 3 : 0))
		return 0;
	slots = size ? calloc(size, sizeof(*slots)) : NULL;
	if (!slots)
		return -ENOMEM;
	for (uint32_t i = 0; t->slots && i <= t->mask; i++) {
		uint64_t at;

		if (!t->slots[i])
			continue;
		at = flame_hash(f, t, t->slots[i] - 1);
		while (slots[at & (size - 1)])
			at++;
		slots[at & (size - 1)] = t->slots[i];
	}
	free(t->slots);
	t->slots = slots;
	t->mask = size - 1;
	return 0;
}

/* Room for entry nr of an array. */
static int flame_room(void *array, uint32_t nr, uint32_t *room, size_t size)
{
	void **at = array, *more;
	const uint32_t wanted = *room ? *room * 2 : 256;

	if (nr < *room)
		return 0;
	if (wanted > INT32_MAX / 2)
		return -ENOMEM;
	more = reallocarray(*at, wanted, size);
	if (!more)
		return -ENOMEM;
	*at = more;
	*room = wanted;
	return 0;
}

static void flame_table_put(struct flame_table *t, uint64_t hash, uint32_t entry)
{
	while (t->slots[hash & t->mask])
		hash++;
	t->slots[hash & t->mask] = entry + 1;
	t->used++;
}

/* ---- texts, frames, nodes -------------------------------------------------------------------- */

static int flame_text(struct flame *f, struct flame_texts *texts, struct flame_table *t,
		      uint32_t *room, const char *text, uint32_t *ret)
{
	uint64_t hash = flame_hash_text(text);

	if (flame_table_grow(f, t) < 0 || flame_room(&texts->text, texts->nr, room, sizeof(char *)))
		return -ENOMEM;
	for (uint64_t at = hash; t->slots[at & t->mask]; at++) {
		*ret = t->slots[at & t->mask] - 1;
		if (!strcmp(texts->text[*ret], text))
			return 0;
	}
	texts->text[texts->nr] = strdup(text);
	if (!texts->text[texts->nr])
		return -ENOMEM;
	*ret = texts->nr++;
	flame_table_put(t, hash, *ret);
	return 0;
}

int flame_frame(struct flame *f, const char *name, const char *file, enum flame_kind kind,
		uint32_t *ret)
{
	struct flame_index *index = f->index;
	struct flame_frame made = { .file = -1, .kind = (char)kind };
	uint64_t hash;
	uint32_t at_file;

	if (flame_text(f, &f->names, &index->names, &index->room_names, name, &made.name) < 0)
		return -ENOMEM;
	if (file) {
		if (flame_text(f, &f->files, &index->files, &index->room_files, file, &at_file))
			return -ENOMEM;
		made.file = (int32_t)at_file;
	}
	hash = flame_hash_frame(&made);
	if (flame_table_grow(f, &index->frames) < 0 ||
	    flame_room(&f->frames, f->nr_frames, &index->room_frames, sizeof(made)) < 0)
		return -ENOMEM;
	for (uint64_t at = hash; index->frames.slots[at & index->frames.mask]; at++) {
		const struct flame_frame *have;

		*ret = index->frames.slots[at & index->frames.mask] - 1;
		have = &f->frames[*ret];
		if (have->name == made.name && have->file == made.file && have->kind == made.kind)
			return 0;
	}
	f->frames[f->nr_frames] = made;
	*ret = f->nr_frames++;
	flame_table_put(&index->frames, hash, *ret);
	return 0;
}

/* Room for another node, and for its sums. */
static int flame_node_room(struct flame *f)
{
	struct flame_index *index = f->index;
	uint32_t room;

	for (int side = 0; side < FLAME_SIDES; side++) {
		room = index->room_nodes;
		if (index->sums[side] && flame_room(&index->sums[side], f->nr_nodes, &room,
						    sizeof(*index->sums[side])) < 0)
			return -ENOMEM;
	}
	return flame_room(&f->nodes, f->nr_nodes, &index->room_nodes, sizeof(*f->nodes));
}

static int flame_make_node(struct flame *f, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	if (flame_node_room(f) < 0)
		return -ENOMEM;
	f->nodes[f->nr_nodes] = (struct flame_node){ .parent = parent, .frame = frame };
	for (int side = 0; side < FLAME_SIDES; side++) {
		if (f->index->sums[side])
			f->index->sums[side][f->nr_nodes] = (struct flame_sums){ 0 };
	}
	*ret = f->nr_nodes++;
	return 0;
}

int flame_callee(struct flame *f, uint32_t node, uint32_t frame, uint32_t *ret)
{
	const struct flame_node wanted = { .parent = node, .frame = frame };
	struct flame_table *t = &f->index->nodes;
	const uint64_t hash = flame_hash_node(&wanted);
	uint32_t made;

	if (flame_table_grow(f, t) < 0)
		return -ENOMEM;
	for (uint64_t at = hash; t->slots[at & t->mask]; at++) {
		const uint32_t i = t->slots[at & t->mask] - 1;

		if (f->nodes[i].parent == node && f->nodes[i].frame == frame) {
			*ret = i;
			return 0;
		}
	}
	if (flame_make_node(f, node, frame, &made) < 0)
		return -ENOMEM;
	f->nodes[made].next = f->nodes[node].first;
	f->nodes[node].first = made;
	flame_table_put(t, hash, made);
	*ret = made;
	return 0;
}

static void flame_sum(struct flame *f, uint64_t *sum, uint64_t more)
{
	if (__builtin_add_overflow(*sum, more, sum)) {
		*sum = UINT64_MAX;
		f->saturated = true;
	}
}

static void flame_sums_add(struct flame *f, struct flame_sums *to, const struct flame_sums *more)
{
	flame_sum(f, &to->weight, more->weight);
	flame_sum(f, &to->count, more->count);
}

int flame_add(struct flame *f, uint32_t node, enum flame_side side, uint64_t weight, uint64_t count)
{
	struct flame_sums **sums = &f->index->sums[side];

	if (!*sums)
		*sums = calloc(f->index->room_nodes, sizeof(**sums));
	if (!*sums)
		return -ENOMEM;
	flame_sums_add(f, &(*sums)[node], &(struct flame_sums){ weight, count });
	f->compared |= side == FLAME_BASE;
	return 0;
}

struct flame_sums flame_total(const struct flame *f, uint32_t node, enum flame_side side)
{
	return f->index->sums[side] ? f->index->sums[side][node] : (struct flame_sums){ 0 };
}

struct flame_sums flame_self(const struct flame *f, uint32_t node, enum flame_side side)
{
	const struct flame_own *own = f->index->own[side];
	uint32_t lo = 0, hi = f->index->nr_own[side];

	if (node >= f->index->nr_added)
		return flame_total(f, node, side);
	while (lo < hi) {
		const uint32_t mid = lo + (hi - lo) / 2;

		if (own[mid].node == node)
			return own[mid].sums;
		if (own[mid].node < node)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (struct flame_sums){ 0 };
}

struct flame *flame_new(const char *event, const char *unit)
{
	struct flame *f = calloc(1, sizeof(*f));
	uint32_t frame, root;

	if (!f)
		return NULL;
	f->unit = unit;
	f->counted = "samples";
	f->event = strdup(event);
	f->index = calloc(1, sizeof(*f->index));
	if (f->event && f->index && flame_frame(f, "all", NULL, FLAME_GROUP, &frame) >= 0 &&
	    flame_make_node(f, 0, frame, &root) >= 0)
		return f;
	flame_free(f);
	return NULL;
}

static void flame_texts_free(struct flame_texts *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		free(t->text[i]);
	free(t->text);
}

void flame_free(struct flame *f)
{
	if (!f)
		return;
	if (f->index) {
		free(f->index->names.slots);
		free(f->index->files.slots);
		free(f->index->frames.slots);
		free(f->index->nodes.slots);
		for (int side = 0; side < FLAME_SIDES; side++) {
			free(f->index->sums[side]);
			free(f->index->own[side]);
		}
	}
	flame_texts_free(&f->names);
	flame_texts_free(&f->files);
	free((char *)f->event);
	free(f->index);
	free(f->frames);
	free(f->nodes);
	free(f);
}

/* ---- the end: totals, order, small frames ---------------------------------------------------- */

static int flame_note_own(struct flame *f, enum flame_side side)
{
	const struct flame_sums *sums = f->index->sums[side];
	struct flame_own **own = &f->index->own[side];
	uint32_t *nr = &f->index->nr_own[side];

	for (uint32_t i = 0; sums && i < f->nr_nodes; i++) {
		if (!sums[i].weight && !sums[i].count)
			continue;
		if (flame_room(own, *nr, &f->index->room_own[side], sizeof(**own)) < 0)
			return -ENOMEM;
		(*own)[(*nr)++] = (struct flame_own){ i, sums[i] };
	}
	return 0;
}

/* Adds the sums of callees. A callee is made after its caller: its index is higher. */
static int flame_sum_callees(struct flame *f)
{
	for (int side = 0; side < FLAME_SIDES; side++) {
		struct flame_sums *sums = f->index->sums[side];

		if (flame_note_own(f, (enum flame_side)side) < 0)
			return -ENOMEM;
		for (uint32_t i = f->nr_nodes - 1; sums && i > 0; i--)
			flame_sums_add(f, &sums[f->nodes[i].parent], &sums[i]);
	}
	f->index->nr_added = f->nr_nodes;
	return 0;
}

int flame_compare_frames(const struct flame *f, uint32_t a, uint32_t b)
{
	const struct flame_frame *x = &f->frames[a], *y = &f->frames[b];
	int r = strcmp(f->names.text[x->name], f->names.text[y->name]);

	if (!r && x->file != y->file && x->file >= 0 && y->file >= 0)
		r = strcmp(f->files.text[x->file], f->files.text[y->file]);
	if (!r)
		r = x->file - y->file;
	return r ? r : x->kind - y->kind;
}

static int flame_compare(const void *a, const void *b, void *ctx)
{
	const struct flame *f = ctx;

	return flame_compare_frames(f, f->nodes[*(const uint32_t *)a].frame,
				    f->nodes[*(const uint32_t *)b].frame);
}

static bool flame_is_small(const struct flame *f, uint32_t node, double share)
{
	for (int side = 0; side < FLAME_SIDES; side++) {
		const double all = (double)flame_total(f, 0, (enum flame_side)side).weight;
		const double own = (double)flame_total(f, node, (enum flame_side)side).weight;

		if (all > 0 && own >= share * all)
			return false;
	}
	return share > 0;
}

/* True if nothing was added to a node and its callees. */
static bool flame_is_empty(const struct flame *f, uint32_t node)
{
	for (int side = 0; side < FLAME_SIDES; side++) {
		const struct flame_sums total = flame_total(f, node, (enum flame_side)side);

		if (total.weight || total.count)
			return false;
	}
	return true;
}

static void flame_fold(struct flame *f, uint32_t node, uint32_t rest)
{
	for (int side = 0; side < FLAME_SIDES; side++) {
		struct flame_sums *sums = f->index->sums[side];

		if (sums)
			flame_sums_add(f, &sums[rest], &sums[node]);
	}
}

/* Sorts the callees of a node; those below `share` of all go into one frame. */
static int flame_sort(struct flame *f, uint32_t node, double share, uint32_t rest_frame,
		      uint32_t **array, uint32_t *room)
{
	uint32_t nr = 0, rest = 0, *last;

	for (uint32_t c = f->nodes[node].first; c; c = f->nodes[c].next) {
		if (flame_is_empty(f, c))
			continue;
		if (flame_is_small(f, c, share)) {
			if (!rest && flame_make_node(f, node, rest_frame, &rest) < 0)
				return -ENOMEM;
			flame_fold(f, c, rest);
		} else {
			if (flame_room(array, nr, room, sizeof(**array)) < 0)
				return -ENOMEM;
			(*array)[nr++] = c;
		}
	}
	if (nr)
		qsort_r(*array, nr, sizeof(**array), flame_compare, f);
	last = &f->nodes[node].first;
	for (uint32_t i = 0; i < nr; i++) {
		*last = (*array)[i];
		last = &f->nodes[(*array)[i]].next;
	}
	*last = rest;
	return 0;
}

int flame_finish(struct flame *f, double percent)
{
	uint32_t *array = NULL, room = 0, rest_frame = 0;
	struct flame_step s = { 0 };
	int r = flame_sum_callees(f);

	free(f->index->nodes.slots);
	f->index->nodes = (struct flame_table){ 0 };
	if (r >= 0 && percent > 0)
		r = flame_frame(f, "[too small]", NULL, FLAME_REST, &rest_frame);
	/* The callees of a node are sorted before the next step enters them. */
	while (r >= 0 && flame_next(f, &s))
		r = flame_sort(f, s.node, percent / 100, rest_frame, &array, &room);
	free(array);
	return r;
}

bool flame_next(const struct flame *f, struct flame_step *s)
{
	uint32_t i = s->node;

	if (!s->begun) {
		s->begun = true;
		return true;
	}
	if (f->nodes[i].first) {
		s->node = f->nodes[i].first;
		s->depth++;
		return true;
	}
	while (i && !f->nodes[i].next) {
		i = f->nodes[i].parent;
		s->depth--;
	}
	s->node = f->nodes[i].next;
	return i != 0;
}
