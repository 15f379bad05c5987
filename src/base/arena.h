/* SPDX-License-Identifier: MIT */
/*
 * struct arena: memory of one lifetime (a session's schemas, a file's headers), freed at once. With
 * -DARENA_DEBUG every allocation is a malloc of its own, so that sanitizers see overruns.
 */
#ifndef SONDE_BASE_ARENA_H
#define SONDE_BASE_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *blocks; /* owned */
};

/* Zeroed, aligned for any type. NULL if out of memory. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_array(struct arena *a, size_t n, size_t elem_size); /* NULL also on overflow */
char *arena_strndup(struct arena *a, const char *s, size_t len);
char *arena_strdup(struct arena *a, const char *s);
void arena_done(struct arena *a);

#endif
