/* SPDX-License-Identifier: MIT */
/*
 * Distinct call chains. Two chains are one if their addresses are equal and the same files are
 * mapped there. A chain keeps a copy of an event, whose mappings answer for its addresses when its
 * text is wanted.
 */
#include <stdlib.h>
#include <string.h>

#include "aggregate/types.h"
#include "base/err.h"
#include "model/callchain.h"
#include "recording/code.h"
#include "recording/keep.h"
#include "recording/locate.h"

void stacks_done(struct aggregate_stacks *s)
{
	vec_foreach(stack, &s->all) {
		recording_keep_done(stack->event);
		free(stack->text);
	}
	vec_done(&s->all);
	vec_done(&s->frames);
	vec_done(&s->scratch);
	hash64_done(&s->by_text);
	dictionary_done(&s->dict);
}

/* ---- adding ---------------------------------------------------------------------------------- */

static bool stacks_is_wanted(uint32_t cpumode, enum aggregate_key_kind kind)
{
	const bool is_user = cpumode == CPUMODE_USER || cpumode == CPUMODE_GUEST_USER;

	if (kind == KEY_STACK)
		return true;
	return cpumode != CPUMODE_UNKNOWN && is_user == (kind == KEY_USTACK);
}

static uint64_t stacks_stamp(const struct event *ev, uint32_t cpumode)
{
	const struct address_space *space = recording_space(ev, cpumode);

	return space ? space->stamp : 0;
}

/* Frames from frames.n on are of this chain. Returns their number. */
static int stacks_take_frames(struct aggregate_stacks *s, const struct event *ev,
			      enum aggregate_key_kind kind)
{
	uint64_t stamps[2] = { 0 };
	const struct sonde_frame *frames;
	const int nr = recording_chain(ev, &frames);
	size_t n = s->frames.n;

	TRY(nr);
	TRY(vec_reserve(&s->frames, (size_t)nr));
	vec_clear(&s->scratch);
	TRY(vec_reserve(&s->scratch, (size_t)nr + 3));
	s->scratch.n = 3;
	for (int i = 0; i < nr; i++) {
		const uint32_t mode = frames[i].cpumode;

		if (!stacks_is_wanted(mode, kind))
			continue;
		s->frames.v[n++] = frames[i];
		s->scratch.v[s->scratch.n++] = frames[i].ip;
		stamps[mode == CPUMODE_KERNEL] |= 1;
	}
	s->scratch.v[0] = stamps[0] ? stacks_stamp(ev, CPUMODE_USER) : 0;
	s->scratch.v[1] = stamps[1] ? stacks_stamp(ev, CPUMODE_KERNEL) : 0;
	s->scratch.v[2] = ev->recording->nr;
	return (int)(n - s->frames.n);
}

static int stacks_code(struct aggregate_stacks *s, const uint64_t *words, size_t nr, int32_t *ret)
{
	if (!s->dict.slots)
		TRY(dictionary_init(&s->dict, sizeof(uint64_t)));
	return dictionary_code(&s->dict, words, nr, ret);
}

int stacks_put(struct aggregate_stacks *s, const struct event *ev, enum aggregate_key_kind kind,
	       uint64_t *ret)
{
	struct aggregate_stack add = { .frames_at = (uint32_t)s->frames.n };
	const int nr = stacks_take_frames(s, ev, kind);
	int32_t code;

	if (nr <= 0) {
		*ret = AGGREGATE_NONE;
		return nr;
	}
	if (s->frames.n + (size_t)nr > UINT32_MAX)
		return err_set(-EFBIG, "the call chains of an aggregation have too many frames");
	TRY(vec_reserve(&s->all, 1));
	TRY(stacks_code(s, s->scratch.v, s->scratch.n, &code));
	if ((size_t)code == s->all.n) {
		add.nr_frames = (uint32_t)nr;
		add.event = recording_keep(ev);
		/* The chain stays in the set without an event, and has no names. */
		s->all.v[s->all.n++] = add;
		if (!add.event)
			return -ENOMEM;
		s->frames.n += (size_t)nr;
	}
	*ret = s->all.v[code].text ? s->all.v[code].same : (uint32_t)code;
	return 0;
}

int stacks_move(struct aggregate_stacks *s, struct aggregate_stacks *from, uint32_t code,
		uint64_t *ret)
{
	const int32_t *offsets = (const int32_t *)from->dict.offsets->bytes;
	const uint64_t *words = (const uint64_t *)from->dict.values->bytes;
	struct aggregate_stack *old = &from->all.v[code];
	struct aggregate_stack add = *old;
	int32_t new_code;

	TRY(vec_reserve(&s->all, 1));
	TRY(vec_reserve(&s->frames, old->nr_frames));
	TRY(stacks_code(s, words + offsets[code], (size_t)(offsets[code + 1] - offsets[code]),
			&new_code));
	*ret = (uint32_t)new_code;
	if ((size_t)new_code < s->all.n)
		return 0;
	add.event = old->event ? recording_keep(old->event) : NULL;
	add.text = NULL; /* numbers of chains with the same text differ in the new set */
	add.frames_at = (uint32_t)s->frames.n;
	s->all.v[s->all.n++] = add;
	if (!add.event)
		return old->event ? -ENOMEM : 0;
	memcpy(s->frames.v + s->frames.n, from->frames.v + old->frames_at,
	       old->nr_frames * sizeof(*s->frames.v));
	s->frames.n += old->nr_frames;
	return 0;
}

/* ---- texts ----------------------------------------------------------------------------------- */

/* Characters that separate frames and lines are replaced, as in lines for flame graphs. */
static void stacks_put_name(struct outbuf *o, const char *name)
{
	for (; *name; name++)
		outbuf_char(o, *name == ';' ? ':' : *name == '\n' ? ' ' : *name);
}

static int stacks_make_text(struct aggregate_stacks *s, struct aggregate_stack *stack)
{
	struct outbuf o = { 0 };

	for (uint32_t i = stack->event ? stack->nr_frames : 0; i-- > 0;) {
		const struct sonde_frame *f = &s->frames.v[stack->frames_at + i];
		const char *sym =
			f->sym ? f->sym : recording_located(stack->event, f->ip, f->cpumode)->sym;

		if (o.len)
			outbuf_char(&o, ';');
		stacks_put_name(&o, sym ? sym : "[unknown]");
	}
	outbuf_char(&o, '\0');
	if (o.failed) {
		outbuf_done(&o);
		return err_nomem();
	}
	stack->text = o.data;
	return 0;
}

int stacks_resolve(struct aggregate_stacks *s)
{
	int has_same = 0;

	for (uint32_t i = 0; i < s->all.n; i++) {
		struct aggregate_stack *stack = &s->all.v[i];
		uint64_t hash, first;

		if (stack->text)
			continue;
		TRY(stacks_make_text(s, stack));
		hash = hash_bytes(stack->text, strlen(stack->text));
		first = hash64_find(&s->by_text, hash);
		stack->same = i;
		if (first == HASH64_EMPTY) {
			if (hash64_put(&s->by_text, hash, i) < 0)
				return -ENOMEM;
		} else if (!strcmp(s->all.v[first].text, stack->text)) {
			stack->same = (uint32_t)first;
			has_same = 1;
		}
	}
	return has_same;
}
