/* SPDX-License-Identifier: MIT */
/* Makes events of records: the payload is the record's own. */

#include "model/value.h"
#include "sources/tracedat/tracedat.h"

static int decode_bad_record(struct tracedat_source *s, const struct cut *cut, const char *what)
{
	defects_add(s->opts.defects, DEFECT_BAD_RECORD, 1, "%s at 0x%llx of %.120s", what,
		    (unsigned long long)cut->file_off, s->opts.path);
	return 0;
}

/* Sets what does not depend on the record's bytes. */
static void decode_set_head(const struct tracedat_source *s, const struct cut *cut,
			    struct event *ret)
{
	ret->cut = cut;
	ret->attr = ret->member = 0;
	ret->derived = 0;
	ret->period = 0;
	ret->chain_off = 0;
	ret->is_left_out = false;
	ret->change = NULL;
	ret->pub.time_ns = cut->time_ns;
	ret->pub.cpu = s->ranges.v[cut->file].cpu;
	ret->pub.pid = ret->pub.tid = -1;
	ret->pub.cpumode = 0;
	ret->pub.flags = cut->flags & CUT_LATE ? SONDE_EVENT_LATE : 0;
	ret->pub.record = cut->bytes;
	ret->pub.record_len = cut->len;
	ret->pub.file_off = cut->file_off;
}

