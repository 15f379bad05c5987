/* SPDX-License-Identifier: MIT */
#include "profile/pathset.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"

enum { PATHSET_FRAMES = 16 }; /* frames of a path on average */

void pathset_done(struct pathset *s)
{
	vec_done(&s->frames);
	vec_done(&s->entries);
	free(s->slots);
	s->slots = NULL;
}

static uint32_t pathset_hash(const struct pathset *s, const uint32_t *frames, uint32_t nr)
{
	uint64_t h = s->seed ^ nr;

	for (uint32_t i = 0; i < nr; i++) {
		h = (h ^ frames[i]) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	return (uint32_t)hash_u64(h);
}

static void pathset_insert(struct pathset *s, uint32_t number)
{
	size_t i = s->entries.v[number].hash & s->mask;

	while (s->slots[i])
		i = (i + 1) & s->mask;
	s->slots[i] = number + 1;
}

static int pathset_grow(struct pathset *s)
{
	const size_t size = s->slots ? (s->mask + 1) * 2 : 256;
	uint32_t *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return err_nomem();
	free(s->slots);
	s->slots = slots;
	s->mask = size - 1;
	for (uint32_t i = 0; i < s->entries.n; i++)
		pathset_insert(s, i);
	return 0;
}

static bool pathset_holds(const struct pathset *s, uint32_t path, const uint32_t *frames,
			  uint32_t nr)
{
	const uint32_t begin = pathset_begin(s, path);

	return pathset_end(s, path) - begin == nr &&
	       !memcmp(s->frames.v + begin, frames, nr * sizeof(*frames));
}

static int pathset_append(struct pathset *s, const uint32_t *frames, uint32_t nr, uint32_t hash,
			  uint32_t *ret)
{
	const struct pathset_entry entry = { (uint32_t)s->frames.n, hash };

	if (s->entries.n * 4 > s->mask * 3)
		TRY(pathset_grow(s));
	TRY(vec_reserve(&s->frames, nr));
	TRY(vec_push(&s->entries, entry));
	memcpy(s->frames.v + s->frames.n, frames, nr * sizeof(*frames));
	s->frames.n += nr;
	*ret = (uint32_t)s->entries.n - 1;
	pathset_insert(s, *ret);
	return 1;
}

int pathset_put(struct pathset *s, const uint32_t *frames, uint32_t nr, uint64_t max, uint32_t *ret)
{
	const uint64_t max_frames =
		max < UINT32_MAX / PATHSET_FRAMES ? max * PATHSET_FRAMES : UINT32_MAX;
	uint32_t hash;

	if (!s->slots) {
		s->seed = hash_u64((uintptr_t)s) | 1;
		TRY(pathset_grow(s));
	}
	hash = pathset_hash(s, frames, nr);
	for (size_t i = hash & s->mask; s->slots[i]; i = (i + 1) & s->mask) {
		*ret = s->slots[i] - 1;
		if (s->entries.v[*ret].hash == hash && pathset_holds(s, *ret, frames, nr))
			return 0;
	}
	if (s->entries.n >= max || s->frames.n + nr > max_frames)
		return -ENOSPC;
	return pathset_append(s, frames, nr, hash, ret);
}
