/* SPDX-License-Identifier: MIT */
/* Makes events of records: their payloads, tasks and cpus, and losses in front of packets. */

#include "base/err.h"
#include "sources/ctf/ctf.h"

static void decode_defect(struct ctf_source *s, const struct cut *cut, const char *why)
{
	defects_add(s->opts.defects, DEFECT_BAD_RECORD, 1, "at 0x%llx of %.200s: %s",
		    (unsigned long long)cut->file_off, s->files.v[cut->file].path, why);
}

static void decode_set_head(const struct cut *cut, struct event *ret)
{
	ret->cut = cut;
	ret->derived = 0;
	ret->period = 0;
	ret->chain_off = 0;
	ret->is_left_out = false;
	ret->is_summed_up = false;
	ret->change = NULL;
	ret->pub.time_ns = cut->time_ns;
	ret->pub.pid = ret->pub.tid = ret->pub.cpu = -1;
	ret->pub.cpumode = 0;
	ret->pub.flags = cut->flags & CUT_LATE ? SONDE_EVENT_LATE : 0;
	ret->pub.record = cut->bytes;
	ret->pub.record_len = cut->len;
	ret->pub.file_off = cut->file_off;
}

/* ---- packets --------------------------------------------------------------------------------- */

static uint64_t decode_lost_packets(struct ctf_stream *stream, const struct ctf_packet *packet)
{
	const uint64_t now = packet->roles[CTF_ROLE_PACKET_NUMBER], before = stream->number;
	const bool has_number = packet->seen & 1u << CTF_ROLE_PACKET_NUMBER,
		   is_later = stream->has_number && has_number && now > before + 1;

	stream->number = now;
	stream->has_number = has_number;
	return is_later ? now - before - 1 : 0;
}

/*
 * The counter runs over all packets of a stream, and may wrap. The value in the first packet counts
 * what was lost before it, maybe long before the trace begins: *ret_unknown.
 */
static uint64_t decode_discarded(struct ctf_stream *stream, const struct ctf_packet *packet,
				 bool *ret_unknown)
{
	const unsigned bits = packet->class->discarded_bits;
	const uint64_t now = packet->roles[CTF_ROLE_DISCARDED],
		       mask = bits && bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX;
	uint64_t n;

	*ret_unknown = false;
	if (!(packet->seen & 1u << CTF_ROLE_DISCARDED))
		return 0;
	n = stream->has_discarded ? (now - stream->discarded) & mask : 0;
	*ret_unknown = !stream->has_discarded && now;
	stream->discarded = now;
	stream->has_discarded = true;
	return n;
}

static int decode_keep_header(struct ctf_file *file, const struct cut *cut)
{
	if (file->header_capacity < cut->len) {
		uint8_t *header = realloc(file->header, cut->len);

		if (!header)
			return err_nomem();
		file->header = header;
		file->header_capacity = cut->len;
	}
	if (cut->len)
		memcpy(file->header, cut->bytes, cut->len);
	return 0;
}

static int decode_put_lost(struct ctf_source *s, const struct ctf_file *file, const struct cut *cut,
			   struct ctf_lost lost, struct event *ret)
{
	defects_add(s->opts.defects, DEFECT_LOST_EVENTS, lost.lost + lost.packets + lost.unknown,
		    "%s up to the packet at 0x%llx of %.200s",
		    lost.unknown   ? "an unknown number of events"
		    : !lost.lost   ? "packets"
		    : lost.packets ? "events and packets"
				   : "events",
		    (unsigned long long)cut->file_off, file->path);
	decode_set_head(cut, ret);
	if (cut->order == CUT_AT_ONCE && !s->opts.unordered)
		ret->pub.time_ns = SONDE_NO_TIME;
	ret->pub.cpu = file->cpu;
	ret->schema = s->lost_schema;
	ret->pub.schema = ret->schema->id;
	ret->attr = ret->member = 0;
	memcpy(s->payloads, &lost, sizeof(lost));
	ret->pub.bytes = s->payloads;
	ret->pub.bytes_len = sizeof(lost);
	return 1;
}

