/* SPDX-License-Identifier: MIT */
/* Headers of packets, and the clock. */

#include "sources/ctf/ctf.h"

#include "formats/ctf/layout.h"

/* ---- the clock ------------------------------------------------------------------------------- */

uint64_t ctf_ns_of_any(const struct ctf_clock *clock, uint64_t cycles)
{
	int64_t ns;

	if (clock->freq != CTF_NS_IN_S) {
		const __int128 n = (__int128)cycles * CTF_NS_IN_S / clock->freq;

		cycles = n > UINT64_MAX ? UINT64_MAX : (uint64_t)n;
	}
	if (cycles > INT64_MAX)
		cycles = INT64_MAX;
	if (__builtin_add_overflow(clock->base_ns, (int64_t)cycles, &ns))
		return INT64_MAX;
	return ns < 0 ? 0 : (uint64_t)ns;
}

/* ---- headers --------------------------------------------------------------------------------- */

static bool packet_has(const struct ctf_reader *rd, enum ctf_role role)
{
	return rd->seen & 1u << role;
}

static const struct ctf_stream_class *packet_class(const struct ctf_trace *t,
						   const struct ctf_reader *rd)
{
	if (!packet_has(rd, CTF_ROLE_STREAM_ID))
		return t->streams.n == 1 ? t->streams.v[0] : NULL;
	for (size_t i = 0; i < t->streams.n; i++)
		if (t->streams.v[i]->id == rd->roles[CTF_ROLE_STREAM_ID])
			return t->streams.v[i];
	return NULL;
}

/* The sizes that the context has. */
static int packet_sizes(const struct ctf_reader *rd, uint64_t left, struct ctf_packet *ret,
			const char **ret_why)
{
	const bool has_content = packet_has(rd, CTF_ROLE_CONTENT_SIZE),
		   has_bits = packet_has(rd, CTF_ROLE_PACKET_SIZE);

	ret->bits = has_bits      ? rd->roles[CTF_ROLE_PACKET_SIZE]
		    : has_content ? (rd->roles[CTF_ROLE_CONTENT_SIZE] + 7) & ~UINT64_C(7)
				  : 8 * left;
	ret->content = has_content ? rd->roles[CTF_ROLE_CONTENT_SIZE] : ret->bits;
	ret->first_bit = rd->pos;
	ret->header_bytes = (uint32_t)((rd->pos + 7) / 8);
	*ret_why = !ret->bits                     ? "the size of a packet is 0"
		   : ret->bits % 8                ? "the size of a packet is not in complete bytes"
		   : ret->content > ret->bits     ? "the content is larger than its packet"
		   : ret->content < rd->pos       ? "the content ends inside of the packet's header"
		   : ret->bits / 8 > INT64_MAX    ? "the size of a packet is beyond any file"
		   : rd->pos / 8 > UINT32_MAX / 8 ? "the header of a packet is too large"
						  : NULL;
	if (*ret_why)
		return -EBADMSG;
	ret->is_truncated = ret->bits / 8 > left;
	if (ret->content > 8 * left)
		ret->content = 8 * left;
	return 0;
}

static int packet_walk(const struct ctf_source *s, struct ctf_reader *rd, struct ctf_packet *ret)
{
	TRY(ctf_walk(&s->trace.packet_header_program, rd));
	if (packet_has(rd, CTF_ROLE_MAGIC) && rd->roles[CTF_ROLE_MAGIC] != CTF_PACKET_MAGIC)
		return ctf_walk_bad(rd, "no packet begins here (its magic number is missing)");
	ret->class = packet_class(&s->trace, rd);
	if (!ret->class)
		return ctf_walk_bad(rd,
				    "a packet is of a stream that the metadata do not describe");
	return ctf_walk(&ret->class->packet_context_program, rd);
}

int ctf_packet_read(const struct ctf_source *s, const struct ctf_file *file, uint64_t off,
		    const uint8_t *p, size_t len, uint64_t clock, uint64_t *slots,
		    struct ctf_packet *ret, size_t *ret_need, const char **ret_why)
{
	const uint64_t left = file->bytes > off ? file->bytes - off : 0;
	struct ctf_reader rd = {
		.bytes = p,
		.avail = 8 * (len < left ? len : left),
		.end = 8 * left,
		.clock = clock,
		.slots = slots,
		.budget = CTF_BUDGET,
	};
	int r;

	*ret_why = NULL;
	*ret = (struct ctf_packet){ .off = off };
	r = packet_walk(s, &rd, ret);
	if (r == -EAGAIN) {
		*ret_need = (size_t)((rd.need + 7) / 8);
		return r;
	}
	if (r < 0) {
		*ret_why = rd.why;
		return r;
	}
	ret->is_read = true;
	ret->clock = rd.clock;
	ret->seen = rd.seen;
	memcpy(ret->roles, rd.roles, sizeof(ret->roles));
	return packet_sizes(&rd, left, ret, ret_why);
}

const struct ctf_event_class *ctf_event_class_search(const struct ctf_stream_class *stream,
						     const struct ctf_reader *rd, uint64_t id)
{
	uint64_t i;

	if (!(rd->seen & 1u << CTF_ROLE_EVENT_ID) && stream->events.n == 1)
		return stream->events.v[0];
	i = hash64_find(&stream->event_of_id, id);
	return i == HASH64_EMPTY ? NULL : stream->events.v[i];
}
