/* SPDX-License-Identifier: MIT */
#include "formats/ctf/walk.h"

uint64_t ctf_read_odd_bits(const uint8_t *bytes, uint64_t pos, unsigned bits, bool is_big)
{
	const uint8_t *p = bytes + pos / 8;
	const unsigned at = (unsigned)(pos % 8), n = (at + bits + 7) / 8;
	const uint64_t mask = bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
	uint64_t v = 0;

	if (n > 8) { /* 9 bytes: the last one has fewer than 8 of the bits */
		const unsigned rest = at + bits - 64;

		return is_big ? (ctf_read_odd_bits(bytes, pos, 64 - at, true) << rest |
				 (uint64_t)p[8] >> (8 - rest)) &
					mask
			      : (ctf_read_odd_bits(bytes, pos, 64 - at, false) |
				 (uint64_t)p[8] << (64 - at)) &
					mask;
	}
	if (is_big) {
		for (unsigned i = 0; i < n; i++)
			v = v << 8 | p[i];
		return v >> (8 * n - at - bits) & mask;
	}
	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v >> at & mask;
}

int ctf_walk_short(struct ctf_reader *rd, uint64_t pos, uint64_t bits)
{
	if (bits > rd->end || pos > rd->end - bits)
		return ctf_walk_bad(rd, "a field is beyond the content of its packet");
	rd->need = pos + bits;
	return -EAGAIN;
}

int ctf_read_string(struct ctf_reader *rd, uint64_t *ret)
{
	const uint64_t limit = rd->avail < rd->end ? rd->avail : rd->end;
	const uint8_t *from = rd->bytes + rd->pos / 8, *nul = NULL;

	if (rd->pos < limit)
		nul = memchr(from, 0, (limit - rd->pos) / 8);
	if (!nul) {
		if (limit == rd->end)
			return ctf_walk_bad(rd, "a string has no end in its packet");
		rd->need = rd->avail + 8;
		return -EAGAIN;
	}
	*ret = (uint64_t)(nul - from);
	return 0;
}

int ctf_read_leb(struct ctf_reader *rd, bool is_signed, uint64_t *ret)
{
	uint64_t v = 0;
	unsigned shift = 0;

	for (;;) {
		uint8_t byte;

		TRY(ctf_has(rd, rd->pos, 8));
		byte = rd->bytes[rd->pos / 8];
		rd->pos += 8;
		if (shift < 64)
			v |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if (is_signed && byte & 0x40 && shift < 64)
				v |= ~UINT64_C(0) << shift;
			*ret = v;
			return 0;
		}
		if (shift > 70)
			return ctf_walk_bad(rd, "a LEB128 number has more than 64 bits");
	}
}

uint32_t ctf_choose(const struct ctf_step *variant, uint64_t tag)
{
	for (uint32_t i = 0; i < variant->nr_choices; i++) {
		const struct ctf_choice *c = &variant->choices[i];

		if (variant->is_tag_signed
			    ? (int64_t)c->from <= (int64_t)tag && (int64_t)tag <= (int64_t)c->to
			    : c->from <= tag && tag <= c->to)
			return c->step;
	}
	return 0;
}

int ctf_read_number(const struct ctf_step *s, struct ctf_reader *rd, uint64_t *ret)
{
	uint64_t v;

	if (s->is_leb) {
		TRY(ctf_read_leb(rd, s->is_signed, &v));
	} else {
		TRY(ctf_has(rd, rd->pos, s->bits));
		v = ctf_read_bits(rd->bytes, rd->pos, s->bits, s->is_big);
		rd->pos += s->bits;
		if (s->is_signed)
			v = ctf_sign_extend(v, s->bits);
	}
	if (s->slot != CTF_NO_SLOT)
		rd->slots[s->slot] = v;
	if (s->clock && s->role != CTF_ROLE_END)
		rd->clock = ctf_clock_advance(rd->clock, v, s->is_leb ? 64 : s->bits);
	if (s->role) {
		rd->roles[s->role] = v;
		rd->seen |= 1u << s->role;
	}
	*ret = v;
	return 0;
}

static int walk_elements(const struct ctf_step *steps, uint32_t at, uint64_t count,
			 struct ctf_reader *rd)
{
	const struct ctf_step *s = &steps[at], *elem = s + 1;

	if (count && elem->is_fixed) {
		const uint64_t stride =
			(elem->fixed_bits + elem->align - 1) & ~(uint64_t)(elem->align - 1);
		uint64_t bits;

		if (__builtin_mul_overflow(stride, count, &bits) || bits > rd->end)
			return ctf_walk_bad(rd, "a length is beyond the content of its packet");
		bits -= stride - elem->fixed_bits;
		TRY(ctf_has(rd, rd->pos, bits));
		rd->pos += bits;
		return 0;
	}
	TRY(ctf_spend(rd, count));
	for (uint64_t i = 0; i < count; i++)
		TRY(ctf_walk_steps(steps, at + 1, s->next, rd));
	return 0;
}

int ctf_walk_steps(const struct ctf_step *steps, uint32_t from, uint32_t to, struct ctf_reader *rd)
{
	uint64_t n;

	for (uint32_t i = from; i < to;) {
		const struct ctf_step *s = &steps[i];

		if (s->kind != CTF_VARIANT)
			rd->pos = ctf_align(rd, s->align);
		if (s->run_next && s->run_next <= to) {
			TRY(ctf_has(rd, rd->pos, s->run_bits));
			rd->pos += s->run_bits;
			i = s->run_next;
			continue;
		}
		switch ((enum ctf_kind)s->kind) {
		case CTF_INT:
		case CTF_ENUM:
		case CTF_FLOAT:
			TRY(ctf_read_number(s, rd, &n));
			break;
		case CTF_STRING:
			TRY(ctf_read_string(rd, &n));
			rd->pos += 8 * (n + 1);
			break;
		case CTF_STRUCT:
			i++;
			continue;
		case CTF_ARRAY:
			TRY(walk_elements(steps, i, s->count, rd));
			break;
		case CTF_SEQUENCE:
			TRY(walk_elements(steps, i, rd->slots[s->ref], rd));
			break;
		case CTF_VARIANT: {
			const uint32_t option = ctf_choose(s, rd->slots[s->ref]);

			TRY(ctf_spend(rd, 1));
			if (option)
				TRY(ctf_walk_steps(steps, option, steps[option].next, rd));
			else if (!s->is_optional)
				return ctf_walk_bad(rd, "the tag of a variant chooses no option");
			break;
		}
		}
		i = s->next;
	}
	return 0;
}

int ctf_walk_any_header(const struct ctf_stream_class *stream, struct ctf_reader *rd)
{
	return ctf_walk(&stream->event_header_program, rd);
}

int ctf_walk(const struct ctf_program *program, struct ctf_reader *rd)
{
	return ctf_walk_steps(program->steps, 0, program->nr, rd);
}