static int decode_packet(struct ctf_source *s, const struct cut *cut, struct event *ret)
{
	struct ctf_file *file = &s->files.v[cut->file];
	struct ctf_stream *stream = &s->streams.v[file->stream];
	struct ctf_lost lost;
	bool is_unknown;
	const char *why = "a packet changed while it was read";
	size_t need;

	if (ctf_packet_read(s, file, cut->file_off, cut->bytes, cut->len, 0, file->slots,
			    &file->current, &need, &why) < 0) {
		file->current.is_read = false;
		decode_defect(s, cut, why);
		return 0;
	}
	TRY(decode_keep_header(file, cut));
	file->cpu = file->current.class->cpu_slot == CTF_NO_SLOT
			    ? -1
			    : (int32_t)file->slots[file->current.class->cpu_slot];
	lost.packets = decode_lost_packets(stream, &file->current);
	lost.lost = decode_discarded(stream, &file->current, &is_unknown);
	lost.unknown = is_unknown;
	return lost.packets || lost.lost || is_unknown ? decode_put_lost(s, file, cut, lost, ret)
						       : 0;
}

/* ---- events ---------------------------------------------------------------------------------- */

void ctf_event_reader(struct ctf_source *s, const struct cut *cut, struct ctf_reader *ret)
{
	struct ctf_file *file = &s->files.v[cut->file];

	ret->bytes = cut->bytes;
	ret->origin = 8 * (cut->file_off - file->current.off);
	ret->pos = cut->flags >> CTF_CUT_BITS_SHIFT;
	ret->avail = ret->end = 8 * (uint64_t)cut->len;
	ret->need = 0;
	ret->clock = 0;
	ret->slots = file->slots;
	ret->seen = 0;
	ret->budget = CTF_BUDGET;
	ret->why = NULL;
}

/* Reads the header. The type is the event's; *ret_body: the bit behind the header. */
static int decode_header(struct ctf_source *s, struct ctf_reader *rd, const struct ctf_file *file,
			 const struct ctf_event_type **ret_type, uint64_t *ret_body)
{
	const struct ctf_stream_class *stream = file->current.class;
	const struct ctf_event_class *event;

	TRY(ctf_walk_header(stream, rd));
	*ret_body = rd->pos;
	event = ctf_event_class_of(stream, rd);
	if (!event)
		return ctf_walk_bad(rd, "an event has an id that the metadata do not describe");
	*ret_type = &s->types[event->place];
	return 0;
}

/* The payload of an event, whose header was read. */
static int decode_fill(struct ctf_reader *rd, const struct ctf_event_type *type,
		       struct ctf_filler *filler)
{
	filler->used = type->fixed;
	memset(filler->to, 0, type->fixed);
	TRY(ctf_fill_program(&type->stream->event_context_program, rd, filler));
	TRY(ctf_fill_program(&type->class->context_program, rd, filler));
	return ctf_fill_program(&type->class->fields_program, rd, filler);
}

static void decode_set_task(const struct ctf_source *s, const struct ctf_file *file,
			    const struct ctf_event_type *type, struct event *ret)
{
	ret->pub.pid = ret->pub.tid = s->vpid;
	ret->pub.cpu = file->cpu;
	if (!type->has_task)
		return;
	ret->pub.cpu = type->known[KNOWN_CPU] ? (int32_t)ctf_known_number(type, KNOWN_CPU, ret, -1)
					      : file->cpu;
	if (type->known[KNOWN_PID] || type->known[KNOWN_TID]) {
		ret->pub.tid = (int32_t)ctf_known_number(
			type, type->known[KNOWN_TID] ? KNOWN_TID : KNOWN_PID, ret, -1);
		ret->pub.pid = (int32_t)ctf_known_number(type, KNOWN_PID, ret,
							 s->vpid >= 0 ? s->vpid : ret->pub.tid);
	}
}

/* An event whose payload has len bytes. */
static void decode_set_event(struct ctf_source *s, const struct cut *cut,
			     const struct ctf_event_type *type, uint64_t body,
			     const uint8_t *payload, size_t len, struct event *ret)
{
	decode_set_head(cut, ret);
	if (!type->stream->clock)
		ret->pub.time_ns = SONDE_NO_TIME;
	ret->schema = type->schema;
	ret->pub.schema = ret->schema->id;
	ret->attr = type->class->place;
	ret->member = (uint32_t)body;
	ret->pub.bytes = payload;
	ret->pub.bytes_len = (uint32_t)len;
	if (!s->omits_values)
		decode_set_task(s, &s->files.v[cut->file], type, ret);
}

/* The record of an event, as far as its header: all that decides how it is decoded. */
struct decoding {
	struct ctf_reader rd;
	const struct ctf_event_type *type;
	uint64_t body;
	const char *why; /* what is wrong, or NULL */
};

