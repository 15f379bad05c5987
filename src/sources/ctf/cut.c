/* SPDX-License-Identifier: MIT */
/*
 * Finds the ends and times of events. A unit is a packet; its time_base is the clock in cycles. The
 * packet's header is a record of its own, in front of the events.
 */

#include <stdlib.h>
#include <unistd.h>

#include "sources/ctf/ctf.h"

enum { HEADER_BYTES = 4096 }; /* read again at once; a header rarely has more */

/* One call of cut(). */
struct cutting {
	const struct ctf_source *s;
	struct ctf_file *file;
	struct unit *unit;
	unsigned nr; /* of the file */
	const uint8_t *p;
	size_t len;
	uint64_t file_off; /* of p */
	uint64_t at;       /* bytes of p that are done */
	unsigned bits;     /* further bits of the next byte that are done */
	struct cut *ret;
	int n, max;
	size_t need;
};

static void cut_defect(const struct cutting *c, enum defect kind, uint64_t off, const char *why)
{
	defects_add(c->s->opts.read_defects, kind, 1, "at 0x%llx of %.200s: %s",
		    (unsigned long long)off, c->file->path, why);
}

/*
 * Reads the header of the unit again, if another packet was cut since. The result depends only on
 * the file and the unit.
 */
static int cut_know_packet(struct cutting *c)
{
	struct ctf_packet *packet = &c->file->packet;
	uint8_t room[HEADER_BYTES], *p = room;
	size_t size = sizeof(room), need = 0;
	const char *why;
	int r;

	if (packet->is_read && packet->off == c->unit->off)
		return 0;
	for (;;) {
		const ssize_t n = pread(c->file->fd, p, size, (off_t)c->unit->off);

		r = n < 0 ? -EBADMSG
			  : ctf_packet_read(c->s, c->file, c->unit->off, p, (size_t)n, 0,
					    c->file->cut_slots, packet, &need, &why);
		if (r != -EAGAIN || need <= size)
			break;
		if (p != room)
			free(p);
		size = need;
		p = malloc(size);
		if (!p)
			return err_nomem();
	}
	if (p != room)
		free(p);
	return r < 0 ? -EBADMSG : 0;
}

/* The record of a packet's header. */
static void cut_put_packet(struct cutting *c, const struct ctf_packet *packet)
{
	const bool has_time = packet->seen & 1u << CTF_ROLE_BEGIN && packet->class->clock;

	c->ret[c->n++] = (struct cut){
		.time_ns = has_time ? ctf_ns(packet->class->clock, packet->clock) : 0,
		.file_off = c->file_off + c->at,
		.bytes = c->p + c->at,
		.len = packet->header_bytes,
		.file = (uint16_t)c->nr,
		.order = has_time && !c->s->opts.unordered ? CUT_ORDERED : CUT_AT_ONCE,
		.flags = CUT_NO_EVENT,
	};
}

/* Begins the packet at c->at. Returns 1, 0 if more bytes are needed, <0 if there is none. */
static int cut_begin_packet(struct cutting *c)
{
	struct ctf_packet *packet = &c->file->packet;
	const uint64_t off = c->file_off + c->at;
	const char *why;
	int r = ctf_packet_read(c->s, c->file, off, c->p + c->at, c->len - c->at,
				c->unit->time_base, c->file->cut_slots, packet, &c->need, &why);

	if (r >= 0 && packet->header_bytes > c->len - c->at) {
		c->need = packet->header_bytes;
		r = -EAGAIN;
	}
	if (r == -EAGAIN) {
		packet->is_read = false;
		if (c->need <= c->file->bytes - off)
			return 0;
		why = "a packet has no complete header";
	}
	if (r < 0) {
		packet->is_read = false;
		cut_defect(c, DEFECT_BAD_SIZE, off, why);
		return -EBADMSG;
	}
	if (packet->is_truncated)
		cut_defect(c, DEFECT_TRUNCATED, off, "a packet is longer than its file");
	*c->unit = (struct unit){
		.off = off,
		.time_base = packet->clock,
		.len = packet->bits / 8 < UINT32_MAX ? (uint32_t)(packet->bits / 8) : UINT32_MAX,
		.ctx = packet->class,
	};
	cut_put_packet(c, packet);
	c->at += packet->first_bit / 8;
	c->bits = packet->first_bit % 8;
	return 1;
}

/* Leaves the packet: what is behind its content is passed over. */
static void cut_end_packet(struct cutting *c)
{
	const struct ctf_packet *packet = &c->file->packet;
	const uint64_t end = packet->off + packet->bits / 8;

	if (packet->seen & 1u << CTF_ROLE_END && packet->class->clock)
		c->unit->time_base = packet->roles[CTF_ROLE_END];
	c->unit->len = 0;
	c->at = (end < c->file->bytes ? end : c->file->bytes) - c->file_off;
	c->bits = 0;
}

static int cut_walk_event(struct cutting *c, struct ctf_reader *rd)
{
	const struct ctf_stream_class *stream = c->unit->ctx;
	const struct ctf_event_class *event;

	TRY(ctf_walk_header(stream, rd));
	event = ctf_event_class_of(stream, rd);
	if (!event)
		return ctf_walk_bad(rd, "an event has an id that the metadata do not describe");
	/* The event's time: later fields change that of later events. */
	c->unit->time_base = rd->clock;
	TRY(ctf_walk_scope(&stream->event_context_program, rd));
	TRY(ctf_walk_scope(&event->context_program, rd));
	return ctf_walk_scope(&event->fields_program, rd);
}

/*
 * Returns the bytes to ask for: twice those that are there, so that a large event is walked over
 * only a few times, or the rest of the packet if that is less.
 */
