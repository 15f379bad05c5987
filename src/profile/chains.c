/* SPDX-License-Identifier: MIT */
#include "profile/chains.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "model/callchain.h"
#include "profile/marks.h"
#include "profile/places.h"
#include "recording/code.h"
#include "recording/locate.h"

/* A chain as recorded, with the mappings at that time. */
struct known_chain {
	uint64_t hash, user_stamp, kernel_stamp;
	uint64_t bytes_at; /* in chain_cache.bytes */
	uint32_t nr;       /* entries */
	uint32_t cpumode;  /* cpumode of the sample, if unmapped frames depend on it; otherwise 0 */
	uint32_t path;
	/* number + 1 of the place that replaces the sampled one (ignore-callees); 0 if none */
	uint32_t place;
	uint64_t parent;
	bool is_cut;
};

struct chain_cache {
	VEC(struct known_chain) known;
	VEC(uint8_t) bytes;
	uint32_t *slots; /* owned; index in known + 1 */
	size_t mask;
	uint64_t asked, hits;
};

/* Raw chains beyond this many bytes are resolved each time. */
#define CHAIN_CACHE_BYTES ((size_t)8 << 20)

/* After so many chains the cache is used only if at least an eighth of them was in it. */
#define CHAIN_CACHE_TRIAL 16384

static bool chains_repeat(const struct chain_cache *c)
{
	return c->asked < CHAIN_CACHE_TRIAL || c->hits >= c->asked / 8;
}

void chains_forget(struct profile *p)
{
	struct chain_cache *c = p->chains;

	if (!c)
		return;
	vec_done(&c->known);
	vec_done(&c->bytes);
	free(c->slots);
	free(c);
	p->chains = NULL;
}

/* ---- frames ---------------------------------------------------------------------------------- */

static bool chains_hide(const struct profile *p, uint32_t place)
{
	return p->opts.hide_unresolved && !place_at(p, place)->sym;
}

/* A chain's frames while they are looked at; they are in p->frames, innermost first. */
struct chain_part {
	size_t first, end; /* the frames to keep */
};

/*
 * Looks for the functions that parent= and ignore-callees= name, in perf's order of frames. perf
 * drops the frames that it has seen before, which are the callers if the order begins at them.
 */
static void chains_mark(struct profile *p, const struct event *ev, const struct sonde_frame *frames,
			uint32_t *sampled, struct chain_part *part)
{
	const struct rules *rules = ev->recording->opts->rules;
	const bool from_caller = p->opts.callgraph == CALLGRAPH_CALLER;
	const size_t n = p->frames.n;

	for (size_t k = 0; k < n; k++) {
		const size_t i = from_caller ? n - 1 - k : k;
		const uint32_t place = p->frames.v[i];

		if (rules->matches_no_unwound_frames && frames[i].flags & SONDE_FRAME_UNWOUND)
			continue;
		if (p->has_parent && !p->chain_parent && marks_parent(p, place)) {
			p->chain_parent = place + 1ull;
			continue;
		}
		if (!marks_ignore_callees(p, place))
			continue;
		if (from_caller && rules->ignores_callers) {
			part->end = i + 1;
			*sampled = place;
		} else if (i >= part->first) {
			part->first = i;
			*sampled = place;
		}
	}
}

static uint64_t chains_stamp(const struct event *ev, uint32_t cpumode)
{
	const struct address_space *space = recording_space(ev, cpumode);

	return space ? space->stamp : 0;
}

/* Fills p->frames with the places of the frames. Most of them are only addresses. */
static int chains_find_places(struct profile *p, const struct event *ev,
			      const struct sonde_frame *frames, size_t n)
{
	uint32_t mode = UINT32_MAX;
	uint64_t stamp = 0;

	vec_clear(&p->frames);
	TRY(vec_reserve(&p->frames, n));
	for (size_t i = 0; i < n; i++) {
		const struct sonde_frame *f = &frames[i];
		uint32_t *ret = &p->frames.v[i];

		if (f->cpumode != mode) {
			mode = f->cpumode;
			stamp = chains_stamp(ev, mode);
		}
		if (f->sym || f->file || f->line)
			TRY(places_find(p, ev, f->ip, mode, f, ret));
		else
			TRY(places_recent(p, ev, stamp, f->ip, mode, ret));
	}
	p->frames.n = n;
	return 0;
}

