/* SPDX-License-Identifier: MIT */
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

uint64_t hash_bytes(const void *p, size_t len)
{
	const uint8_t *s = p;
	uint64_t h = 0xcbf29ce484222325u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ s[i]) * 0x100000001b3u;
	return hash_u64(h);
}

static void hash_hash64_insert(struct hash64 *h, uint64_t key, uint64_t value)
{
	size_t i = hash_u64(key ^ h->seed) & h->mask;

	while (h->slots[i].value != HASH64_EMPTY && h->slots[i].key != key)
		i = (i + 1) & h->mask;
	h->n += h->slots[i].value == HASH64_EMPTY;
	h->slots[i] = (struct hash64_slot){ key, value };
}

static int hash_hash64_grow(struct hash64 *h)
{
	size_t size = h->slots ? (h->mask + 1) * 2 : 16;
	struct hash64 bigger = {
		.slots = reallocarray(NULL, size, sizeof(*h->slots)),
		.mask = size - 1,
	};

	if (!bigger.slots)
		return err_nomem();
	bigger.seed = hash_u64((uintptr_t)bigger.slots ^ (uintptr_t)&bigger << 20);
	memset(bigger.slots, 0xff, size * sizeof(*h->slots));
	for (size_t i = 0; h->slots && i <= h->mask; i++) {
		if (h->slots[i].value != HASH64_EMPTY)
			hash_hash64_insert(&bigger, h->slots[i].key, h->slots[i].value);
	}
	free(h->slots);
	*h = bigger;
	return 0;
}

int hash64_put(struct hash64 *h, uint64_t key, uint64_t value)
{
	if (!h->slots || (h->n * 2 > h->mask && hash64_find(h, key) == HASH64_EMPTY))
		TRY(hash_hash64_grow(h));
	hash_hash64_insert(h, key, value);
	return 0;
}

void hash64_done(struct hash64 *h)
{
	free(h->slots);
	*h = (struct hash64){ 0 };
}