static size_t cut_need(const struct ctf_reader *rd)
{
	const uint64_t twice = 2 * rd->avail < rd->end ? 2 * rd->avail : rd->end;

	return (size_t)(((rd->need > twice ? rd->need : twice) + 7) / 8);
}

/* The record of an event between two bits of `bytes`, which is at off. time: in cycles. */
static inline void cut_put_event(struct cutting *c, const uint8_t *bytes, uint64_t off,
				 uint64_t time, uint64_t first, uint64_t end)
{
	const struct ctf_clock *clock = ((const struct ctf_stream_class *)c->unit->ctx)->clock;

	c->ret[c->n++] = (struct cut){
		.time_ns = clock ? ctf_ns(clock, time) : 0,
		.file_off = off + first / 8,
		.bytes = bytes + first / 8,
		.len = (uint32_t)((end + 7) / 8 - first / 8),
		.file = (uint16_t)c->nr,
		.order = clock && !c->s->opts.unordered ? CUT_ORDERED : CUT_AT_ONCE,
		.flags = (uint8_t)(CUT_SAMPLE | first % 8 << CTF_CUT_BITS_SHIFT),
	};
}

/* Cuts the next event. Returns 1, 0 if the call ends here, <0 if the file does. */
static int cut_event(struct cutting *c)
{
	const struct ctf_packet *packet = &c->file->packet;
	const struct ctf_stream_class *stream = c->unit->ctx;
	const uint64_t start = c->file_off + c->at - packet->off, clock = c->unit->time_base;
	uint64_t first, time;
	struct ctf_reader rd;
	int r;

	rd.avail = 8 * (c->len - c->at);
	rd.end = packet->content - 8 * start;
	rd.bytes = c->p + c->at;
	rd.origin = 8 * start;
	rd.pos = c->bits;
	rd.need = 0;
	rd.clock = clock;
	rd.slots = c->file->cut_slots;
	rd.seen = 0;
	rd.budget = CTF_BUDGET;
	rd.why = NULL;

	if (stream->event_header_program.nr)
		rd.pos = ctf_align(&rd, stream->event_header_program.steps[0].align);
	first = rd.pos;
	r = cut_walk_event(c, &rd);
	time = c->unit->time_base;
	c->unit->time_base = r < 0 ? clock : rd.clock;
	if (r == -EAGAIN) {
		c->need = cut_need(&rd);
		return 0;
	}
	if (r >= 0 && rd.pos == first)
		r = ctf_walk_bad(&rd, "an event has no size");
	if (r < 0) {
		if (c->n) /* reported when it is the first one */
			return 0;
		cut_defect(c, DEFECT_BAD_RECORD, c->file_off + c->at + first / 8, rd.why);
		cut_end_packet(c);
		return 1;
	}
	cut_put_event(c, rd.bytes, c->file_off + c->at, time, first, rd.pos);
	c->at += rd.pos / 8;
	c->bits = rd.pos % 8;
	return 1;
}

/* The bit of the packet that follows what is done. */
static uint64_t cut_next_bit(const struct cutting *c)
{
	return 8 * (c->file_off + c->at - c->file->packet.off) + c->bits;
}

/* Cuts the next events as long as nothing must be walked over. */
static void cut_quick_events(struct cutting *c)
{
	const struct ctf_packet *packet = &c->file->packet;
	const struct ctf_stream_class *stream = c->unit->ctx;
	const uint8_t *bytes = c->p + c->at;
	const uint64_t origin = 8 * (c->file_off + c->at - packet->off),
		       avail = 8 * (c->len - c->at), content = packet->content - origin,
		       limit = avail < content ? avail : content, begin = c->file_off + c->at;
	uint64_t pos = c->bits, time = c->unit->time_base;
	struct ctf_places places;

	if (packet->content <= origin || c->at >= c->len)
		return;
	while (c->n < c->max && ctf_find_quick(stream, bytes, origin, pos, limit, &places)) {
		time = ctf_clock_advance(time, places.stamp, 27);
		cut_put_event(c, bytes, begin, time, places.header, places.end);
		pos = places.end;
	}
	c->unit->time_base = time;
	c->at += pos / 8;
	c->bits = pos % 8;
}

static int cut_step(struct cutting *c)
{
	if (!c->unit->len) {
		if (c->file_off + c->at >= c->file->bytes)
			return 0;
		/* All cuts of a call are in one packet. */
		return c->n || c->at >= c->len ? 0 : cut_begin_packet(c);
	}
	cut_quick_events(c);
	if (c->n == c->max)
		return 1;
	if (cut_next_bit(c) >= c->file->packet.content) {
		if (c->n)
			return 0;
		cut_end_packet(c);
		return 1;
	}
	return cut_event(c);
}

int ctf_cut(const struct source *source, unsigned file, struct unit *unit, const uint8_t *p,
	    size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
	    size_t *ret_need)
{
	struct cutting c = {
		.s = ctf_const_of(source),
		.file = &ctf_const_of(source)->files.v[file],
		.unit = unit,
		.nr = file,
		.p = p,
		.len = len,
		.file_off = file_off,
		.ret = ret,
		.max = max,
	};
	int r = 1;

	*ret_used = 0;
	*ret_need = 0;
	if (unit->len && cut_know_packet(&c) < 0) {
		cut_defect(&c, DEFECT_BAD_RECORD, unit->off, "a packet changed while it was read");
		return -EBADMSG;
	}
	if (c.file->cut_bits && c.file->cut_at == file_off)
		c.bits = c.file->cut_bits;
	while (r > 0 && c.n < max && (c.at < c.len || unit->len))
		r = cut_step(&c);
	if (r < 0)
		return r;
	*ret_used = c.at;
	*ret_need = c.need;
	c.file->cut_at = file_off + c.at;
	c.file->cut_bits = c.bits;
	return c.n;
}
