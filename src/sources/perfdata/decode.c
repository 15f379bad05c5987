/* SPDX-License-Identifier: MIT */
/*
 * Makes events of records. Samples are the hot path: their members are read at the offsets planned
 * for their attr (formats/perfdata/attr.h), and nothing is allocated.
 */

#include "model/callchain.h"
#include "sources/perfdata/counts.h"
#include "sources/perfdata/perfdata.h"

static __attribute__((noinline, cold)) int decode_bad_record(struct perfdata_source *s,
							     const struct cut *rec,
							     const char *what)
{
	defects_add(s->opts.defects, DEFECT_BAD_RECORD, 1, "%s at 0x%llx%s", what,
		    (unsigned long long)rec->file_off, perfdata_behind_offset(s, rec->file));
	err_clear();
	return 0;
}

/*
 * SAMPLE_READ: the event's period is the growth of its count since the last read. Reading a group
 * makes one event for each member that grew. The first call reads the values; later calls continue
 * where the previous one stopped.
 */
static __attribute__((noinline)) int decode_derive(struct perfdata_source *s, const struct cut *rec,
						   unsigned i, struct perfdata_event *e,
						   struct event *ret)
{
	const uint64_t id = e->layout.id ? get_u64(rec->bytes + e->layout.id, s->file.swap) : 0;
	bool is_group = e->attr.read_format & PERF_FORMAT_GROUP;
	struct bytes b =
		bytes_init(rec->bytes, rec->len, rec->file_off, s->file.path, s->file.swap);
	int r;

