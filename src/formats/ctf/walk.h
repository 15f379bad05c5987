/* SPDX-License-Identifier: MIT */
/*
 * Walks over the fields of a program in the bytes of a packet: finds where they end, and keeps what
 * is needed to go on (lengths, tags, the clock, roles).
 */
#ifndef SONDE_FORMATS_CTF_WALK_H
#define SONDE_FORMATS_CTF_WALK_H

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/err.h"
#include "formats/ctf/compile.h"

struct ctf_reader {
	const uint8_t *bytes;
	uint64_t origin; /* bit of the packet at which bytes begin; alignment counts from it */
	uint64_t pos;    /* in bits of bytes, as the next two */
	uint64_t avail;  /* bits that bytes has */
	uint64_t end;    /* of the packet's content; UINT64_MAX if unknown */
	uint64_t need;   /* -EAGAIN: bits that bytes must have */
	uint64_t clock;  /* in cycles */
	uint64_t *slots;
	uint32_t seen;   /* bit for each role whose value is in roles */
	uint32_t budget; /* elements and options left, so that hostile lengths end */
	const char *why; /* -EBADMSG: what is wrong */
	uint64_t roles[NR_CTF_ROLES];
};

enum { CTF_BUDGET = 1 << 24 };

/*
 * Walks over all fields of the program. -EAGAIN: bytes has too few of them, see need. -EBADMSG: the
 * content of the packet does not fit, see why.
 */
int ctf_walk(const struct ctf_program *program, struct ctf_reader *rd);
/* ctf_walk(), for the header of an event: see ctf_walk_header(). */
int ctf_walk_any_header(const struct ctf_stream_class *stream, struct ctf_reader *rd);
/* Like it, for the steps from..to. */
int ctf_walk_steps(const struct ctf_step *steps, uint32_t from, uint32_t to, struct ctf_reader *rd);
/* Any number of bits, zero-extended. */
uint64_t ctf_read_odd_bits(const uint8_t *bytes, uint64_t pos, unsigned bits, bool is_big);
/* The number of an INT, ENUM or FLOAT, sign-extended if it is signed, with all that follows. */
int ctf_read_number(const struct ctf_step *s, struct ctf_reader *rd, uint64_t *ret);
/* A LEB128 number of at most 64 bits. */
int ctf_read_leb(struct ctf_reader *rd, bool is_signed, uint64_t *ret);
/* The option that the tag chooses; 0 if there is none. */
uint32_t ctf_choose(const struct ctf_step *variant, uint64_t tag);
/* The end of a string whose first byte is at pos: *ret is its length without the NUL. */
int ctf_read_string(struct ctf_reader *rd, uint64_t *ret);

/* The next multiple of align, which counts from a packet's begin, in front of `origin`. */
static inline uint64_t ctf_align_from(uint64_t origin, uint64_t pos, uint32_t align)
{
	return ((pos + origin + align - 1) & ~(uint64_t)(align - 1)) - origin;
}

static inline uint64_t ctf_align(const struct ctf_reader *rd, uint32_t align)
{
	return ctf_align_from(rd->origin, rd->pos, align);
}

static inline int ctf_walk_bad(struct ctf_reader *rd, const char *why)
{
	rd->why = why;
	return -EBADMSG;
}

/* Takes n elements from the budget. */
static inline int ctf_spend(struct ctf_reader *rd, uint64_t n)
{
	if (n > rd->budget) {
		rd->budget = 0;
		return ctf_walk_bad(rd, "an event has more than 16777216 elements");
	}
	rd->budget -= (uint32_t)n;
	return 0;
}

int ctf_walk_short(struct ctf_reader *rd, uint64_t pos, uint64_t bits);

/* Checks that `bits` from pos on are there. */
static inline int ctf_has(struct ctf_reader *rd, uint64_t pos, uint64_t bits)
{
	if (__builtin_expect(bits <= rd->avail && pos <= rd->avail - bits && bits <= rd->end &&
				     pos <= rd->end - bits,
			     1))
		return 0;
	return ctf_walk_short(rd, pos, bits);
}

