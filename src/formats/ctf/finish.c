/* SPDX-License-Identifier: MIT */
/* Completes programs when all slots are known: sizes that never change, quick ways to read. */

#include "base/err.h"
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

static enum ctf_quick_form finish_form(const struct ctf_step *s)
{
	if (s->kind == CTF_ARRAY)
		return QUICK_TEXT;
	if (s->base != 10 || s->is_big || s->bits < 32)
		return QUICK_NUMBER;
	return s->bits == 32  ? s->is_signed ? QUICK_I32 : QUICK_U32
	       : s->is_signed ? QUICK_I64
			      : QUICK_U64;
}

/* Makes the quick steps from s on ready to be printed. */
static int finish_run_text(struct ctf_trace *t, struct ctf_step *steps, struct ctf_step *s)
{
	struct ctf_quick *quick;
	uint64_t bits = 0;
	uint32_t n = 0;

	for (uint32_t i = (uint32_t)(s - steps); i < s->quick_next; i = steps[i].next)
		s->nr_quick++;
	quick = arena_alloc(&t->arena, s->nr_quick * sizeof(*quick));
	if (!quick)
		return err_nomem();
	for (uint32_t i = (uint32_t)(s - steps); i < s->quick_next; i = steps[i].next) {
		const struct ctf_step *of = &steps[i];

		bits = finish_round_up(bits, of->align);
		quick[n++] = (struct ctf_quick){
			.label = of->label,
			.label_len = of->label_len,
			.off = (uint32_t)(bits / 8),
			.count = (uint32_t)of->count,
			.form = (uint8_t)finish_form(of),
			.bits = of->bits,
			.base = of->base,
			.is_big = of->is_big,
			.is_signed = of->is_signed,
		};
		bits += of->fixed_bits;
	}
	s->quick = quick;
	return 0;
}

/* A run is entered at its first step only. */
static int finish_quick_text(struct ctf_trace *t, struct ctf_program *program)
{
	for (uint32_t i = 0; i < program->nr;) {
		struct ctf_step *s = &program->steps[i];

		if (s->quick_next)
			TRY(finish_run_text(t, program->steps, s));
		i = s->quick_next ? s->quick_next : i + 1;
	}
	return 0;
}

static int finish_program(struct ctf_trace *t, struct ctf_program *program)
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
		case CTF_VARIANT:
			for (uint32_t k = i + 1; k < s->next; k = steps[k].next)
				steps[k].is_last = true; /* one of them is present */
			break;
		case CTF_STRING:
		case CTF_SEQUENCE:
			break;
		}
	}
	finish_runs(steps, 0, program->nr);
	finish_quick(steps, program->nr);
	return finish_quick_text(t, program);
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
	stream->compact_align = steps[0].align;
}

static void finish_event(const struct ctf_stream_class *stream, struct ctf_event_class *event)
{
	const struct ctf_step *fields = event->fields_program.steps;

	if (stream->compact_slot == CTF_NO_SLOT || stream->event_context_program.nr ||
	    event->context_program.nr || event->fields_program.nr < 2 || !fields[0].is_fixed ||
	    fields[1].align > fields[0].align)
		return;
	event->is_quick = true;
	event->quick_align = fields[0].align;
	event->quick_bits = fields[0].fixed_bits;
}

int ctf_finish(struct ctf_trace *t)
{
	TRY(finish_program(t, &t->packet_header_program));
	vec_foreach(stream, &t->streams) {
		TRY(finish_program(t, &(*stream)->packet_context_program));
		TRY(finish_program(t, &(*stream)->event_header_program));
		TRY(finish_program(t, &(*stream)->event_context_program));
		finish_header(*stream);
	}
	vec_foreach(event, &t->events) {
		TRY(finish_program(t, &(*event)->context_program));
		TRY(finish_program(t, &(*event)->fields_program));
	}
	vec_foreach(stream, &t->streams)
		vec_foreach(event, &(*stream)->events)
			finish_event(*stream, *event);
	return 0;
}
