/* SPDX-License-Identifier: MIT */
#include "profile/pathset.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"

enum { PATHSET_FRAMES = 16 }; /* frames of a path on average */

void pathset_done(struct pathset *s)
{
	vec_done(&s->frames);
	vec_done(&s->begins);
	free(s->slots);
	s->slots = NULL;
}

/* The hash of two frames at a time, because each step waits for the one before. */
static uint32_t pathset_hash(const struct pathset *s, const uint32_t *frames, uint32_t nr)
{
	uint64_t h = s->seed ^ nr, two = 0;
	uint32_t i;

	for (i = 0; i + 2 <= nr; i += 2) {
		memcpy(&two, frames + i, sizeof(two));
		h = (h ^ two) * 0x9e3779b97f4a7c15u;
		h ^= h >> 32;
	}
	if (i < nr)
		h = (h ^ frames[i]) * 0x9e3779b97f4a7c15u;
	return (uint32_t)hash_u64(h);
}

static void pathset_insert(struct pathset *s, struct pathset_slot slot)
{
	size_t i = slot.hash & s->mask;

	while (s->slots[i].path)
		i = (i + 1) & s->mask;
	s->slots[i] = slot;
}

static int pathset_grow(struct pathset *s)
{
	const size_t was = s->slots ? s->mask + 1 : 0, size = was ? was * 2 : 256;
	struct pathset_slot *old = s->slots, *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return err_nomem();
	s->slots = slots;
	s->mask = size - 1;
	for (size_t i = 0; i < was; i++) {
		if (old[i].path)
			pathset_insert(s, old[i]);
	}
	free(old);
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
	const uint32_t begin = (uint32_t)s->frames.n;

	if (s->begins.n * 4 > s->mask * 3)
		TRY(pathset_grow(s));
	TRY(vec_reserve(&s->frames, nr));
	TRY(vec_push(&s->begins, begin));
	memcpy(s->frames.v + begin, frames, nr * sizeof(*frames));
	s->frames.n += nr;
	*ret = (uint32_t)s->begins.n - 1;
	pathset_insert(s, (struct pathset_slot){ (uint32_t)s->begins.n, hash });
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
	for (size_t i = hash & s->mask; s->slots[i].path; i = (i + 1) & s->mask) {
		*ret = s->slots[i].path - 1;
		if (s->slots[i].hash == hash && pathset_holds(s, *ret, frames, nr))
			return 0;
	}
	if (s->begins.n >= max || s->frames.n + nr > max_frames)
		return -ENOSPC;
	return pathset_append(s, frames, nr, hash, ret);
}
