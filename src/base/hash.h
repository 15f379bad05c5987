/* SPDX-License-Identifier: MIT */
/*
 * struct hash64: a map from u64 keys to u64 values (an index, a pointer). It uses open addressing
 * with linear probing. Lookups do not allocate. hash_bytes() is the hash for text.
 */
#ifndef SONDE_BASE_HASH_H
#define SONDE_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash64_slot {
	uint64_t key, value;
};

struct hash64 {
	struct hash64_slot *slots; /* owned; value HASH64_EMPTY marks a free slot */
	size_t n, mask;
	uint64_t seed;
};

#define HASH64_EMPTY UINT64_MAX

/*
 * Keys are read from files. A table mixes its address into each hash, so that nobody can choose
 * keys that collide.
 */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9e3779b97f4a7c15u;
	return x ^ x >> 29;
}

uint64_t hash_bytes(const void *p, size_t len);

/* HASH64_EMPTY if the key is absent. */
static inline uint64_t hash64_find(const struct hash64 *h, uint64_t key)
{
	if (!h->slots)
		return HASH64_EMPTY;
	for (size_t i = hash_u64(key ^ h->seed) & h->mask;; i = (i + 1) & h->mask) {
		if (h->slots[i].value == HASH64_EMPTY || h->slots[i].key == key)
			return h->slots[i].value;
	}
}

/*
 * Adds or replaces a value, which must not be HASH64_EMPTY. Replacing cannot fail. Returns 0 on
 * success, -ENOMEM on failure.
 */
int hash64_put(struct hash64 *h, uint64_t key, uint64_t value);
void hash64_done(struct hash64 *h);

#endif
