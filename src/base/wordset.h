/* SPDX-License-Identifier: MIT */
/*
 * struct wordset: distinct keys of a fixed number of 64-bit words, numbered from 0 in the order in
 * which they were added. Keys come from files, so a set mixes its address into each hash.
 */
#ifndef SONDE_BASE_WORDSET_H
#define SONDE_BASE_WORDSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/hash.h"

struct wordset {
	unsigned stride; /* number of words in a key */
	size_t n, capacity;
	uint64_t *words; /* owned; n * stride */
	uint64_t *slots; /* owned; see wordset_slot(); 0 if the slot is free */
	size_t mask;
	uint64_t seed;
};

enum { WORDSET_MAX = 1 << 30 };

void wordset_init(struct wordset *s, unsigned stride);
void wordset_done(struct wordset *s);
/* Adds a key that is not in the set. Returns 0 and its number in *ret, or -ENOMEM. */
int wordset_append(struct wordset *s, const uint64_t *key, uint64_t hash, uint32_t *ret);

static inline const uint64_t *wordset_key(const struct wordset *s, uint32_t i)
{
	return s->words + (size_t)i * s->stride;
}

static inline uint64_t wordset_hash(const struct wordset *s, const uint64_t *key)
{
	uint64_t h = s->seed;

	for (unsigned i = 0; i < s->stride; i++)
		h = hash_u64(h ^ key[i]) + i;
	return h ^ h >> 32;
}

/*
 * A slot:	| half of the hash: 32 | number + 1: 32 |
 *
 * Keys are far apart in memory. The half of the hash spares reading those of other keys.
 */
static inline uint64_t wordset_slot(uint64_t hash, uint32_t number)
{
	return (hash & ~(uint64_t)UINT32_MAX) | (number + 1);
}

static inline uint32_t wordset_number(uint64_t slot)
{
	return (uint32_t)slot - 1;
}

/* True if a used slot is that of the key. */
static inline bool wordset_holds(const struct wordset *s, uint64_t slot, uint64_t hash,
				 const uint64_t *key)
{
	const uint64_t *known;

	if ((slot ^ hash) >> 32)
		return false;
	known = wordset_key(s, wordset_number(slot));

	for (unsigned w = 0; w < s->stride; w++) {
		if (known[w] != key[w])
			return false;
	}
	return true;
}

/* Finds the number of a key. Returns 0, or -ENOSPC if the set does not have the key. */
int wordset_find(const struct wordset *s, const uint64_t *key, uint32_t *ret);

/* Finds the number of a key, or adds the key. Returns 1 if it is new, 0 if known, or -ENOMEM. */
static inline int wordset_put(struct wordset *s, const uint64_t *key, uint32_t *ret)
{
	const uint64_t h = wordset_hash(s, key);
	int r;

	if (s->slots) {
		for (size_t i = h & s->mask; s->slots[i]; i = (i + 1) & s->mask) {
			if (wordset_holds(s, s->slots[i], h, key)) {
				*ret = wordset_number(s->slots[i]);
				return 0;
			}
		}
	}
	r = wordset_append(s, key, h, ret);
	return r < 0 ? r : 1;
}

/* The same, but fails with -ENOSPC if the set would have more than `max` keys. */
static inline int wordset_put_within(struct wordset *s, const uint64_t *key, uint64_t max,
				     uint32_t *ret)
{
	const size_t n = s->n;
	uint32_t known;
	int r;

	if (__builtin_expect(n < max, 1))
		return wordset_put(s, key, ret);
	r = wordset_find(s, key, &known);
	if (r >= 0)
		*ret = known;
	return r;
}

#endif
