/* SPDX-License-Identifier: MIT */
/* A record becomes events. Samples of tracepoints are the hot path: fixed offsets, nothing allocated. */

#include "model/callchain.h"
#include "sources/perfdata/counts.h"
#include "sources/perfdata/perfdata.h"

/* The fields at fixed places; the record is at least layout->first_variable bytes long. */
static void decode_fixed(const struct perfdata_layout *l, const uint8_t *rec, bool swap,
			 struct sonde_event *ret)
{
	if (l->tid >= 0) {
		ret->pid = (int32_t)get_u32(rec + l->tid, swap);
		ret->tid = (int32_t)get_u32(rec + l->tid + 4, swap);
	}
	if (l->cpu >= 0)
		ret->cpu = (int32_t)get_u32(rec + l->cpu, swap);
	if (l->time >= 0)
		ret->time_ns = get_u64(rec + l->time, swap);
}

static int bad_record(struct perfdata_source *s, const struct cut *rec, const char *what)
{
	defects_add(s->opts.defects, DEFECT_BAD_RECORD, 1, "%s at 0x%llx%s", what,
		    (unsigned long long)rec->file_off, perfdata_behind_offset(s, rec->file));
	err_clear();
	return 0;
}

/*
 * SAMPLE_READ: the event's period is the growth of its count since the last read. A group's read gives one event for
 * each member that grew; the first call reads the values, later ones go on where the one before stopped.
 */
static int derive(struct perfdata_source *s, const struct cut *rec, unsigned i,
		  struct perfdata_event *e, uint64_t id, struct event *ret)
{
	bool is_group = e->attr.read_format & PERF_FORMAT_GROUP;
	struct bytes b =
		bytes_init(rec->bytes, rec->len, rec->file_off, s->file.path, s->file.swap);
	int r;

	/* Counts that name no event: the sample stays its own event's, its growth unknown. */
	if (!(e->attr.read_format & PERF_FORMAT_ID) && (is_group || !id))
		return 1;
	if (!i) {
		b.pos += e->layout.first_variable;
		s->group = (struct sonde_sample){ 0 };
		s->group_at = 0;
		r = sample_reads_read(e->attr.read_format, &b, &s->group_scratch, &s->group);
		if (r < 0)
			return r == -ENOMEM ? r : bad_record(s, rec, "read values");
	}
	while (s->group_at < s->group.nr_reads) {
		const struct sonde_read_value *v = &s->group.reads[s->group_at++];
		uint64_t which = is_group || v->id ? v->id : id, at = hash64_find(&s->by_id, which);
		struct perfdata_id *entry = at == HASH64_EMPTY ? NULL : &s->ids.v[at];
		uint64_t grown;

		if (!entry) {
			defects_add(s->opts.defects, DEFECT_UNKNOWN_ID, 1, "%llu at 0x%llx%s",
				    (unsigned long long)which, (unsigned long long)rec->file_off,
				    perfdata_behind_offset(s, rec->file));
			continue;
		}
		grown = v->value - entry->last_value;
		entry->last_value = v->value;
		if (!grown)
			continue;
		/* the payload is of the event that was sampled: of another, nothing but the count is known */
		if (entry->event != e->index && !s->opts.rules->payload_for_all_members)
			ret->pub.bytes_len = 0;
		e = &s->events.v[entry->event];
		ret->period = grown;
		ret->derived = i;
		ret->member = entry->event;
		ret->pub.schema = e->schema->id;
		ret->schema = e->schema;
		ret->pub.flags |= i ? SONDE_EVENT_DERIVED : 0;
		return s->group_at < s->group.nr_reads ? 2 : 1;
	}
	return 0;
}

static int decode_sample(struct perfdata_source *s, const struct cut *rec, unsigned i,
			 struct event *ret)
{
	const uint8_t *p = rec->bytes;
	bool swap = s->file.swap;
	struct perfdata_event *e;
	struct sample_parts parts;
	uint64_t id;

