/* SPDX-License-Identifier: MIT */
/* Completes programs when all slots are known: sizes that never change, quick ways to read. */

#include "formats/ctf/text.h"
#include "formats/ctf/walk.h"

static uint64_t finish_round_up(uint64_t n, uint32_t align)
{
	return (n + align - 1) & ~(uint64_t)(align - 1);
}

/* The largest fixed size: larger ones are not added up. */
#define FINISH_MOST_BITS (UINT64_C(1) << 40)
enum { FINISH_MOST_ROOM = 1 << 16 };

static void finish_struct(struct ctf_step *steps, uint32_t at)
{
	struct ctf_step *s = &steps[at];
	uint64_t bits = 0;

	for (uint32_t i = at + 1; i < s->next; i = steps[i].next)
		steps[i].is_last = steps[i].next == s->next;
	for (uint32_t i = at + 1; i < s->next; i = steps[i].next) {
		if (!steps[i].is_fixed)
			return;
		bits = finish_round_up(bits, steps[i].align) + steps[i].fixed_bits;
		if (bits > FINISH_MOST_BITS)
			return;
	}
	s->is_fixed = true;
	s->fixed_bits = bits;
}

static void finish_array(struct ctf_step *steps, uint32_t at)
{
	struct ctf_step *s = &steps[at];
	const struct ctf_step *elem = s + 1;
	const uint64_t stride = finish_round_up(elem->fixed_bits, elem->align);
	uint64_t bits;

	if (!elem->is_fixed || __builtin_mul_overflow(stride, s->count, &bits) ||
	    bits > FINISH_MOST_BITS)
		return;
	s->is_fixed = true;
	s->fixed_bits = s->count ? bits - (stride - elem->fixed_bits) : 0;
}

/* Joins each fixed step with those behind it in the same struct. */
static void finish_runs(struct ctf_step *steps, uint32_t begin, uint32_t end)
{
	/* Members from the last to the first: a step and the joined ones behind it. */
	for (uint32_t i = end; i-- > begin;) {
		struct ctf_step *s = &steps[i];
		const struct ctf_step *behind = s->next < end ? &steps[s->next] : NULL;
		uint64_t bits;

		if (!s->is_fixed)
			continue;
		s->run_bits = s->fixed_bits;
		s->run_next = s->next;
		if (!behind || !behind->run_next || behind->align > s->align)
			continue;
		bits = finish_round_up(s->run_bits, behind->align) + behind->run_bits;
		if (bits > FINISH_MOST_BITS)
			continue;
		s->run_bits = bits;
		s->run_next = behind->run_next;
	}
}

/* The same for quick steps. */
static void finish_quick(struct ctf_step *steps, uint32_t nr)
{
	for (uint32_t i = nr; i-- > 0;) {
		struct ctf_step *s = &steps[i];
		const struct ctf_step *behind = s->next < nr ? &steps[s->next] : NULL;
		uint64_t room;

		if (!s->is_quick || !s->label)
			continue;
		s->quick_next = s->next;
		s->quick_bits = s->fixed_bits;
		room = s->label_len + (s->kind == CTF_ARRAY ? 4 * s->count + 2 : CTF_NUMBER_BYTES);
		s->quick_room = (uint32_t)room;
		if (!behind || !behind->quick_next || behind->align > s->align || s->is_last ||
		    room + behind->quick_room > FINISH_MOST_ROOM)
			continue;
		s->quick_next = behind->quick_next;
		s->quick_bits = finish_round_up(s->quick_bits, behind->align) + behind->quick_bits;
		s->quick_room += behind->quick_room;
	}
}

static void finish_program(struct ctf_program *program)
{
	struct ctf_step *steps = program->steps;

	for (uint32_t i = program->nr; i--;) {
		struct ctf_step *s = &steps[i];

		if (s->slot != CTF_NO_SLOT)
			s->is_hidden = false; /* something depends on it */
		switch ((enum ctf_kind)s->kind) {
		case CTF_INT:
		case CTF_ENUM:
		case CTF_FLOAT:
			s->is_fixed = !s->is_leb && s->slot == CTF_NO_SLOT && !s->clock &&
				      s->role == CTF_ROLE_NONE;
			s->fixed_bits = s->bits;
			s->is_quick =
				s->is_fixed && s->kind == CTF_INT &&
				(s->base == 10 || (s->base == 16 && !s->is_signed)) &&
				s->align % 8 == 0 &&
				(s->bits == 8 || s->bits == 16 || s->bits == 32 || s->bits == 64);
			break;
		case CTF_STRUCT:
			finish_struct(steps, i);
			break;
		case CTF_ARRAY:
			finish_array(steps, i);
			s->is_quick = s->is_fixed && ctf_is_text_array(s) && s->align % 8 == 0 &&
				      s->count <= CTF_QUICK_TEXT && !s->is_hidden;
			break;
		case CTF_STRING:
		case CTF_SEQUENCE:
		case CTF_VARIANT:
			break;
		}
	}
	finish_runs(steps, 0, program->nr);
	finish_quick(steps, program->nr);
}

/* Recognizes LTTng's compact header (struct ctf_stream_class). */
static void finish_header(struct ctf_stream_class *stream)
{
	const struct ctf_step *steps = stream->event_header_program.steps, *id, *variant, *stamp;
	uint32_t option;

	if (stream->event_header_program.nr < 5 || steps[0].align % 8)
		return;
	id = &steps[1];
	variant = &steps[2];
	if (id->kind != CTF_ENUM || id->bits != 5 || id->is_signed || id->is_big ||
	    id->align != 1 || id->role != CTF_ROLE_EVENT_ID || id->clock || id->is_leb ||
	    variant->kind != CTF_VARIANT || variant->ref != id->slot ||
	    variant->next != stream->event_header_program.nr)
		return;
	option = ctf_choose(variant, 0);
	stamp = &steps[option + 1];
	if (!option || steps[option].kind != CTF_STRUCT || steps[option].next != option + 2 ||
	    steps[option].align != 1 || stamp->kind != CTF_INT || stamp->bits != 27 ||
	    stamp->is_big || stamp->is_leb || !stamp->clock || stamp->slot != CTF_NO_SLOT ||
	    stamp->role != CTF_ROLE_NONE)
		return;
	for (uint64_t tag = 1; tag < 31; tag++)
		if (ctf_choose(variant, tag) != option)
			return;
	stream->compact_slot = id->slot;
}

void ctf_finish(struct ctf_trace *t)
{
	finish_program(&t->packet_header_program);
	vec_foreach(stream, &t->streams) {
		finish_program(&(*stream)->packet_context_program);
		finish_program(&(*stream)->event_header_program);
		finish_program(&(*stream)->event_context_program);
		finish_header(*stream);
	}
	vec_foreach(event, &t->events) {
		finish_program(&(*event)->context_program);
		finish_program(&(*event)->fields_program);
	}
}