static inline uint64_t ctf_read_bits(const uint8_t *bytes, uint64_t pos, unsigned bits, bool is_big)
{
	const uint8_t *p = bytes + pos / 8;

	if (__builtin_expect(!(pos & 7), 1)) {
		uint16_t v16;
		uint32_t v32;
		uint64_t v64;

		switch (bits) {
		case 8:
			return *p;
		case 16:
			memcpy(&v16, p, 2);
			return is_big ? be16toh(v16) : le16toh(v16);
		case 32:
			memcpy(&v32, p, 4);
			return is_big ? be32toh(v32) : le32toh(v32);
		case 64:
			memcpy(&v64, p, 8);
			return is_big ? be64toh(v64) : le64toh(v64);
		}
	}
	return ctf_read_odd_bits(bytes, pos, bits, is_big);
}

/* ctf_walk() for a scope that may have no fields, or only such as never change their size. */
static inline int ctf_walk_scope(const struct ctf_program *program, struct ctf_reader *rd)
{
	const struct ctf_step *s = program->steps;

	if (!program->nr)
		return 0;
	if (!s->is_fixed)
		return ctf_walk(program, rd);
	rd->pos = ctf_align(rd, s->align);
	TRY(ctf_has(rd, rd->pos, s->fixed_bits));
	rd->pos += s->fixed_bits;
	return 0;
}

static inline uint64_t ctf_sign_extend(uint64_t v, unsigned bits)
{
	return bits < 64 ? (uint64_t)((int64_t)(v << (64 - bits)) >> (64 - bits)) : v;
}

/* A value of n bits advances the clock; smaller than its low bits, it has wrapped. */
static inline uint64_t ctf_clock_advance(uint64_t clock, uint64_t v, unsigned bits)
{
	uint64_t mask;

	if (bits >= 64)
		return v;
	mask = (UINT64_C(1) << bits) - 1;
	if (v < (clock & mask))
		clock += mask + 1;
	return (clock & ~mask) | v;
}

/* ctf_walk() for the header of an event, with its id and its clock. */
static inline int ctf_walk_header(const struct ctf_stream_class *stream, struct ctf_reader *rd)
{
	uint64_t pos;
	uint32_t word;

	if (stream->compact_slot == CTF_NO_SLOT)
		return ctf_walk_any_header(stream, rd);
	pos = ctf_align(rd, stream->compact_align);
	if (pos + 32 > rd->avail || pos + 32 > rd->end)
		return ctf_walk_any_header(stream, rd);
	word = (uint32_t)ctf_read_bits(rd->bytes, pos, 32, false);
	if ((word & 31) == 31)
		return ctf_walk_any_header(stream, rd);
	rd->roles[CTF_ROLE_EVENT_ID] = word & 31;
	rd->seen |= 1u << CTF_ROLE_EVENT_ID;
	rd->slots[stream->compact_slot] = word & 31;
	rd->clock = ctf_clock_advance(rd->clock, word >> 5, 27);
	rd->pos = pos + 32;
	return 0;
}

/* The places of an event, in bits. */
struct ctf_places {
	const struct ctf_event_class *class;
	uint64_t header, behind_header, fields, end;
	uint32_t stamp; /* the low 27 bits of the clock */
};

/*
 * Finds what most events of LTTng are: a compact header, and fields that never change their size.
 * It is behind pos, its packet begins `origin` bits in front of bytes, and there are `limit` bits.
 * False for any other event, which must be walked over.
 */
static inline bool ctf_find_quick(const struct ctf_stream_class *stream, const uint8_t *bytes,
				  uint64_t origin, uint64_t pos, uint64_t limit,
				  struct ctf_places *ret)
{
	const struct ctf_event_class *event;
	uint32_t word, id;

	if (stream->compact_slot == CTF_NO_SLOT)
		return false;
	ret->header = ctf_align_from(origin, pos, stream->compact_align);
	ret->behind_header = ret->header + 32;
	if (ret->behind_header > limit)
		return false;
	memcpy(&word, bytes + ret->header / 8, sizeof(word));
	word = le32toh(word);
	id = word & 31;
	if (id == 31 || id >= stream->events.n)
		return false;
	event = stream->events.v[id];
	ret->fields = ctf_align_from(origin, ret->behind_header, event->quick_align);
	ret->end = ret->fields + event->quick_bits;
	if (event->id != id || !event->is_quick || ret->end > limit)
		return false;
	ret->class = event;
	ret->stamp = word >> 5;
	return true;
}

#endif