	e = perfdata_event_of(s, p, rec->len, &id);
	if (e && s->id_rule == ID_SAME_PLACE)
		s->recent[id % NR_RECENT_IDS] = (struct recent_id){ id, e };
	if (!e) {
		if (!i)
			defects_add(s->opts.defects, DEFECT_UNKNOWN_ID, 1, "%llu at 0x%llx%s",
				    (unsigned long long)id, (unsigned long long)rec->file_off,
				    perfdata_behind_offset(s, rec->file));
		return 0;
	}
	if (__builtin_expect(rec->len < (uint32_t)e->layout.first_variable, 0))
		return bad_record(s, rec, "a short sample");
	ret->schema = e->schema;
	ret->attr = ret->member = e->index;
	ret->pub.schema = e->schema->id;
	ret->pub.cpumode = get_u16(p + 4, swap) & CPUMODE_MASK;
	decode_fixed(&e->layout, p, swap, &ret->pub);
	if (e->layout.raw >= 0) {
		uint32_t off = (uint32_t)e->layout.raw;

		if (rec->len - off < 4)
			return bad_record(s, rec, "a short sample");
		ret->pub.bytes_len = get_u32(p + off, swap);
		ret->pub.bytes = p + off + 4;
		if (ret->pub.bytes_len > rec->len - off - 4)
			return bad_record(s, rec, "a raw payload larger than its record");
	} else if (e->attr.sample_type &
		   (PERF_SAMPLE_RAW | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_READ)) {
		if (sample_parts_find(&e->attr, &e->layout, p, rec->len, swap, &parts) < 0)
			return bad_record(s, rec, "a sample whose parts are larger than it");
		ret->pub.bytes = parts.raw ? parts.raw : p + rec->len;
		ret->pub.bytes_len = parts.raw_len;
	}
	if (__builtin_expect(ret->pub.cpumode >= CPUMODE_GUEST_KERNEL, 0)) {
		if (!i)
			defects_add(s->opts.defects, DEFECT_GUEST, 1, NULL);
		/* perf leaves guests out unless asked. */
		if (s->opts.rules->leaves_out_guests && !s->opts.list_records)
			return 0;
		ret->refused = s->opts.rules->leaves_out_guests;
	}
	if (__builtin_expect(s->has_chains, 0))
		ret->chain_off = perfdata_simpleperf_chain_before(s, &ret->pub);
	if (e->attr.sample_type & PERF_SAMPLE_READ)
		return derive(s, rec, i, e, id, ret);
	return 1;
}

/*
 * The hot path: a sample in this host's byte order whose fields are all at fixed places, the payload last (what a
 * tracepoint without call chain gives). False: it is not one, or its sizes do not fit; decode_sample() will say.
 */
static inline bool decode_plain(const struct perfdata_event *e, const struct cut *rec,
				struct event *ret)
{
	const struct perfdata_layout *l = &e->layout;
	uint32_t payload, len;

	if (__builtin_expect(!e->is_plain, 0))
		return false;
	payload = (uint32_t)l->raw + 4;
	if (__builtin_expect(rec->len < payload, 0))
		return false;
	len = load_u32(rec->bytes + l->raw);
	if (__builtin_expect(len > rec->len - payload, 0))
		return false;
	ret->schema = e->schema;
	ret->pub.schema = e->schema_id;
	ret->attr = ret->member = e->index;
	ret->pub.time_ns = rec->time_ns;
	ret->pub.pid = (int32_t)load_u32(rec->bytes + l->tid);
	ret->pub.tid = (int32_t)load_u32(rec->bytes + l->tid + 4);
	ret->pub.cpu = (int32_t)load_u32(rec->bytes + l->cpu);
	ret->pub.cpumode = load_u16(rec->bytes + 4) & CPUMODE_MASK;
	ret->pub.bytes = rec->bytes + payload;
	ret->pub.bytes_len = len;
	return ret->pub.cpumode < 4;
}

/*
 * Event i of a record: 1 and *ret filled, it is the last; 2: the same, more may follow; 0: the
 * record gives no (more) event; <0 failure.
 */
static int decode_event(struct perfdata_source *s, const struct cut *rec, unsigned i,
			struct event *ret)
{
	bool swap = s->file.swap;
	uint32_t type = get_u32(rec->bytes, swap);
	const struct perfdata_event *e = NULL;

