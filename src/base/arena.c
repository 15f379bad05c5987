/* SPDX-License-Identifier: MIT */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	alignas(max_align_t) unsigned char data[];
};

/* The first block is small: many arenas need no other, and its pages are written at once. */
enum {
	FIRST_BLOCK_BYTES = 4 * 1024 - sizeof(struct arena_block),
	BLOCK_BYTES = 64 * 1024 - sizeof(struct arena_block),
};

void *arena_alloc(struct arena *a, size_t size)
{
	struct arena_block *b = a->blocks;
	size_t need;

	if (size > SIZE_MAX / 2)
		return NULL;
	need = (size + alignof(max_align_t) - 1) & ~(alignof(max_align_t) - 1);
#ifdef ARENA_DEBUG
	b = calloc(1, sizeof(*b) + size);
	if (!b) {
		err_note_nomem();
		return NULL;
	}
	b->next = a->blocks;
	a->blocks = b;
	(void)need;
	return b->data;
#else
	if (!b || b->size - b->used < need) {
		const size_t least = a->blocks ? BLOCK_BYTES : FIRST_BLOCK_BYTES;
		size_t room = need > least ? need : least;

		b = calloc(1, sizeof(*b) + room);
		if (!b) {
			err_note_nomem();
			return NULL;
		}
		b->size = room;
		if (a->blocks && need > BLOCK_BYTES / 4) {
			/*
			 * Inserts a large block after the current one, which then remains in use.
			 */
			b->next = a->blocks->next;
			a->blocks->next = b;
		} else {
			b->next = a->blocks;
			a->blocks = b;
		}
	}
	b->used += need;
	return b->data + b->used - need;
#endif
}

void *arena_array(struct arena *a, size_t n, size_t elem_size)
{
	size_t size;

	return __builtin_mul_overflow(n, elem_size, &size) ? NULL : arena_alloc(a, size);
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *copy = len == SIZE_MAX ? NULL : arena_alloc(a, len + 1);

	if (copy)
		memcpy(copy, s, len);
	return copy;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

void arena_done(struct arena *a)
{
	struct arena_block *b = a->blocks;

	while (b) {
		struct arena_block *next = b->next;

		free(b);
		b = next;
	}
	a->blocks = NULL;
}
