/* SPDX-License-Identifier: MIT */
#include "base/wordset.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/vec.h"

void wordset_init(struct wordset *s, unsigned stride)
{
	*s = (struct wordset){ .stride = stride };
}

void wordset_done(struct wordset *s)
{
	free(s->words);
	free(s->slots);
	*s = (struct wordset){ .stride = s->stride };
}

static void wordset_insert(struct wordset *s, uint32_t number, uint64_t hash)
{
	size_t i = hash & s->mask;

	while (s->slots[i])
		i = (i + 1) & s->mask;
	s->slots[i] = wordset_slot(hash, number);
}

static int wordset_grow_slots(struct wordset *s)
{
	const size_t size = s->slots ? (s->mask + 1) * 2 : 64;
	uint64_t *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return err_nomem();
	free(s->slots);
	s->slots = slots;
	s->mask = size - 1;
	if (!s->seed)
		s->seed = hash_u64((uintptr_t)slots ^ (uintptr_t)s << 20) | 1;
	for (size_t i = 0; i < s->n; i++)
		wordset_insert(s, (uint32_t)i, wordset_hash(s, wordset_key(s, (uint32_t)i)));
	return 0;
}

int wordset_append(struct wordset *s, const uint64_t *key, uint64_t hash, uint32_t *ret)
{
	if (s->n >= WORDSET_MAX)
		return err_set(-ENOMEM, "more than %d distinct keys", WORDSET_MAX);
	if (!s->slots || s->n * 4 > s->mask * 3) {
		TRY(wordset_grow_slots(s));
		hash = wordset_hash(s, key);
	}
	if (s->n == s->capacity)
		TRY(vec_reserve_bytes((void **)&s->words, &s->capacity, s->n + 1,
				      sizeof(*s->words) * s->stride));
	memcpy(s->words + s->n * s->stride, key, sizeof(*key) * s->stride);
	wordset_insert(s, (uint32_t)s->n, hash);
	*ret = (uint32_t)s->n++;
	return 0;
}

int wordset_find(const struct wordset *s, const uint64_t *key, uint32_t *ret)
{
	const uint64_t h = wordset_hash(s, key);

	for (size_t i = h & s->mask; s->slots && s->slots[i]; i = (i + 1) & s->mask) {
		if (wordset_holds(s, s->slots[i], h, key)) {
			*ret = wordset_number(s->slots[i]);
			return 0;
		}
	}
	return -ENOSPC;
}