	if (__builtin_expect(type == PERF_RECORD_SAMPLE, 1)) {
		e = perfdata_recent_event(s, rec->bytes, rec->len);
		/* A read of counters is needed by the next one, wanted or not. */
		if (e && e->schema->unwanted && !s->has_reads)
			return 0;
	}
	/* Member by member: clearing the whole struct would cost as much as the decoding. */
	ret->pub.flags =
		(swap ? SONDE_EVENT_SWAPPED : 0) | (rec->flags & CUT_LATE ? SONDE_EVENT_LATE : 0);
	ret->pub.record = rec->bytes;
	ret->pub.record_len = rec->len;
	ret->pub.file_off = rec->file_off;
	ret->cut = rec;
	ret->derived = 0;
	ret->period = 0;
	ret->chain_off = 0;
	ret->change.kind = CHANGE_NONE;
	if (__builtin_expect(e && decode_plain(e, rec, ret), 1))
		return 1;
	ret->pub.time_ns = SONDE_NO_TIME;
	ret->pub.cpu = ret->pub.pid = ret->pub.tid = -1;
	ret->pub.bytes = rec->bytes + rec->len;
	ret->pub.bytes_len = 0;
	if (type == PERF_RECORD_SAMPLE)
		return decode_sample(s, rec, i, ret);
	if (type == RECORD_STAT_ROUND)
		return perfdata_counts_decode(s, rec, i, ret);
	return i ? 0 : perfdata_record_decode(s, rec, ret);
}

static int decode_or_list(struct perfdata_source *s, const struct cut *rec, unsigned i,
			  struct event *ret)
{
	if (__builtin_expect(!s->opts.list_records, 1)) {
		if (__builtin_expect(ret->listed, 0))
			ret->listed = false;
		return decode_event(s, rec, i, ret);
	}
	ret->listed = !i;
	ret->refused = false;
	return i ? decode_event(s, rec, i - 1, ret) : perfdata_listed_event(s, rec, ret);
}

int perfdata_decode(struct source *source, const struct cut *cuts, int nr, int *at,
		    struct event *ret, int max)
{
	struct perfdata_source *s = perfdata_of(source);
	int n;

	/* Events of header records that were taken since have no schema so far, or an older one. */
	if (__builtin_expect(s->is_unsettled, 0))
		TRY(perfdata_pipe_settle(s));
	n = decode_or_list(s, &cuts[*at], s->derived, ret);
	if (n == 2) {
		s->derived++;
		return 1;
	}
	s->derived = 0;
	++*at;
	return n;
}

/* A derived event's id is the one that its count was read with. */
static void take_member_id(const struct perfdata_source *s, uint32_t member,
			   struct sonde_sample *ret)
{
	for (uint32_t i = 0; i < ret->nr_reads; i++) {
		uint64_t at = hash64_find(&s->by_id, ret->reads[i].id);

		if (at != HASH64_EMPTY && s->ids.v[at].event == member) {
			ret->id = ret->reads[i].id;
			return;
		}
	}
}

int perfdata_sample(struct source *source, const struct event *ev, struct sonde_sample *ret)
{
	struct perfdata_source *s = perfdata_of(source);
	const struct perfdata_event *e = &s->events.v[ev->attr];
	struct bytes b = bytes_init(ev->pub.record, ev->pub.record_len, ev->pub.file_off,
				    s->file.path, s->file.swap);

	if (ev->schema->kind != SONDE_TRACEPOINT && ev->schema->kind != SONDE_SAMPLE)
		return err_set(-ENODATA, "%s is not a sample", ev->schema->name);
	b.what = "a sample";
	TRY(sample_read(&e->attr, &e->layout, b, &s->scratch, ret));
	if (!(e->attr.sample_type & PERF_SAMPLE_PERIOD))
		ret->period = e->attr.freq && !s->opts.rules->frequency_is_period
				      ? 1
				      : e->attr.sample_period;
	if (ev->period) {
		ret->period = ev->period;
		take_member_id(s, ev->member, ret);
	}
	return 0;
}

int perfdata_callchain(struct source *source, const struct event *ev, const uint8_t **ret)
{
	struct perfdata_source *s = perfdata_of(source);
	const struct perfdata_event *e = &s->events.v[ev->attr];
	struct sample_parts parts;

	if (ev->schema->kind > SONDE_SAMPLE || !(e->attr.sample_type & PERF_SAMPLE_CALLCHAIN))
		return 0;
	if (sample_parts_find(&e->attr, &e->layout, ev->pub.record, ev->pub.record_len,
			      s->file.swap, &parts) < 0)
		return 0; /* told when it was decoded */
	*ret = parts.chain;
	return (int)parts.nr_chain;
}