	/* If the counts name no event, the sample remains an event of its own type, with unknown
	 * growth. */
	if (!(e->attr.read_format & PERF_FORMAT_ID) && (is_group || !id))
		return 1;
	if (!i) {
		b.pos += e->layout.first_variable;
		s->group = (struct sonde_sample){ 0 };
		s->group_at = 0;
		r = sample_reads_read(e->attr.read_format, &b, &s->group_scratch, &s->group);
		if (r < 0)
			return r == -ENOMEM ? r : decode_bad_record(s, rec, "read values");
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
		/* The payload belongs to the sampled event; other members of the group have only a
		 * count. */
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

/*
 * Reads pid, tid, cpu and time at planned offsets, without a branch for each. For a member that is
 * not recorded, the planned offset is in the header, and all bits of the result are set: -1,
 * SONDE_NO_TIME.
 */
static inline void decode_fixed(const struct perfdata_layout *l, const struct cut *rec, bool swap,
				struct sonde_event *ret)
{
	const uint8_t *p = rec->bytes;
	const uint32_t no_task = -(uint32_t)!l->tid, no_cpu = -(uint32_t)!l->cpu,
		       pid = get_u32(p + l->tid, swap) | no_task,
		       tid = get_u32(p + l->tid + 4, swap) | no_task,
		       cpu = get_u32(p + l->cpu, swap) | no_cpu;
	const uint64_t no_time = -(uint64_t)!l->time;

	ret->pid = (int32_t)pid;
	ret->tid = (int32_t)tid;
	ret->cpu = (int32_t)cpu;
	ret->time_ns = rec->time_ns | no_time; /* known from cutting it */
	ret->cpumode = get_u16(p + 4, swap) & CPUMODE_MASK;
}

/* Reads the raw payload. Returns NULL, or the fault in the sections of variable length. */
static inline const char *decode_payload(const struct perfdata_layout *l, const struct cut *rec,
					 bool swap, struct sonde_event *ret)
{
	const uint8_t *p = rec->bytes;
	const uint32_t raw = l->raw, len = rec->len;
	struct sample_extents extents;

	if (__builtin_expect(raw, 1)) {
		const uint32_t bytes_len = get_u32(p + raw, swap);

		ret->bytes = p + raw + 4;
		ret->bytes_len = bytes_len;
		if (__builtin_expect(bytes_len > len - raw - 4, 0))
			return "a raw payload larger than its record";
		return NULL;
	}
	ret->bytes = p + len;
	ret->bytes_len = 0;
	if (!l->has_chain && !l->member_words)
		return NULL;
	if (sample_extents_find(l, p, len, swap, &extents) < 0)
		return "a sample whose parts are larger than it";
	if (extents.raw) {
		ret->bytes = extents.raw;
		ret->bytes_len = extents.raw_len;
	}
	return NULL;
}

static __attribute__((noinline, cold)) int decode_unknown_id(struct perfdata_source *s,
							     const struct cut *rec, unsigned i,
							     uint64_t id)
{
	if (!i)
		defects_add(s->opts.defects, DEFECT_UNKNOWN_ID, 1, "%llu at 0x%llx%s",
			    (unsigned long long)id, (unsigned long long)rec->file_off,
			    perfdata_behind_offset(s, rec->file));
	return 0;
}

/*
 * Reads a sample except for the counts of its event. Returns NULL, or the fault in it. swap: a
 * constant in each call.
 */
static inline __attribute__((always_inline)) const char *decode_read_sample(
	const struct perfdata_event *e, const struct cut *rec, bool swap, struct event *ret)
{
	const struct perfdata_layout *l = &e->layout;

	if (__builtin_expect(rec->len < l->least, 0))
		return "a short sample";
	ret->schema = e->schema;
	ret->attr = ret->member = e->index;
	ret->pub.schema = e->schema_id;
	decode_fixed(l, rec, swap, &ret->pub);
	return decode_payload(l, rec, swap, &ret->pub);
}

/* Finds the event type of a sample. If it is unknown, returns NULL and the id in *ret_id. recent: a
 * member of s. */
static inline struct perfdata_event *decode_find_event(const struct perfdata_source *s,
						       struct recent_id *recent,
						       const struct cut *rec, bool swap,
						       uint64_t *ret_id)
{
	struct perfdata_event *e = perfdata_recent_event(s, recent, rec->bytes, rec->len, swap);

	if (__builtin_expect(e != NULL, 1))
		return e;
	e = perfdata_event_of(s, rec->bytes, rec->len, ret_id);
	if (e && s->id_rule == ID_SAME_PLACE)
		recent[*ret_id % NR_RECENT_IDS] = (struct recent_id){ *ret_id, e };
	return e;
}

static int decode_sample(struct perfdata_source *s, const struct cut *rec, unsigned i,
			 struct event *ret)
{
	const bool swap = s->file.swap;
	struct perfdata_event *e;
	const char *wrong;
	uint64_t id;

	e = decode_find_event(s, s->recent, rec, swap, &id);
	if (__builtin_expect(!e, 0))
		return decode_unknown_id(s, rec, i, id);
	/* The next read of the counters needs this one, even if this one is not delivered. */
	if (e->schema->unwanted && !s->has_reads)
		return 0;
	wrong = swap ? decode_read_sample(e, rec, true, ret)
		     : decode_read_sample(e, rec, false, ret);
	if (__builtin_expect(wrong != NULL, 0))
		return decode_bad_record(s, rec, wrong);
	if (__builtin_expect(ret->pub.cpumode >= CPUMODE_GUEST_KERNEL, 0)) {
		if (!i)
			defects_add(s->opts.defects, DEFECT_GUEST, 1, NULL);
		/* perf leaves guests out unless asked. */
		if (s->opts.rules->leaves_out_guests && !s->opts.raw_records)
			return 0;
		ret->is_left_out = s->opts.rules->leaves_out_guests;
	}
	if (__builtin_expect(s->has_chains, 0))
		ret->chain_off = perfdata_simpleperf_chain_before(s, &ret->pub);
	if (__builtin_expect(e->layout.has_read, 0))
		return decode_derive(s, rec, i, e, ret);
	return 1;
}

/*
 * Sets the members one by one, because clearing the complete struct would take as long as the
 * decoding. is_plain: *ret held only plain samples so far; a constant in each call.
 */
static inline __attribute__((always_inline)) void decode_begin_event(const struct cut *rec,
								     bool swap, bool is_plain,
								     struct event *ret)
{
	ret->pub.flags =
		(swap ? SONDE_EVENT_SWAPPED : 0) | (rec->flags & CUT_LATE ? SONDE_EVENT_LATE : 0);
	ret->pub.record = rec->bytes;
	ret->pub.record_len = rec->len;
	ret->pub.file_off = rec->file_off;
	ret->cut = rec;
	if (is_plain)
		return;
	ret->derived = 0;
	ret->period = 0;
	ret->chain_off = 0;
	ret->change = NULL;
}

/*
 * Makes event i of a record. Returns 1 if *ret is the last one, 2 if *ret is filled and more may
 * follow, 0 if the record has no further event, <0 on failure.
 */
static __attribute__((noinline)) int decode_event(struct perfdata_source *s, const struct cut *rec,
						  unsigned i, struct event *ret)
{
	const bool swap = s->file.swap;
	const uint32_t type = get_u32(rec->bytes, swap);

	decode_begin_event(rec, swap, false, ret);
	if (__builtin_expect(type == PERF_RECORD_SAMPLE, 1))
		return decode_sample(s, rec, i, ret);
	ret->pub.time_ns = SONDE_NO_TIME;
	ret->pub.cpu = ret->pub.pid = ret->pub.tid = -1;
	ret->pub.bytes = rec->bytes + rec->len;
	ret->pub.bytes_len = 0;
	if (type == RECORD_STAT_ROUND)
		return perfdata_counts_decode(s, rec, i, ret);
	return i ? 0 : perfdata_record_decode(s, rec, ret);
}

/*
 * A window is larger than the caches close to the cpu, so its records are in the slower caches when
 * they are decoded. This prefetches the records after the next ones. The members of a sample that
 * are read are in two cache lines.
 */
static inline void decode_fetch_ahead(const struct cut *rec, const struct cut *end)
{
	enum { AHEAD = 4 };

	if (rec + AHEAD < end) {
		__builtin_prefetch(rec[AHEAD].bytes);
		__builtin_prefetch(rec[AHEAD].bytes + CACHE_LINE);
	}
}

/*
 * Decodes samples that only become an event, up to the first record that does more (source.h).
 * Leaves damaged samples to decode_event(), which counts them. swap: a constant in each call.
 */
static inline __attribute__((always_inline)) int decode_ahead(const struct perfdata_source *s,
							      struct recent_id *recent,
							      const struct cut *cuts, int nr,
							      int *ret_at, bool swap, bool is_plain,
							      struct event *ret, int max)
{
	const struct cut *rec = cuts + *ret_at, *end = cuts + nr;
	struct event *ev = ret, *ev_end = ret + max;

	for (; rec < end && ev < ev_end; rec++) {
		const struct perfdata_event *e;
		uint64_t id;

		decode_fetch_ahead(rec, end);
		if (get_u32(rec->bytes, swap) != PERF_RECORD_SAMPLE)
			break;
		e = decode_find_event(s, recent, rec, swap, &id);
		if (__builtin_expect(!e, 0))
			break;
		if (schema_is_unwanted(e->schema))
			continue;
		decode_begin_event(rec, swap, is_plain, ev);
		if (__builtin_expect(decode_read_sample(e, rec, swap, ev) != NULL, 0) ||
		    ev->pub.cpumode >= CPUMODE_GUEST_KERNEL)
			break;
		ev++;
	}
	*ret_at = (int)(rec - cuts);
	return (int)(ev - ret);
}

/* The growth of a count is relative to the previous sample; a chain belongs to the previous record.
 */
static inline bool decode_can_go_ahead(const struct perfdata_source *s)
{
	return !s->has_reads && !s->has_chains;
}

int perfdata_decode_ahead(struct source *source, const struct cut *cuts, int nr, int *at,
			  struct event *ret, int max)
{
	struct perfdata_source *s = perfdata_of(source);

	if (!decode_can_go_ahead(s) || atomic_load_explicit(&s->is_unsettled, memory_order_acquire))
		return 0;
	return s->file.swap ? decode_ahead(s, s->recent_ahead, cuts, nr, at, true, true, ret, max)
			    : decode_ahead(s, s->recent_ahead, cuts, nr, at, false, true, ret, max);
}

int perfdata_decode(struct source *source, const struct cut *cuts, int nr, int *at,
		    struct event *ret, int max)
{
	struct perfdata_source *s = perfdata_of(source);
	int n, begin = *at;

	/* Events of header records that were taken since have no schema so far, or an older one. */
	if (__builtin_expect(atomic_load_explicit(&s->is_unsettled, memory_order_relaxed), 0))
		TRY(perfdata_pipe_settle(s));
	/* An event that was decoded alone is the first in the array and may have left these members
	 * set. */
	if (__builtin_expect(ret->is_left_out | ret->is_summed_up, 0))
		ret->is_left_out = ret->is_summed_up = false;
	if (__builtin_expect(decode_can_go_ahead(s), 1)) {
		n = s->file.swap ? decode_ahead(s, s->recent, cuts, nr, at, true, false, ret, max)
				 : decode_ahead(s, s->recent, cuts, nr, at, false, false, ret, max);
		if (n || *at > begin)
			return n;
	}
	n = decode_event(s, &cuts[*at], s->derived, ret);
	if (n == 2) {
		s->derived++;
		return 1;
	}
	s->derived = 0;
	++*at;
	return n;
}

/* The id of a derived event is the id of its count. */
static void decode_take_member_id(const struct perfdata_source *s, uint32_t member,
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

/* The period of samples if they do not record it. */
static uint64_t decode_fixed_period(const struct perfdata_source *s, const struct perfdata_event *e)
{
	return e->attr.freq && !s->opts.rules->frequency_is_period ? 1 : e->attr.sample_period;
}

void perfdata_weigh(struct source *source, const struct event *ev, uint64_t *ret_ip,
		    uint64_t *ret_period)
{
	const struct perfdata_source *s = perfdata_of(source);
	const struct perfdata_event *e = &s->events.v[ev->attr];
	const struct perfdata_layout *l = &e->layout;
	const uint8_t *p = ev->pub.record;

	*ret_ip = l->ip ? get_u64(p + l->ip, s->file.swap) : 0;
	if (__builtin_expect(ev->period != 0, 0))
		*ret_period = ev->period;
	else
		*ret_period = l->period ? get_u64(p + l->period, s->file.swap)
					: decode_fixed_period(s, e);
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
		ret->period = decode_fixed_period(s, e);
	if (ev->period) {
		ret->period = ev->period;
		decode_take_member_id(s, ev->member, ret);
	}
	return 0;
}

int perfdata_callchain(struct source *source, const struct event *ev, const uint8_t **ret)
{
	struct perfdata_source *s = perfdata_of(source);
	const struct perfdata_event *e = &s->events.v[ev->attr];
	struct sample_extents extents;

	if (ev->schema->kind > SONDE_SAMPLE || !e->layout.has_chain)
		return 0;
	if (sample_extents_find(&e->layout, ev->pub.record, ev->pub.record_len, s->file.swap,
				&extents) < 0)
		return 0; /* counted when it was decoded */
	*ret = extents.chain;
	return (int)extents.nr_chain;
}