/*
 * Fills p->frames with the places of the frames, innermost first. The callees of a function that
 * ignore-callees= names are dropped, and this function becomes the sampled one.
 */
static int chains_places(struct profile *p, const struct event *ev, uint32_t *sampled)
{
	const struct sonde_frame *frames;
	struct chain_part part = { 0 };
	size_t kept = 0;
	int n = recording_chain_as(ev, p->opts.callgraph == CALLGRAPH_CALLER, &frames);

	if (n < 0)
		return n;
	TRY(chains_find_places(p, ev, frames, (size_t)n));
	part.end = p->frames.n;
	if (p->has_parent || p->opts.ignore_callees)
		chains_mark(p, ev, frames, sampled, &part);
	for (size_t i = part.first; i < part.end; i++) {
		if (!chains_hide(p, p->frames.v[i]))
			p->frames.v[kept++] = p->frames.v[i];
	}
	p->frames.n = kept;
	if (n)
		p->facts.flags |= SONDE_PROFILE_CALLCHAINS;
	return 0;
}

static bool chains_inherit_mode(const struct profile *p, const struct event *ev)
{
	return p->opts.children && ev->recording->opts->rules->unmapped_frame_keeps_mode;
}

/* A frame without a mapping gets the mode of the previous frame, in perf's order of frames. */
static int chains_pass_modes(struct profile *p, const struct event *ev)
{
	const bool from_caller = p->opts.callgraph == CALLGRAPH_CALLER;
	uint32_t mode = ev->pub.cpumode;

	for (size_t i = 0; i < p->frames.n; i++) {
		uint32_t *at = &p->frames.v[from_caller ? p->frames.n - 1 - i : i];

		if (place_at(p, *at)->dso)
			mode = place_at(p, *at)->cpumode;
		else
			TRY(places_with_mode(p, *at, mode, at));
	}
	return 0;
}

static int chains_put_path(struct profile *p, uint32_t *ret)
{
	uint32_t *frames = p->frames.v;
	const size_t n = p->frames.n;

	*ret = PROFILE_ROOT;
	if (!n || p->opts.callgraph == CALLGRAPH_NONE)
		return 0;
	for (size_t i = 0; i < n; i++)
		frames[i]++;
	for (size_t i = 0; p->opts.callgraph == CALLGRAPH_CALLER && i < n / 2; i++) {
		const uint32_t frame = frames[i];

		frames[i] = frames[n - 1 - i];
		frames[n - 1 - i] = frame;
	}
	return pathset_put(&p->call_paths, frames, (uint32_t)n, p->opts.max_keys, ret);
}

static int chains_resolve(struct profile *p, const struct event *ev, uint32_t *place, uint32_t *ret)
{
	TRY(chains_places(p, ev, place));
	p->chain_is_cut = ev->recording->chain_is_cut;
	if (chains_inherit_mode(p, ev))
		TRY(chains_pass_modes(p, ev));
	return chains_put_path(p, ret);
}

/* ---- known chains ---------------------------------------------------------------------------- */

static uint64_t chains_hash(const struct known_chain *k, const uint8_t *entries)
{
	uint64_t h = hash_u64(k->user_stamp ^ k->kernel_stamp << 32) ^ k->nr;

	for (uint32_t i = 0; i < k->nr; i++) {
		uint64_t v;

		memcpy(&v, entries + 8 * (size_t)i, sizeof(v));
		h = (h ^ v) * 0x9e3779b97f4a7c15u;
		h ^= h >> 29;
	}
	return h;
}

