/* SPDX-License-Identifier: MIT */
#include "recording/stitch.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/vec.h"
#include "sources/source.h"

/* A damaged recording could add callers to a stack for ever. */
enum { STITCH_MAX_CALLERS = 4096 };

/* The last call stack of a thread. */
struct stitch_thread {
	VEC(struct sonde_branch) stack;
	uint64_t hw_idx;
	VEC(uint64_t) joined; /* the callers beyond it, innermost first */
};

struct stitches {
	struct hash64 by_tid; /* index in threads */
	VEC(struct stitch_thread) threads;
	uint64_t registers; /* of the machine; 0 if the recording does not say */
};

void stitch_done(struct stitches **s)
{
	if (!*s)
		return;
	vec_foreach(t, &(*s)->threads) {
		vec_done(&t->stack);
		vec_done(&t->joined);
	}
	vec_done(&(*s)->threads);
	hash64_done(&(*s)->by_tid);
	free(*s);
	*s = NULL;
}

static int stitch_begin(struct stitches **s, const struct event *ev)
{
	const char *registers = source_info(ev->source, "branch-registers");

	if (*s)
		return 0;
	*s = calloc(1, sizeof(**s));
	if (!*s)
		return err_nomem();
	(*s)->registers = registers ? strtoull(registers, NULL, 10) : 0;
	return 0;
}

static int stitch_thread(struct stitches *s, uint64_t tid, struct stitch_thread **ret)
{
	uint64_t at = hash64_find(&s->by_tid, tid);

	if (at == HASH64_EMPTY) {
		at = s->threads.n;
		TRY(vec_push(&s->threads, (struct stitch_thread){ 0 }));
		TRY(hash64_put(&s->by_tid, tid, at));
	}
	*ret = &s->threads.v[at];
	return 0;
}

/*
 * The index in the previous stack of the branch that is in the register of the new stack's
 * outermost one. False if the previous stack does not reach so far.
 */
static bool stitch_find(const struct stitches *s, const struct stitch_thread *t,
			const struct sonde_sample *sample, size_t *ret)
{
	const uint64_t base = s->registers - sample->nr_branches + sample->branch_hw_idx + 1;
	const uint64_t distance = (t->hw_idx > base ? 0 : s->registers) + t->hw_idx - base;

	*ret = (size_t)distance;
	return distance < t->stack.n;
}

static bool stitch_equal(const struct sonde_branch *a, const struct sonde_branch *b)
{
	return a->from == b->from && a->to == b->to && a->flags == b->flags;
}

/* True if the outermost branch of the new stack is one of the previous stack. */
static bool stitch_continues(const struct stitches *s, const struct stitch_thread *t,
			     const struct sonde_sample *sample, size_t *ret)
{
	return sample->nr_branches && stitch_find(s, t, sample, ret) &&
	       stitch_equal(&t->stack.v[*ret], &sample->branches[sample->nr_branches - 1]);
}

/* Puts the callers that the previous stack had beyond index `at` before those that are joined. */
static int stitch_join(struct stitch_thread *t, size_t at)
{
	const size_t more = t->stack.n - 1 - at;

	if (t->joined.n + more > STITCH_MAX_CALLERS)
		return 0;
	TRY(vec_reserve(&t->joined, more));
	if (t->joined.n)
		memmove(t->joined.v + more, t->joined.v, t->joined.n * sizeof(*t->joined.v));
	for (size_t i = 0; i < more; i++)
		t->joined.v[i] = t->stack.v[at + 1 + i].from;
	t->joined.n += more;
	return 0;
}

static int stitch_keep(struct stitch_thread *t, const struct sonde_sample *sample)
{
	vec_clear(&t->stack);
	TRY(vec_reserve(&t->stack, sample->nr_branches));
	memcpy(t->stack.v, sample->branches, sample->nr_branches * sizeof(*t->stack.v));
	t->stack.n = sample->nr_branches;
	t->hw_idx = sample->branch_hw_idx;
	return 0;
}

int stitch_callers(struct stitches **s, const struct event *ev, const struct sonde_sample *sample,
		   const uint64_t **ret)
{
	const struct perf_event_attr *attr = ev->schema->attr;
	struct stitch_thread *t;
	size_t at;

	*ret = NULL;
	TRY(stitch_begin(s, ev));
	if (!(*s)->registers || !sample->nr_branches || !attr ||
	    !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_HW_INDEX))
		return 0;
	TRY(stitch_thread(*s, (uint32_t)ev->pub.tid, &t));
	if (stitch_continues(*s, t, sample, &at))
		TRY(stitch_join(t, at));
	else
		vec_clear(&t->joined);
	TRY(stitch_keep(t, sample));
	*ret = t->joined.v;
	return (int)t->joined.n;
}