static int decode_give_made(const struct sonde_schema *sc, const void *made, size_t len,
			    struct event *ret)
{
	ret->schema = sc;
	ret->pub.schema = sc->id;
	ret->pub.bytes = made;
	ret->pub.bytes_len = (uint32_t)len;
	return 1;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Makes the event. Returns its type; NULL if the record is too short for one. */
static const struct tracedat_type *decode_event(const struct tracedat_source *s,
						const struct cut *cut, struct event *ret)
{
	const uint32_t head = ring_head_bytes(cut->bytes, s->is_swapped, s->start.is_big);
	const uint8_t *data = cut->bytes + head;
	const struct tracedat_type *type;

	if (cut->len < head + s->pid_off + 4 || cut->len < head + s->type_off + 2)
		return NULL;
	type = &s->types[get_u16(data + s->type_off, s->is_swapped)];
	decode_set_head(s, cut, ret);
	ret->pub.pid = ret->pub.tid = (int32_t)get_u32(data + s->pid_off, s->is_swapped);
	ret->pub.bytes = data;
	ret->pub.bytes_len = cut->len - head;
	ret->pub.flags |= s->is_swapped ? SONDE_EVENT_SWAPPED : 0;
	ret->schema = type->schema;
	if (type->schema)
		ret->pub.schema = type->schema->id;
	return type;
}

/* The task that an event names, and its name. False if it names none, or a known one. */
static bool decode_find_name(const struct tracedat_source *s, const struct event *ev,
			     const struct tracedat_naming *naming, int32_t *ret_pid,
			     const uint8_t **ret_comm, uint32_t *ret_len)
{
	const uint64_t pid =
		field_u64(naming->pid, ev->pub.bytes, ev->pub.bytes_len, s->is_swapped);
	const uint8_t *comm =
		field_bytes(naming->comm, ev->pub.bytes, ev->pub.bytes_len, s->is_swapped, ret_len);

	if (!comm || !*ret_len || !pid || pid > INT32_MAX)
		return false;
	*ret_len = (uint32_t)strnlen((const char *)comm, *ret_len);
	*ret_pid = (int32_t)pid;
	*ret_comm = comm;
	return *ret_len && !tracedat_name_is_known(s, *ret_pid, comm, *ret_len);
}

/* The event's own task keeps its name; a task that the event names has the new one afterwards. */
static int decode_learn(struct tracedat_source *s, struct event *ev, int32_t pid,
			const uint8_t *comm, uint32_t len)
{
	char *to = s->made.comm.comm;

	len = len < TRACEDAT_COMM_BYTES - 1 ? len : TRACEDAT_COMM_BYTES - 1;
	memcpy(to, comm, len);
	to[len] = '\0';
	s->change = (struct change){
		.kind = CHANGE_COMM,
		.pid = pid,
		.tid = pid,
		.time_ns = ev->pub.time_ns,
		.text = to,
	};
	ev->change = &s->change;
	return tracedat_name_learn(s, pid, to);
}

/* ---- records that are decoded alone ---------------------------------------------------------- */

static int decode_name(struct tracedat_source *s, const struct cut *cut, struct event *ret)
{
	struct tracedat_comm_payload *made = &s->made.comm;
	int32_t pid;

	if (!tracedat_name_parse(cut->bytes, cut->len, &pid, made->comm) ||
	    !strcmp(made->comm, "<...>") || !pid)
		return 0;
	made->pid = (uint32_t)pid;
	decode_set_head(s, cut, ret);
	ret->pub.pid = ret->pub.tid = pid;
	s->change = (struct change){
		.kind = CHANGE_COMM,
		.pid = pid,
		.tid = pid,
		.time_ns = SONDE_NO_TIME,
		.is_untimed = true,
		.text = made->comm,
	};
	ret->change = &s->change;
	return decode_give_made(
		s->comm_schema, made,
		offsetof(struct tracedat_comm_payload, comm) + strlen(made->comm) + 1, ret);
}

/* True if the cut is a page: events were lost in front of its first one. */
static bool decode_is_page(const struct cut *cut)
{
	return cut->unit && cut->file_off == cut->unit->off;
}

static int decode_lost(struct tracedat_source *s, const struct cut *cut, struct event *ret)
{
	struct tracedat_range *range = &s->ranges.v[cut->file];
	struct ring_page head;
	uint64_t lost;

	if (!ring_page_read(&range->instance->layout, cut->bytes, cut->len, &head))
		return decode_bad_record(s, cut, "a page with more data than its size");
	lost = head.lost ? head.lost : tracedat_losses_of_page(s, range);
	s->made.lost = (struct tracedat_lost_payload){
		.cpu = range->cpu,
		.is_counted = head.lost > 0,
		.lost = lost,
	};
	/* If their number is unknown, one loss is counted. */
	defects_add(s->opts.defects, DEFECT_LOST_EVENTS, lost ? lost : 1,
		    "in front of the page at 0x%llx of %.120s%s", (unsigned long long)cut->file_off,
		    s->opts.path, head.lost ? "" : ", uncounted");
	decode_set_head(s, cut, ret);
	return decode_give_made(s->lost_schema, &s->made.lost, sizeof(s->made.lost), ret);
}

static int decode_alone(struct tracedat_source *s, const struct cut *cut, struct event *ret)
{
	const struct tracedat_type *type;
	const uint8_t *comm;
	int32_t pid;
	uint32_t len;

	if (!s->ranges.v[cut->file].instance)
		return decode_name(s, cut, ret);
	if (decode_is_page(cut))
		return decode_lost(s, cut, ret);
	type = decode_event(s, cut, ret);
	if (!type)
		return decode_bad_record(s, cut, "a record too short for an event");
	if (!type->schema) {
		struct sonde_schema *sc = NULL;

		TRY(tracedat_schema_unknown(s, (uint32_t)(type - s->types), &sc));
		ret->schema = sc;
		ret->pub.schema = sc->id;
	}
	if (type->naming && decode_find_name(s, ret, type->naming, &pid, &comm, &len))
		TRY(decode_learn(s, ret, pid, comm, len));
	return 1;
}

/* False if the record must be decoded alone. */
static bool decode_ahead(const struct tracedat_source *s, const struct cut *cut, struct event *ret)
{
	const struct tracedat_type *type;
	const uint8_t *comm;
	int32_t pid;
	uint32_t len;

	if (!s->ranges.v[cut->file].instance || decode_is_page(cut))
		return false;
	type = decode_event(s, cut, ret);
	return type && type->schema &&
	       !(type->naming && decode_find_name(s, ret, type->naming, &pid, &comm, &len));
}

int tracedat_decode(struct source *source, const struct cut *cuts, int nr, int *at,
		    struct event *ret, int max)
{
	struct tracedat_source *s = tracedat_of(source);
	int n = 0;

	for (; *at < nr && n < max && decode_ahead(s, &cuts[*at], &ret[n]); n++)
		++*at;
	if (n)
		return n;
	n = decode_alone(s, &cuts[*at], ret);
	++*at;
	return n;
}
