/* SPDX-License-Identifier: MIT */
#include "profile/history.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "compat/rules.h"
#include "model/callchain.h"
#include "model/sampled.h"
#include "model/schema.h"
#include "profile/branches.h"
#include "profile/places.h"
#include "recording/code.h"
#include "recording/recording.h"

enum { FLAG_PREDICTED = 2, FLAG_ABORT = 8, CYCLES_SHIFT = 4 };
/* perf takes a longer branch stack for a damaged one. */
enum { HISTORY_MAX_BRANCHES = 127 };
/* A caller's address in a chain is behind its call, which has at most so many bytes. */
enum { LONGEST_CALL = 8 };

int history_init(struct profile *p)
{
	if (!p->opts.branch_history)
		return 0;
	p->history = calloc(1, sizeof(*p->history));
	return p->history ? 0 : err_nomem();
}

void history_done(struct profile *p)
{
	struct history *h = p->history;

	if (!h)
		return;
	vec_done(&h->steps);
	vec_done(&h->sums);
	vec_done(&h->begins);
	vec_done(&h->tree);
	free(h);
	p->history = NULL;
}

bool history_has_branches(const struct profile *p, const struct event *ev)
{
	return p->history && ev->schema->sampled & SAMPLED_BRANCH_STACK &&
	       !(ev->schema->traits & SCHEMA_CALL_STACKS);
}

/* ---- loops ----------------------------------------------------------------------------------- */

struct history_branch {
	struct sonde_branch entry;
	uint64_t loop_cycles;
	uint32_t loops;
};

static uint64_t history_cycles(uint64_t flags)
{
	return flags >> CYCLES_SHIFT & UINT16_MAX;
}

/* True if the branches from `at` on repeat those from `before` on. */
static bool history_repeats(const struct history_branch *b, size_t n, size_t before, size_t at)
{
	for (size_t i = 0; before + i < at && at + i < n; i++)
		if (b[before + i].entry.from != b[at + i].entry.from)
			return false;
	return true;
}

/*
 * Leaves out repeated branches, as perf does: a branch is looked up in a table of 127 slots that
 * keeps the first branch of each slot. The branch after a repetition counts its iterations.
 */
static size_t history_drop_loops(struct history_branch *b, size_t n)
{
	enum { SLOTS = 127, BITS = 7 };
	size_t slots[SLOTS] = { 0 }; /* index + 1 */

	for (size_t i = 0; i < n; i++) {
		const uint64_t hash = b[i].entry.from * 0x61c8864680b583ebu >> (64 - BITS);
		size_t *slot = &slots[hash % SLOTS], off;

		if (!*slot) {
			*slot = i + 1;
			continue;
		}
		if (b[*slot - 1].entry.from != b[i].entry.from ||
		    !history_repeats(b, n, *slot - 1, i))
			continue;
		off = i - (*slot - 1);
		if (off > n - i)
			off = n - i;
		if (i + off < n) {
			struct history_branch *next = &b[i + off];

			next->loops++;
			next->loop_cycles = 0;
			for (size_t k = i; k < i + off; k++)
				next->loop_cycles += history_cycles(b[k].entry.flags);
			memmove(b + i, b + i + off, (n - i - off) * sizeof(*b));
		}
		n -= off;
	}
	return n;
}

/* ---- the steps of a sample ------------------------------------------------------------------- */

struct history_chain {
	const uint8_t *entries;
	size_t nr, first; /* first: the innermost entry that no branch has */
	bool swap;
};

static uint64_t history_entry(const struct history_chain *c, size_t i)
{
	return get_u64(c->entries + 8 * i, c->swap);
}

/* Skips entries of the chain that are markers, or that the newest branches have already. */
static void history_skip_entry(struct history_chain *c, const struct sonde_branch *b)
{
	uint64_t ip;

	if (c->first >= c->nr)
		return;
	ip = history_entry(c, c->first);
	if (ip >= CALLCHAIN_MARKERS || (b->from < ip && b->from >= ip - LONGEST_CALL))
		c->first++;
}

static int history_push_branches(struct profile *p, const struct event *ev,
				 const struct sonde_sample *s, struct history_chain *c,
				 size_t *ret_nr)
{
	const bool from_caller = p->opts.callgraph == CALLGRAPH_CALLER;
	struct history_branch b[HISTORY_MAX_BRANCHES] = { 0 };
	size_t n = s->nr_branches;

	*ret_nr = 0;
	if (n > HISTORY_MAX_BRANCHES)
		return 0;
	if (n > ev->recording->opts->max_frames)
		n = ev->recording->opts->max_frames;
	for (size_t i = 0; i < n; i++) {
		b[i].entry = s->branches[from_caller ? s->nr_branches - 1 - i : i];
		if (!from_caller)
			history_skip_entry(c, &b[i].entry);
	}
	n = history_drop_loops(b, n);
	for (size_t i = 0; i < n; i++) {
		struct history_step step = {
			.ip = b[i].entry.to,
			.from = b[i].entry.from,
			.flags = b[i].entry.flags,
			.kind = HISTORY_TARGET,
		};

		TRY(vec_push(&p->history->steps, step));
		step.ip = b[i].entry.from;
		step.kind = HISTORY_SOURCE;
		step.loops = b[i].loops;
		step.loop_cycles = b[i].loop_cycles;
		TRY(vec_push(&p->history->steps, step));
	}
	*ret_nr = n;
	return 0;
}

