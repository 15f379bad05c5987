/* SPDX-License-Identifier: MIT */
/* Ids by a key of two numbers: a hash table that only grows. A key is never (0, 0). */
#ifndef SONDE_PRELUDE_IDS_H
#define SONDE_PRELUDE_IDS_H

#include <stddef.h>
#include <stdint.h>

struct id_entry {
	uint64_t a, b; /* the key; both 0 if the entry is free */
	uint64_t id;   /* 0 if not assigned yet */
};
struct ids {
	struct id_entry *v; /* owned */
	size_t capacity;    /* a power of two; 0 if not allocated */
	size_t n;
};

/*
 * Returns the place of the key's id; the id is 0 if the key is new. Borrowed until the next call.
 * NULL if there is no memory.
 */
uint64_t *ids_place(struct ids *t, uint64_t a, uint64_t b);
void ids_done(struct ids *t);

/* An array of ids, for keys that are counted from 1. */
struct id_list {
	uint64_t *v; /* owned */
	size_t n;
};
uint64_t *id_list_place(struct id_list *l, uint64_t key);
void id_list_done(struct id_list *l);

#endif