/* False if the record is damaged. */
static bool decode_begin(struct ctf_source *s, const struct cut *cut, struct decoding *ret)
{
	const struct ctf_file *file = &s->files.v[cut->file];

	ret->why = "its packet is damaged";
	if (!file->current.is_read || !cut->unit || cut->unit->off != file->current.off)
		return false;
	ctf_event_reader(s, cut, &ret->rd);
	if (decode_header(s, &ret->rd, file, &ret->type, &ret->body) < 0) {
		ret->why = ret->rd.why ? ret->rd.why : "a field is beyond the record";
		return false;
	}
	ret->why = NULL;
	return true;
}

/* Returns 1 and an event; 0 if the record is damaged. */
static int decode_event(struct ctf_source *s, const struct cut *cut, struct decoding *d,
			struct event *ret, struct outbuf *scratch)
{
	struct ctf_filler filler = { .to = s->payloads + s->payloads_used, .scratch = scratch };

	if (!s->omits_values && decode_fill(&d->rd, d->type, &filler) < 0) {
		d->why = d->rd.why ? d->rd.why : "a field is beyond the record";
		return 0;
	}
	if (filler.is_cut)
		d->why = "a value has more than 65535 bytes, its end was left out";
	decode_set_event(s, cut, d->type, d->body, filler.to, filler.used, ret);
	return 1;
}

/* An event whose payload is one copy of its fields. Its type; NULL for any other event. */
static inline const struct ctf_event_type *decode_quick(struct ctf_source *s, const struct cut *cut,
							struct event *ret)
{
	const struct ctf_file *file = &s->files.v[cut->file];
	uint8_t *payload = s->payloads + s->payloads_used;
	const struct ctf_event_type *type;
	struct ctf_places places;

	if (!file->current.is_read || !cut->unit || cut->unit->off != file->current.off ||
	    !ctf_find_quick(file->current.class, cut->bytes,
			    8 * (cut->file_off - file->current.off),
			    cut->flags >> CTF_CUT_BITS_SHIFT, 8 * (uint64_t)cut->len, &places))
		return NULL;
	type = &s->types[places.class->place];
	if (!type->copy || places.fields / 8 + type->copy->copy_bytes > cut->len)
		return NULL;
	if (!s->omits_values)
		ctf_fill_copy(type, cut->bytes + places.fields / 8, payload);
	decode_set_event(s, cut, type, places.behind_header, payload, type->fixed, ret);
	return type;
}

/* False if the event must be decoded alone. */
static bool decode_ahead(struct ctf_source *s, const struct cut *cut, struct event *ret,
			 struct outbuf *scratch)
{
	struct decoding d;

	if (!(cut->flags & CUT_SAMPLE) ||
	    s->payloads_used + CTF_LARGEST_PAYLOAD > sizeof(s->payloads))
		return false;
	d.type = decode_quick(s, cut, ret);
	if (!d.type &&
	    (!decode_begin(s, cut, &d) || !decode_event(s, cut, &d, ret, scratch) || d.why))
		return false;
	if (s->omits_values)
		return true;
	if (d.type->rule == TASK_SWITCH) {
		ret->change = ctf_task_switch(s, d.type, ret);
		if (!ret->change)
			return false;
	} else if (d.type->rule != TASK_NONE || !ctf_task_is_named(s, d.type, ret)) {
		return false;
	}
	s->payloads_used += (ret->pub.bytes_len + 7) & ~(size_t)7;
	return true;
}

static int decode_alone(struct ctf_source *s, const struct cut *cut, struct event *ret,
			struct outbuf *scratch)
{
	struct decoding d;
	int n;

	if (!(cut->flags & CUT_SAMPLE))
		return decode_packet(s, cut, ret);
	n = decode_begin(s, cut, &d) && decode_event(s, cut, &d, ret, scratch);
	if (d.why)
		decode_defect(s, cut, d.why);
	if (n && !s->omits_values)
		ret->change = ctf_task_change(s, d.type, ret);
	return n;
}

int ctf_decode(struct source *source, const struct cut *cuts, int nr, int *at, struct event *ret,
	       int max)
{
	struct ctf_source *s = ctf_source_of(source);
	int n = 0;

	s->payloads_used = s->nr_switches = 0;
	for (; *at < nr && n < max && decode_ahead(s, &cuts[*at], &ret[n], &s->scratch); n++)
		++*at;
	if (n)
		return n;
	s->payloads_used = 0;
	return decode_alone(s, &cuts[(*at)++], ret, &s->scratch);
}