/* The mode of an entry: that of the marker before it. */
static uint32_t history_mode(const struct history_chain *c, size_t at)
{
	while (at--) {
		const uint64_t ip = history_entry(c, at);

		if (ip >= CALLCHAIN_MARKERS)
			return callchain_cpumode(ip);
	}
	return CPUMODE_USER;
}

static int history_push_chain(struct profile *p, const struct event *ev,
			      const struct history_chain *c, size_t end)
{
	const bool from_caller = p->opts.callgraph == CALLGRAPH_CALLER;
	size_t nr = 0;

	for (size_t i = c->first; i < end && nr < ev->recording->opts->max_frames; i++) {
		const size_t at = from_caller ? c->nr - 1 - i : i;
		struct history_step step = { .ip = history_entry(c, at) };

		if (step.ip >= CALLCHAIN_MARKERS)
			continue;
		step.cpumode = (uint8_t)history_mode(c, at);
		TRY(vec_push(&p->history->steps, step));
		nr++;
	}
	return 0;
}

static int history_find_place(struct profile *p, const struct event *ev,
			      const struct history_step *step, uint32_t *ret)
{
	if (step->kind == HISTORY_CHAIN)
		return places_find(p, ev, step->ip, step->cpumode, NULL, ret);
	return places_find_in_modes(p, ev, step->ip, ret);
}

/* Orders the steps as profile.frames: a path that begins at the caller is turned round later. */
static void history_turn(struct history *h)
{
	for (size_t i = 0; i < h->steps.n / 2; i++) {
		const struct history_step step = h->steps.v[i];

		h->steps.v[i] = h->steps.v[h->steps.n - 1 - i];
		h->steps.v[h->steps.n - 1 - i] = step;
	}
}

int history_fill(struct profile *p, const struct event *ev)
{
	const struct rules *rules = ev->recording->opts->rules;
	struct history *h = p->history;
	struct history_chain c = { .swap = ev->pub.flags & SONDE_EVENT_SWAPPED };
	struct sonde_sample sample;
	size_t nr_branches, end;
	int nr;

	vec_clear(&h->steps);
	vec_clear(&p->frames);
	if (source_sample(ev->source, ev, &sample) < 0) {
		err_clear();
		return 0;
	}
	nr = source_callchain(ev->source, ev, &c.entries);
	c.nr = nr > 0 ? (size_t)nr : 0;
	TRY(history_push_branches(p, ev, &sample, &c, &nr_branches));
	end = c.nr;
	if (rules->branches_shorten_chains)
		end = end > nr_branches ? end - nr_branches : 0;
	TRY(history_push_chain(p, ev, &c, end));
	if (p->opts.callgraph == CALLGRAPH_CALLER)
		history_turn(h);
	TRY(vec_reserve(&p->frames, h->steps.n));
	for (size_t i = 0; i < h->steps.n; i++)
		TRY(history_find_place(p, ev, &h->steps.v[i], &p->frames.v[i]));
	p->frames.n = h->steps.n;
	ev->recording->chain_is_cut = false;
	return (int)p->frames.n;
}

int history_fill_chain(struct profile *p)
{
	vec_clear(&p->history->steps);
	for (size_t i = 0; i < p->frames.n; i++)
		TRY(vec_push(&p->history->steps, (struct history_step){ 0 }));
	return 0;
}

/* ---- sums ------------------------------------------------------------------------------------ */

static void history_count(struct history_sums *s, const struct history_step *step, uint64_t sample)
{
	if (!s->first)
		s->first = 4 * (sample + 1) + step->kind;
	if (step->kind == HISTORY_CHAIN)
		return;
	s->last = 4 * (sample + 1) + step->kind;
	s->branches++;
	if (step->kind == HISTORY_TARGET) {
		s->predicted += (step->flags & FLAG_PREDICTED) != 0;
		s->aborts += (step->flags & FLAG_ABORT) != 0;
		branch_types_count(&s->types, step->from, step->ip, step->flags, 1);
		return;
	}
	s->sources++;
	s->cycles += history_cycles(step->flags);
	s->loops += step->loops;
	s->loop_cycles += step->loop_cycles;
}

int history_add(struct profile *p, uint32_t cell)
{
	struct history *h = p->history;
	const bool from_caller = p->opts.callgraph == CALLGRAPH_CALLER;
	const uint32_t *frames = NULL, nr = cell_frames(p, cell, &frames);

	if (cell == h->begins.n) {
		TRY(vec_push(&h->begins, h->sums.n));
		TRY(vec_reserve(&h->sums, nr));
		memset(h->sums.v + h->sums.n, 0, nr * sizeof(*h->sums.v));
		h->sums.n += nr;
	}
	for (uint32_t i = 0; i < nr; i++)
		history_count(&h->sums.v[h->begins.v[cell] + i],
			      &h->steps.v[from_caller ? nr - 1 - i : i], p->facts.samples);
	return 0;
}

void history_sum(struct history_sums *to, const struct history_sums *more)
{
	if (!to->first || (more->first && more->first < to->first))
		to->first = more->first;
	if (more->last > to->last)
		to->last = more->last;
	to->branches += more->branches;
	to->predicted += more->predicted;
	to->aborts += more->aborts;
	to->cycles += more->cycles;
	to->loops += more->loops;
	to->loop_cycles += more->loop_cycles;
	to->sources += more->sources;
	branch_types_add(&to->types, &more->types);
}
