/* SPDX-License-Identifier: MIT */
#include "profile/chains.h"

#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "compat/rules.h"
#include "model/callchain.h"
#include "model/sampled.h"
#include "profile/history.h"
#include "profile/places.h"
#include "recording/code.h"
#include "recording/locate.h"

/* ---- frames ---------------------------------------------------------------------------------- */

static bool chains_hide(const struct profile *p, uint32_t place)
{
	return p->opts.hide_unresolved && !place_at(p, place)->sym;
}

/* A chain's frames while they are looked at; they are in p->frames, innermost first. */
struct chain_range {
	size_t first, end; /* the frames to keep */
};

/*
 * Looks for the functions that parent= and ignore-callees= name, in perf's order of frames. perf
 * drops the frames that it has seen before, which are the callers if the order begins at them.
 */
static void chains_mark(struct profile *p, const struct event *ev, const struct sonde_frame *frames,
			uint32_t *sampled, struct chain_range *range)
{
	const struct rules *rules = ev->recording->opts->rules;
	const bool from_caller = p->opts.callgraph == CALLGRAPH_CALLER;
	const size_t n = p->frames.n;

	for (size_t k = 0; k < n; k++) {
		const size_t i = from_caller ? n - 1 - k : k;
		const uint32_t place = p->frames.v[i];

		if (rules->matches_no_unwound_frames && frames &&
		    frames[i].flags & SONDE_FRAME_UNWOUND)
			continue;
		if (p->has_parent && !p->chain_parent && place_at(p, place)->is_parent) {
			p->chain_parent = place + 1ull;
			continue;
		}
		if (!place_at(p, place)->is_ignored)
			continue;
		if (from_caller && rules->ignores_callers) {
			range->end = i + 1;
			*sampled = place;
		} else if (i >= range->first) {
			range->first = i;
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
 * Fills p->frames. *ret: the frames; NULL if branches are among them. Returns their number, or a
 * negative errno.
 */
static int chains_fill(struct profile *p, const struct event *ev, const struct sonde_frame **ret)
{
	int n;

	*ret = NULL;
	if (history_has_branches(p, ev))
		return history_fill(p, ev);
	n = recording_chain_as(ev, p->opts.callgraph == CALLGRAPH_CALLER, ret);
	if (n < 0)
		return n;
	TRY(chains_find_places(p, ev, *ret, (size_t)n));
	if (p->history)
		TRY(history_fill_chain(p));
	return n;
}

/*
 * Fills p->frames with the places of the frames, innermost first. The callees of a function that
 * ignore-callees= names are dropped, and this function becomes the sampled one.
 */
static int chains_places(struct profile *p, const struct event *ev, uint32_t *sampled)
{
	const struct sonde_frame *frames;
	struct chain_range range = { 0 };
	size_t kept = 0;
	int n = chains_fill(p, ev, &frames);

	if (n < 0)
		return n;
	range.end = p->frames.n;
	if (p->has_parent || p->opts.ignore_callees)
		chains_mark(p, ev, frames, sampled, &range);
	for (size_t i = range.first; i < range.end; i++) {
		if (chains_hide(p, p->frames.v[i]))
			continue;
		if (p->history)
			p->history->steps.v[kept] = p->history->steps.v[i];
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

/* ---- recorded chains ------------------------------------------------------------------------- */

/* True if nothing but the addresses of the frames decides what becomes of a chain. */
static bool chains_are_plain(const struct profile *p)
{
	return !p->has_parent && !p->opts.ignore_callees && !p->opts.hide_unresolved;
}

/*
 * The same as chains_places() for most chains, without a list of frames in between. Returns 1; 0 if
 * the chain has a marker that needs more care.
 */
static int chains_read(struct profile *p, const struct event *ev, const uint8_t *entries, size_t nr)
{
	const bool swap = ev->pub.flags & SONDE_EVENT_SWAPPED;
	uint32_t mode = CPUMODE_USER, *to;
	uint64_t stamp = chains_stamp(ev, mode);

	vec_clear(&p->frames);
	TRY(vec_reserve(&p->frames, nr));
	to = p->frames.v;
	for (size_t i = 0; i < nr; i++) {
		const uint64_t ip = get_u64(entries + 8 * i, swap);

		if (__builtin_expect(ip < CALLCHAIN_MARKERS, 1)) {
			TRY(places_recent(p, ev, stamp, ip, mode, to++));
			continue;
		}
		if (!callchain_perf_knows(ip))
			return 0;
		mode = callchain_cpumode(ip);
		stamp = chains_stamp(ev, mode);
	}
	p->frames.n = (size_t)(to - p->frames.v);
	if (p->frames.n)
		p->facts.flags |= SONDE_PROFILE_CALLCHAINS;
	return 1;
}

int chains_find(struct profile *p, const struct event *ev, uint32_t *place, uint32_t *ret)
{
	const uint8_t *entries;
	const int nr = p->history ? -1 : recording_plain_chain(ev, &entries);
	int r = 0;

	p->chain_parent = 0;
	p->chain_is_cut = false;
	*ret = PROFILE_ROOT;
	if (!nr)
		return 0;
	if (nr > 0 && chains_are_plain(p) && !recording_chain_is_full(ev, (unsigned)nr))
		r = chains_read(p, ev, entries, (size_t)nr);
	if (!r) {
		r = chains_places(p, ev, place);
		p->chain_is_cut = ev->recording->chain_is_cut;
	}
	if (r < 0)
		return r;
	if (chains_inherit_mode(p, ev))
		TRY(chains_pass_modes(p, ev));
	return chains_put_path(p, ret);
}

/* ---- borrowed chains ------------------------------------------------------------------------- */

/*
 * The path as a sample of this mode borrows it: leading frames without a mapping get the mode, and
 * the others keep theirs (chains_pass_modes()).
 */
static int chains_path_in_mode(struct profile *p, uint32_t path, uint32_t mode, uint32_t *ret)
{
	const uint32_t begin = pathset_begin(&p->call_paths, path);
	const uint32_t n = pathset_end(&p->call_paths, path) - begin;

	vec_clear(&p->frames);
	TRY(vec_reserve(&p->frames, n));
	memcpy(p->frames.v, p->call_paths.frames.v + begin, n * sizeof(*p->frames.v));
	p->frames.n = n;
	for (uint32_t i = 0; i < n && !place_at(p, p->frames.v[i] - 1)->dso; i++) {
		uint32_t place;

		TRY(places_with_mode(p, p->frames.v[i] - 1, mode, &place));
		p->frames.v[i] = place + 1;
	}
	return pathset_put(&p->call_paths, p->frames.v, n, p->opts.max_keys, ret);
}

int chains_borrow(struct profile *p, const struct event *ev, uint32_t *path, bool *ret_borrowed)
{
	const bool from_any = p->rules->borrows_any_chain;
	struct borrowed_chain *b = &p->borrowed;

	*ret_borrowed = false;
	if (ev->schema->sampled & SAMPLED_CALLCHAIN) {
		*b = (struct borrowed_chain){ *path, ev->pub.pid, ev->pub.tid, 0, PROFILE_ROOT };
		return 0;
	}
	if (b->path == PROFILE_ROOT || *path != PROFILE_ROOT ||
	    !(from_any || p->opts.borrow_chains) ||
	    (!from_any && (b->pid != ev->pub.pid || b->tid != ev->pub.tid)))
		return 0;
	*ret_borrowed = true;
	*path = b->path;
	if (!chains_inherit_mode(p, ev))
		return 0;
	if (b->made == PROFILE_ROOT || b->mode != ev->pub.cpumode)
		TRY(chains_path_in_mode(p, b->path, ev->pub.cpumode, &b->made));
	b->mode = ev->pub.cpumode;
	*path = b->made;
	return 0;
}
