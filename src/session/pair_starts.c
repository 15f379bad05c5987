/* SPDX-License-Identifier: MIT */
/* The starts that have no stop yet: by key, the innermost first, and by age. */
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "session/pairs.h"

enum { FIRST_BUCKETS = 64 };

static uint64_t starts_hash(const struct pair_starts *l, const struct pair_of *of)
{
	const uint64_t key = of->key.text ? hash_bytes(of->key.text, of->key.len) : of->key.number;

	return hash_u64(hash_u64(key ^ (uintptr_t)l) + of->pair + ((uint64_t)of->recording << 32));
}

static bool starts_match(const struct pair_start *st, uint64_t hash, const struct pair_of *of)
{
	return st->hash == hash && st->of.pair == of->pair && st->of.recording == of->recording &&
	       st->of.key.number == of->key.number && st->of.key.len == of->key.len &&
	       (!of->key.len || !memcmp(st->bytes + st->len, of->key.text, of->key.len));
}

static uint32_t *starts_bucket(const struct pair_starts *l, uint64_t hash)
{
	return &l->buckets[hash & (l->nr_buckets - 1)];
}

static void starts_link(struct pair_starts *l, uint32_t i)
{
	struct pair_start *st = &l->v[i];
	uint32_t *head = starts_bucket(l, st->hash);

	st->prev = PAIR_NONE;
	st->next = *head;
	if (*head != PAIR_NONE)
		l->v[*head].prev = i;
	*head = i;
}

/* The buckets keep their order: the starts are linked again from the oldest to the youngest. */
static int starts_grow(struct pair_starts *l)
{
	const uint32_t nr = l->nr_buckets ? 2 * l->nr_buckets : FIRST_BUCKETS;
	uint32_t *buckets = malloc(nr * sizeof(*buckets));

	if (!buckets)
		return err_nomem();
	memset(buckets, 0xff, nr * sizeof(*buckets)); /* PAIR_NONE */
	free(l->buckets);
	l->buckets = buckets;
	l->nr_buckets = nr;
	for (uint32_t i = l->oldest; i != PAIR_NONE; i = l->v[i].newer)
		starts_link(l, i);
	return 0;
}

uint32_t pair_starts_find(const struct pair_starts *l, const struct pair_of *of)
{
	const uint64_t hash = starts_hash(l, of);

	if (!l->nr_buckets)
		return PAIR_NONE;
	for (uint32_t i = *starts_bucket(l, hash); i != PAIR_NONE; i = l->v[i].next)
		if (starts_match(&l->v[i], hash, of))
			return i;
	return PAIR_NONE;
}

void pair_starts_remove(struct pair_starts *l, uint32_t i)
{
	struct pair_start *st = &l->v[i];

	if (st->prev != PAIR_NONE)
		l->v[st->prev].next = st->next;
	else
		*starts_bucket(l, st->hash) = st->next;
	if (st->next != PAIR_NONE)
		l->v[st->next].prev = st->prev;
	if (st->older != PAIR_NONE)
		l->v[st->older].newer = st->newer;
	else
		l->oldest = st->newer;
	if (st->newer != PAIR_NONE)
		l->v[st->newer].older = st->older;
	else
		l->newest = st->older;
	l->nr_open--;
	/* Large payloads are rare: their room is not kept. */
	if (st->room > PAIR_KEPT_BYTES) {
		l->bytes -= st->room;
		free(st->bytes);
		st->bytes = NULL;
		st->room = 0;
	}
	st->older = l->free;
	l->free = i;
}

/* Makes room in a start that is not linked. */
static int starts_room(struct pair_starts *l, struct pair_start *st, uint32_t bytes)
{
	const uint32_t room = bytes < PAIR_KEPT_BYTES ? PAIR_KEPT_BYTES : bytes;
	uint8_t *p;

	if (bytes <= st->room)
		return 0;
	p = realloc(st->bytes, room);
	if (!p)
		return err_nomem();
	l->bytes += room - st->room;
	st->bytes = p;
	st->room = room;
	return 0;
}

static int starts_take(struct pair_starts *l, uint32_t bytes, uint32_t *ret)
{
	if (l->nr_open >= l->nr_buckets)
		TRY(starts_grow(l));
	if (l->free == PAIR_NONE) {
		TRY(vec_reserve(l, 1));
		l->v[l->n] = (struct pair_start){ .older = PAIR_NONE };
		l->free = (uint32_t)l->n++;
	}
	TRY(starts_room(l, &l->v[l->free], bytes));
	*ret = l->free;
	l->free = l->v[*ret].older;
	return 0;
}

bool pair_starts_is_full(const struct pair_starts *l, uint64_t bytes)
{
	return l->nr_open && (l->nr_open >= PAIR_MAX_OPEN || l->bytes + bytes > PAIR_MAX_BYTES);
}

int pair_starts_add(struct pair_starts *l, const struct pair_start *start)
{
	const uint32_t len = start->len, text_len = start->of.key.len;
	struct pair_start *st;
	uint32_t i;

	TRY(starts_take(l, len + text_len, &i));
	st = &l->v[i];
	*st = (struct pair_start){
		.of = start->of,
		.hash = starts_hash(l, &start->of),
		.time_ns = start->time_ns,
		.losses = start->losses,
		.schema = start->schema,
		.bytes = st->bytes,
		.room = st->room,
		.len = len,
		.older = l->newest,
		.newer = PAIR_NONE,
	};
	if (len)
		memcpy(st->bytes, start->bytes, len);
	if (text_len)
		memcpy(st->bytes + len, start->of.key.text, text_len);
	st->of.key.text = NULL; /* it is in bytes */
	if (l->newest != PAIR_NONE)
		l->v[l->newest].newer = i;
	else
		l->oldest = i;
	l->newest = i;
	l->nr_open++;
	starts_link(l, i);
	return 0;
}

void pair_starts_init(struct pair_starts *l)
{
	*l = (struct pair_starts){ .free = PAIR_NONE, .oldest = PAIR_NONE, .newest = PAIR_NONE };
}

void pair_starts_done(struct pair_starts *l)
{
	vec_foreach(st, l)
		free(st->bytes);
	vec_done(l);
	free(l->buckets);
	pair_starts_init(l);
}
