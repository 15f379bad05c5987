/* SPDX-License-Identifier: MIT */
/* Puts the values of an event into its payload, at the places that schemas.c chose. */

#include "formats/ctf/text.h"
#include "model/value.h"
#include "sources/ctf/ctf.h"

static void fill_store(uint8_t *to, unsigned width, uint64_t v)
{
	const uint16_t v16 = (uint16_t)v;
	const uint32_t v32 = (uint32_t)v;

	switch (width) {
	case 1:
		*to = (uint8_t)v;
		return;
	case 2:
		memcpy(to, &v16, sizeof(v16));
		return;
	case 4:
		memcpy(to, &v32, sizeof(v32));
		return;
	default:
		memcpy(to, &v, sizeof(v));
	}
}

/* Room for a dynamic value of n bytes, whose word is at `to`. *n becomes what there is room for. */
static uint8_t *fill_dynamic(struct ctf_filler *f, uint32_t to, uint64_t *n)
{
	const size_t room = f->used <= UINT16_MAX ? UINT16_MAX : 0;
	uint8_t *at = f->to + f->used;
	uint32_t word;

	if (*n > room) {
		f->is_cut = true;
		*n = room;
	}
	if (!room) {
		fill_store(f->to + to, 4, 0);
		return at;
	}
	word = (uint32_t)(*n << 16 | f->used);
	memcpy(f->to + to, &word, sizeof(word));
	f->used += *n;
	return at;
}

/* A text of len bytes and its NUL. */
static void fill_text(struct ctf_filler *f, uint32_t to, const void *text, uint64_t len)
{
	uint64_t n = len + 1;
	uint8_t *at = fill_dynamic(f, to, &n);

	if (!n)
		return;
	memcpy(at, text, n - 1);
	at[n - 1] = '\0';
}

static int fill_bytes(const struct ctf_step *s, struct ctf_reader *rd, struct ctf_filler *f)
{
	TRY(ctf_has(rd, rd->pos, 8 * s->count));
	memcpy(f->to + s->to, rd->bytes + rd->pos / 8, s->count);
	rd->pos += 8 * s->count;
	return 0;
}

static int fill_elements(const struct ctf_step *elem, uint64_t count, struct ctf_reader *rd,
			 uint8_t *to, unsigned width, uint64_t room)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t v;

		TRY(ctf_spend(rd, 1));
		rd->pos = ctf_align(rd, elem->align);
		TRY(ctf_read_number(elem, rd, &v));
		if ((i + 1) * width <= room)
			fill_store(to + i * width, width, v);
	}
	return 0;
}

static int fill_sequence(const struct ctf_step *s, struct ctf_reader *rd, struct ctf_filler *f)
{
	const uint64_t count = rd->slots[s->ref], least = s[1].is_leb ? 8 : s[1].bits;
	uint64_t n;
	uint8_t *to;

	if (count > (rd->end - rd->pos) / least)
		return ctf_walk_bad(rd, "a length is beyond the content of its packet");
	n = count * s->width;
	f->used = (f->used + s->width - 1u) & ~(size_t)(s->width - 1u);
	to = fill_dynamic(f, s->to, &n);
	n -= n % s->width;
	return fill_elements(s + 1, count, rd, to, s->width, n);
}

static int fill_characters(const struct ctf_step *s, struct ctf_reader *rd, struct ctf_filler *f)
{
	const uint64_t count = rd->slots[s->ref];
	const uint8_t *p;

	if (count > UINT64_MAX / 8)
		return ctf_walk_bad(rd, "a length is beyond the content of its packet");
	TRY(ctf_has(rd, rd->pos, 8 * count));
	p = rd->bytes + rd->pos / 8;
	fill_text(f, s->to, p, strnlen((const char *)p, count));
	rd->pos += 8 * count;
	return 0;
}

static int fill_printed(const struct ctf_step *steps, uint32_t at, struct ctf_reader *rd,
			struct ctf_filler *f)
{
	f->scratch->len = 0;
	TRY(ctf_text_put_value(steps, at, rd, f->scratch));
	if (f->scratch->failed)
		return -ENOMEM;
	fill_text(f, steps[at].to, f->scratch->data ? f->scratch->data : "", f->scratch->len);
	return 0;
}

/* ctf_read_number(): nothing depends on most numbers. */
static inline int fill_number(const struct ctf_step *s, struct ctf_reader *rd, uint64_t *ret)
{
	if (!s->is_fixed)
		return ctf_read_number(s, rd, ret);
	TRY(ctf_has(rd, rd->pos, s->bits));
	*ret = ctf_read_bits(rd->bytes, rd->pos, s->bits, s->is_big);
	if (s->is_signed)
		*ret = ctf_sign_extend(*ret, s->bits);
	rd->pos += s->bits;
	return 0;
}

/* This step and the next ones up to copy_next. */
static inline void fill_copy_bytes(const struct ctf_step *s, const uint8_t *from, uint8_t *to)
{
	memcpy(to + s->to, from, s->copy_bytes);
	for (uint32_t i = 0; i < s->nr_adds; i++) {
		const struct ctf_add *a = &s->adds[i];

		fill_store(to + a->to, a->width,
			   value_u64(to + a->to, a->width, false) + (uint64_t)(int64_t)a->add);
	}
}

void ctf_fill_copy(const struct ctf_event_type *type, const uint8_t *fields, uint8_t *to)
{
	memset(to + type->fixed - 8, 0, 8); /* what is behind the last field */
	fill_copy_bytes(type->copy, fields, to);
}

static int fill_copy(const struct ctf_step *s, struct ctf_reader *rd, struct ctf_filler *f)
{
	TRY(ctf_has(rd, rd->pos, 8 * (uint64_t)s->copy_bytes));
	fill_copy_bytes(s, rd->bytes + rd->pos / 8, f->to);
	rd->pos += 8 * (uint64_t)s->copy_bytes;
	return 0;
}

int ctf_fill_steps(const struct ctf_program *program, struct ctf_reader *rd, struct ctf_filler *f)
{
	const struct ctf_step *steps = program->steps;
	uint64_t v;

	for (uint32_t i = 0; i < program->nr;) {
		const struct ctf_step *s = &steps[i];

		if (s->kind != CTF_VARIANT)
			rd->pos = ctf_align(rd, s->align);
		switch ((enum ctf_fill)s->fill) {
		case FILL_NONE:
			TRY(ctf_walk_steps(steps, i, s->next, rd));
			break;
		case FILL_COPY:
			TRY(fill_copy(s, rd, f));
			i = s->copy_next;
			continue;
		case FILL_NUMBER:
			TRY(fill_number(s, rd, &v));
			fill_store(f->to + s->to, s->width, v + (uint64_t)(int64_t)s->add);
			break;
		case FILL_MEMBERS:
			i++;
			continue;
		case FILL_BYTES:
			TRY(fill_bytes(s, rd, f));
			break;
		case FILL_ELEMENTS:
			TRY(fill_elements(s + 1, s->count, rd, f->to + s->to, s->width,
					  s->count * s->width));
			break;
		case FILL_STRING:
			TRY(ctf_read_string(rd, &v));
			fill_text(f, s->to, rd->bytes + rd->pos / 8, v);
			rd->pos += 8 * (v + 1);
			break;
		case FILL_TEXT:
			TRY(fill_characters(s, rd, f));
			break;
		case FILL_SEQUENCE:
			TRY(fill_sequence(s, rd, f));
			break;
		case FILL_PRINTED:
			TRY(fill_printed(steps, i, rd, f));
			break;
		}
		i = s->next;
	}
	return 0;
}