static bool chains_equal(const struct chain_cache *c, const struct known_chain *a,
			 const struct known_chain *b, const uint8_t *entries)
{
	return a->hash == b->hash && a->nr == b->nr && a->cpumode == b->cpumode &&
	       a->user_stamp == b->user_stamp && a->kernel_stamp == b->kernel_stamp &&
	       !memcmp(c->bytes.v + a->bytes_at, entries, 8 * (size_t)a->nr);
}

static int chains_grow(struct chain_cache *c)
{
	const size_t size = c->slots ? (c->mask + 1) * 2 : 1024;
	uint32_t *slots = calloc(size, sizeof(*slots));

	if (!slots)
		return err_nomem();
	free(c->slots);
	c->slots = slots;
	c->mask = size - 1;
	for (size_t i = 0; i < c->known.n; i++) {
		size_t at = c->known.v[i].hash & c->mask;

		while (slots[at])
			at = (at + 1) & c->mask;
		slots[at] = (uint32_t)i + 1;
	}
	return 0;
}

static int chains_keep(struct chain_cache *c, struct known_chain *k, const uint8_t *entries)
{
	size_t at;

	if (c->bytes.n > CHAIN_CACHE_BYTES)
		return 0;
	if (!c->slots || c->known.n * 2 > c->mask)
		TRY(chains_grow(c));
	k->bytes_at = c->bytes.n;
	TRY(vec_reserve(&c->bytes, 8 * (size_t)k->nr));
	memcpy(c->bytes.v + c->bytes.n, entries, 8 * (size_t)k->nr);
	c->bytes.n += 8 * (size_t)k->nr;
	TRY(vec_push(&c->known, *k));
	for (at = k->hash & c->mask; c->slots[at]; at = (at + 1) & c->mask)
		;
	c->slots[at] = (uint32_t)c->known.n;
	return 0;
}

static const struct known_chain *chains_lookup(const struct chain_cache *c,
					       const struct known_chain *k, const uint8_t *entries)
{
	for (size_t at = k->hash & c->mask; c->slots && c->slots[at]; at = (at + 1) & c->mask) {
		const struct known_chain *known = &c->known.v[c->slots[at] - 1];

		if (chains_equal(c, known, k, entries))
			return known;
	}
	return NULL;
}

int chains_find(struct profile *p, const struct event *ev, uint32_t *place, uint32_t *ret)
{
	const uint32_t sampled = *place;
	const struct known_chain *known;
	struct known_chain k = { 0 };
	const uint8_t *entries;
	int nr = recording_plain_chain(ev, &entries);

	p->chain_parent = 0;
	if (nr < 0)
		return chains_resolve(p, ev, place, ret);
	*ret = PROFILE_ROOT;
	p->chain_is_cut = false;
	if (!nr)
		return 0;
	if (!p->chains) {
		p->chains = calloc(1, sizeof(*p->chains));
		if (!p->chains)
			return err_nomem();
	}
	if (!chains_repeat(p->chains))
		return chains_resolve(p, ev, place, ret);
	k.nr = (uint32_t)nr;
	k.cpumode = chains_inherit_mode(p, ev) ? ev->pub.cpumode : 0;
	k.user_stamp = chains_stamp(ev, CPUMODE_USER);
	k.kernel_stamp = chains_stamp(ev, CPUMODE_KERNEL);
	k.hash = chains_hash(&k, entries);
	known = chains_lookup(p->chains, &k, entries);
	p->chains->asked++;
	if (known) {
		p->chains->hits++;
		*ret = known->path;
		p->chain_is_cut = known->is_cut;
		p->chain_parent = known->parent;
		if (known->place)
			*place = known->place - 1;
		return 0;
	}
	TRY(chains_resolve(p, ev, place, ret));
	k.path = *ret;
	k.is_cut = p->chain_is_cut;
	k.parent = p->chain_parent;
	k.place = *place != sampled ? *place + 1 : 0;
	return chains_keep(p->chains, &k, entries);
}
