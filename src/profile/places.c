/* SPDX-License-Identifier: MIT */
#include "profile/places.h"

#include <string.h>

#include "base/err.h"
#include "model/callchain.h"
#include "profile/marks.h"
#include "profile/texts.h"
#include "recording/code.h"
#include "recording/locate.h"

static int places_intern(struct profile *p, const char *text, const char **ret)
{
	*ret = NULL;
	if (!text)
		return 0;
	*ret = texts_intern(p, text);
	return *ret ? 0 : -ENOMEM;
}

/*
 * The order in which perf learns of files: those of the recording's list of build ids first, then
 * others as they are mapped. Names of mappings are numbered as they are read.
 */
static uint64_t places_dso_order(const struct event *ev, uint64_t ip, uint32_t cpumode,
				 const char *name)
{
	const struct address_space *space = recording_space(ev, cpumode);
	const struct mapping *m = space ? address_space_find(space, ip) : NULL;
	struct source_build_id id;

	for (size_t i = 0; source_build_id_at(ev->source, i, &id); i++) {
		if (!strcmp(id.path, name))
			return i;
	}
	return two_halves(1, m ? m->name : UINT32_MAX);
}

/* The number + 1 of the dso at an address. */
static int places_dso(struct profile *p, const struct event *ev, uint64_t ip, uint32_t cpumode,
		      uint64_t id, uint32_t *ret)
{
	struct profile_dso own = { 0 };
	struct sonde_dso d;

	*ret = 0;
	while (p->own_dsos.n <= id)
		TRY(vec_push(&p->own_dsos, 0));
	if (p->own_dsos.v[id] || !id) {
		*ret = p->own_dsos.v[id];
		return 0;
	}
	if (recording_dso(ev, ip, cpumode, &d) < 0) {
		err_clear();
		return 0;
	}
	TRY(places_intern(p, d.short_name, &own.short_name));
	TRY(places_intern(p, d.long_name, &own.long_name));
	own.order = places_dso_order(ev, ip, cpumode, d.long_name);
	TRY(vec_push(&p->dsos, own));
	*ret = p->own_dsos.v[id] = (uint32_t)p->dsos.n;
	return 0;
}

/* Finds the source line of a place whose frame has none. addr2line may give a file without it. */
static int places_find_line(struct profile *p, const struct event *ev, struct profile_place *place)
{
	const struct line_place *lines;

	if (place->file || !recording_lines(ev, place->ip, place->cpumode, false, &lines) ||
	    !lines[0].file || (!lines[0].line && !p->rules->lines_of_addr2line))
		return 0;
	place->line = lines[0].line;
	return places_intern(p, lines[0].file, &place->file);
}

static int places_make(struct profile *p, const struct event *ev, const struct sonde_location *loc,
		       uint32_t dso, uint64_t ip, uint32_t cpumode, const struct sonde_frame *frame)
{
	struct profile_place place = {
		.ip = ip,
		.dso_addr = loc->dso_id ? loc->dso_off : ip,
		.sym_start = loc->sym_start,
		.sym_end = loc->sym_end,
		.sym_off = loc->sym_off,
		.map_bytes = loc->map_end - loc->map_start,
		.dso = dso,
		.unknown = loc->unknown,
		.cpumode = (uint8_t)cpumode,
		.binding = (uint8_t)loc->sym_binding,
		.is_object = loc->sym_is_object,
	};

	TRY(places_intern(p, frame && frame->sym ? frame->sym : loc->sym, &place.sym));
	if (frame) {
		place.is_inlined = frame->flags & SONDE_FRAME_INLINED;
		p->has_inlined |= place.is_inlined;
		place.line = frame->line;
		place.is_unwound_line = frame->file != NULL;
		TRY(places_intern(p, frame->file, &place.file));
	}
	marks_match_place(p, &place);
	if (p->needs_lines || p->opts.callgraph_key != CALLGRAPH_FUNCTION)
		TRY(places_find_line(p, ev, &place));
	return vec_push(&p->place_list, place);
}

int places_find(struct profile *p, const struct event *ev, uint64_t ip, uint32_t cpumode,
		const struct sonde_frame *frame, uint32_t *ret)
{
	const struct sonde_location loc = *recording_located(ev, ip, cpumode);
	uint32_t name = 0, dso;
	uint64_t key[4];
	int r;

	TRY(places_dso(p, ev, ip, cpumode, loc.dso_id, &dso));
	if (frame && frame->sym)
		TRY(strpool_intern(&p->strings, frame->sym, strlen(frame->sym), &name));
	key[0] = two_halves(dso, name);
	key[1] = ip;
	key[2] = loc.dso_off;
	key[3] = two_halves(frame ? frame->line : 0, cpumode << 8 | loc.unknown);
	r = wordset_put(&p->places, key, ret);
	return r > 0 ? places_make(p, ev, &loc, dso, ip, cpumode, frame) : r;
}

int places_find_in_modes(struct profile *p, const struct event *ev, uint64_t ip, uint32_t *ret)
{
	static const uint32_t modes[] = { CPUMODE_USER, CPUMODE_KERNEL, CPUMODE_GUEST_USER,
					  CPUMODE_GUEST_KERNEL };

	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
		if (recording_located(ev, ip, modes[i])->map_end)
			return places_find(p, ev, ip, modes[i], NULL, ret);
	}
	return places_find(p, ev, ip, CPUMODE_UNKNOWN, NULL, ret);
}

int places_with_mode(struct profile *p, uint32_t place, uint32_t cpumode, uint32_t *ret)
{
	struct profile_place copy = *place_at(p, place);
	uint64_t key[4];
	int r;

	memcpy(key, wordset_key(&p->places, place), sizeof(key));
	key[3] = (key[3] & ~0xff00ull) | cpumode << 8;
	r = wordset_put(&p->places, key, ret);
	if (r <= 0)
		return r;
	copy.cpumode = (uint8_t)cpumode;
	return vec_push(&p->place_list, copy);
}

/* ---- recent ones ----------------------------------------------------------------------------- */

int places_find_recent(struct profile *p, const struct event *ev, uint64_t stamp, uint64_t ip,
		       uint32_t cpumode, uint32_t *ret)
{
	if (!p->recent) {
		p->recent = calloc(RECENT_PLACES, sizeof(*p->recent));
		if (!p->recent)
			return err_nomem();
	}
	TRY(places_find(p, ev, ip, cpumode, NULL, ret));
	p->recent[places_slot(stamp, ip)] = (struct recent_place){ stamp, ip, cpumode, *ret };
	return 0;
}

void places_forget_recent(struct profile *p)
{
	free(p->recent);
	p->recent = NULL;
}
