/* SPDX-License-Identifier: MIT */
#include "ids.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

static size_t ids_slot_of(const struct ids *t, uint64_t a, uint64_t b)
{
	uint64_t h = (a * 0x9e3779b97f4a7c15ull) ^ (b * 0xc2b2ae3d27d4eb4full);

	h ^= h >> 32;
	return (size_t)(h * 0x9e3779b97f4a7c15ull >> 20) & (t->capacity - 1);
}

static struct id_entry *ids_find_slot(const struct ids *t, uint64_t a, uint64_t b)
{
	size_t i = ids_slot_of(t, a, b);

	while ((t->v[i].a || t->v[i].b) && (t->v[i].a != a || t->v[i].b != b))
		i = (i + 1) & (t->capacity - 1);
	return &t->v[i];
}

static int ids_grow(struct ids *t)
{
	size_t capacity = t->capacity ? 2 * t->capacity : FIRST_CAPACITY;
	struct ids bigger = {
		.v = calloc(capacity, sizeof(*t->v)),
		.capacity = capacity,
		.n = t->n,
	};

	if (!bigger.v)
		return -1;
	for (size_t i = 0; i < t->capacity; i++) {
		if (t->v[i].a || t->v[i].b)
			*ids_find_slot(&bigger, t->v[i].a, t->v[i].b) = t->v[i];
	}
	free(t->v);
	*t = bigger;
	return 0;
}

uint64_t *ids_place(struct ids *t, uint64_t a, uint64_t b)
{
	struct id_entry *e = t->capacity ? ids_find_slot(t, a, b) : NULL;

	if (e && (e->a || e->b))
		return &e->id;
	/* At most three quarters of the entries are in use. */
	if (4 * (t->n + 1) > 3 * t->capacity) {
		if (ids_grow(t) < 0)
			return NULL;
		e = ids_find_slot(t, a, b);
	}
	*e = (struct id_entry){ .a = a, .b = b };
	t->n++;
	return &e->id;
}

void ids_done(struct ids *t)
{
	free(t->v);
	*t = (struct ids){ 0 };
}

uint64_t *id_list_place(struct id_list *l, uint64_t key)
{
	if (key >= l->n) {
		size_t n = key < SIZE_MAX / 32 ? 2 * (size_t)key + 64 : 0;
		uint64_t *v = n ? realloc(l->v, n * sizeof(*v)) : NULL;

		if (!v)
			return NULL;
		memset(v + l->n, 0, (n - l->n) * sizeof(*v));
		l->v = v;
		l->n = n;
	}
	return &l->v[key];
}

void id_list_done(struct id_list *l)
{
	free(l->v);
	*l = (struct id_list){ 0 };
}
