/* SPDX-License-Identifier: MIT */
#include "state/lineage.h"

#include "base/err.h"

static enum lineage_maps lineage_maps_of(const struct change *c)
{
	if (c->pid == c->ppid)
		return LINEAGE_SHARES;
	return c->exec ? LINEAGE_DESCRIBED : LINEAGE_INHERITS;
}

int lineage_apply(const struct lineage_ops *ops, void *user, const struct change *c)
{
	switch (c->kind) {
	case CHANGE_FORK:
		return ops->fork ? ops->fork(user, c, lineage_maps_of(c)) : 0;
	case CHANGE_COMM:
		if (ops->name)
			TRY(ops->name(user, c));
		return c->exec && !c->is_untimed && ops->exec ? ops->exec(user, c) : 0;
	case CHANGE_MMAP:
		return ops->map && !c->kernel ? ops->map(user, c) : 0;
	case CHANGE_EXIT:
		/* pid 0: idle tasks, tasks of other pid namespaces; -1: a task without a pid */
		return ops->exit ? ops->exit(user, c, c->pid == c->tid && c->pid > 0) : 0;
	default:
		return 0;
	}
}

/* ---- the table ------------------------------------------------------------------------------ */

/* Finds an entry of `lives`: an unused one, or a new one. */
static int lineage_take_life(struct lineage *l, uint32_t *ret)
{
	if (l->unused.n) {
		*ret = l->unused.v[--l->unused.n];
		return 0;
	}
	TRY(vec_push(&l->lives, (struct lineage_life){ 0 }));
	*ret = (uint32_t)(l->lives.n - 1);
	return 0;
}

int lineage_put(struct lineage *l, int32_t number, void *payload)
{
	struct lineage_life *life = lineage_find(l, number);
	const bool has_ended = lineage_has_ended(l, number);
	uint32_t i;
	int r;

	if (life) {
		life->payload = payload;
		return 0;
	}
	TRY(lineage_take_life(l, &i));
	l->lives.v[i] = (struct lineage_life){
		.payload = payload,
		.number = number,
		.holder = l->nr_holders++ & INT32_MAX,
		.has_ended = has_ended,
	};
	r = hash64_put(&l->by_number, (uint32_t)number, i);
	if (r < 0) {
		l->lives.v[i] = (struct lineage_life){ 0 };
		if (i == l->lives.n - 1)
			l->lives.n--;
	}
	return r;
}

void lineage_begin(struct lineage *l, int32_t number)
{
	struct lineage_life *life = lineage_find(l, number);

	if (life) {
		life->holder = l->nr_holders++ & INT32_MAX;
		life->has_ended = false;
	} else if (lineage_has_ended(l, number)) {
		hash64_put(&l->by_number, (uint32_t)number, LINEAGE_BEGUN); /* replaces */
	}
}

/* Drops the number's payload. If memory runs out its entry is not reused. */
static void *lineage_forget(struct lineage *l, struct lineage_life *life)
{
	void *payload = life->payload;
	const uint32_t i = (uint32_t)(life - l->lives.v);

	life->payload = NULL;
	if (vec_push(&l->unused, i) >= 0)
		hash64_put(&l->by_number, (uint32_t)life->number, LINEAGE_ENDED); /* replaces */
	else
		err_clear();
	return payload;
}

int lineage_end(struct lineage *l, int32_t number, size_t kept, void **ret_gone)
{
	struct lineage_life *life = lineage_find(l, number);
	struct lineage_exit now, before;

	*ret_gone = NULL;
	if (!life) {
		TRY(lineage_put(l, number, NULL));
		life = lineage_find(l, number);
	}
	life->has_ended = true;
	now = (struct lineage_exit){ .number = number, .holder = life->holder };
	if (l->exits.n < kept)
		return vec_push(&l->exits, now);
	before = l->exits.v[l->next_exit];
	l->exits.v[l->next_exit] = now;
	l->next_exit = (l->next_exit + 1) % kept;
	life = lineage_find(l, before.number);
	if (life && life->holder == before.holder)
		*ret_gone = lineage_forget(l, life);
	return 0;
}

int lineage_compact(struct lineage *l)
{
	size_t n = 0;

	vec_foreach(life, &l->lives) {
		if (life->payload)
			l->lives.v[n++] = *life;
	}
	l->lives.n = n;
	hash64_done(&l->by_number);
	for (size_t i = 0; i < n; i++)
		TRY(hash64_put(&l->by_number, (uint32_t)l->lives.v[i].number, i));
	return 0;
}

void lineage_done(struct lineage *l)
{
	hash64_done(&l->by_number);
	vec_done(&l->lives);
	vec_done(&l->unused);
	vec_done(&l->exits);
	*l = (struct lineage){ 0 };
}
