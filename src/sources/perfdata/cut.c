/* SPDX-License-Identifier: MIT */
/*
 * Cutting perf.data into records: sizes and times, nothing else. Runs over every byte, and again over windows that were
 * dropped between the walk and the merge: keep it short.
 */

#include "sources/perfdata/perfdata.h"

enum { RECORD_HEADER_BYTES = 8, FIRST_TOOL_RECORD = 64 };

static struct perfdata_event *event_of_id(struct perfdata_source *s, uint64_t id)
{
	uint64_t i = hash64_find(&s->by_id, id);
	struct perfdata_event *e;

	if (i == HASH64_EMPTY)
		return id ? NULL : &s->events.v[0]; /* records of the tool carry id 0 */
	e = &s->events.v[s->ids.v[i].event];
	s->recent[id % NR_RECENT_IDS] = (struct recent_id){ id, e };
	return e;
}

static inline bool id_at(const uint8_t *rec, uint32_t len, const struct perfdata_layout *l,
			 bool swap, uint64_t *ret)
{
	bool is_sample = get_u32(rec, swap) == PERF_RECORD_SAMPLE;
	int off = is_sample ? l->id : l->end_id < 0 ? -1 : (int)len - l->end_id;

	if (off < RECORD_HEADER_BYTES || (uint32_t)off + 8 > len)
		return false;
	*ret = get_u64(rec + off, swap);
	return true;
}

struct perfdata_event *perfdata_event_of(struct perfdata_source *s, const uint8_t *rec,
					 uint32_t len, uint64_t *ret_id)
{
	bool swap = s->file.swap;
	uint64_t id = 0;

	if (ret_id)
		*ret_id = 0;
	switch (s->id_rule) {
	case ID_ONE_EVENT:
		if (ret_id)
			id_at(rec, len, &s->events.v[0].layout, swap, ret_id);
		return &s->events.v[0];
	case ID_SAME_PLACE:
		if (!id_at(rec, len, &s->events.v[0].layout, swap, &id))
			return &s->events.v[0];
		if (ret_id)
			*ret_id = id;
		return event_of_id(s, id);
	case ID_MIXED:
		break;
	}
	vec_foreach(e, &s->events) {
		if (id_at(rec, len, &e->layout, swap, &id) && id && event_of_id(s, id) == e) {
			if (ret_id)
				*ret_id = id;
			return e;
		}
	}
	return get_u32(rec, swap) == PERF_RECORD_SAMPLE ? NULL : &s->events.v[0];
}

/* Where the record's time is, or -1. */
static int time_off(struct perfdata_source *s, const uint8_t *rec, uint32_t type, uint32_t len)
{
	int off, from_end;

	if (s->same_time_off) {
		off = s->time_off;
		from_end = s->time_from_end;
	} else {
		const struct perfdata_event *e = perfdata_event_of(s, rec, len, NULL);

		if (!e)
			return -1;
		off = e->layout.time;
		from_end = e->layout.end_time;
	}
	if (type != PERF_RECORD_SAMPLE)
		off = from_end < 0 ? -1 : (int)len - from_end;
	return off >= RECORD_HEADER_BYTES && (uint32_t)off + 8 <= len ? off : -1;
}

/* Bytes that follow a record without being part of it: they are stepped over. */
static uint64_t trailing_bytes(const uint8_t *rec, uint32_t type, uint32_t len, bool swap)
{
	if (type == RECORD_AUXTRACE && len >= 16)
		return get_u64(rec + 8, swap);
	if (type == RECORD_HEADER_TRACING_DATA && len >= TRACING_DATA_RECORD_MIN &&
	    len <= TRACING_DATA_RECORD_MAX)
		return ((uint64_t)get_u32(rec + 8, swap) + 7) & ~(uint64_t)7;
	return 0;
}

uint64_t perfdata_record_bytes(const uint8_t *rec, uint16_t size, bool swap)
{
	uint64_t behind = trailing_bytes(rec, get_u32(rec, swap), size, swap);

	return size + (behind < UINT64_MAX / 2 ? behind : UINT64_MAX / 2);
}

/* Records that tell how others are to be read: taken when they are cut. */
static bool is_header_record(uint32_t type)
{
	return type >= RECORD_SIMPLEPERF_KERNEL_SYMBOL || type == RECORD_HEADER_ATTR ||
	       type == RECORD_HEADER_FEATURE || type == RECORD_HEADER_TRACING_DATA ||
	       type == RECORD_HEADER_BUILD_ID || type == RECORD_EVENT_UPDATE;
}

static int cut_records(struct perfdata_source *s, unsigned file, const uint8_t *p, size_t len,
		       uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		       size_t *ret_need)
{
	const uint8_t *rec = p, *end = p + len;
	uint64_t behind = 0;
	const bool swap = s->file.swap;
	/* Where the time of every sample is, when that is the same for all: the common case, without a question. */
	const uint32_t sample_time =
		s->same_time_off && s->time_off > 0 ? (uint32_t)s->time_off : UINT32_MAX - 8;
	/* Reads of counters give differences: each needs the one before. */
	const uint8_t sample_flags = CUT_SAMPLE | (s->has_reads ? 0 : CUT_STATELESS);
	int n = 0;

	*ret_need = 0;
	*ret_used = 0;
	while (n < max && !behind) {
		struct cut *cut = &ret[n];
		uint32_t type;
		uint16_t size;

		if (end - rec < RECORD_HEADER_BYTES) {
			*ret_need = RECORD_HEADER_BYTES;
			break;
		}
		type = get_u32(rec, swap);
		size = get_u16(rec + 6, swap);
		if (__builtin_expect(s->is_unsettled, 0) && !is_header_record(type))
			break; /* the places of times may be others from here on */
		if (size < RECORD_HEADER_BYTES) {
			if (n)
				break; /* told when it comes first */
			defects_add(s->opts.defects, DEFECT_BAD_SIZE, 1,
				    "at 0x%llx%s: a record of %u bytes",
				    (unsigned long long)file_off, perfdata_behind_offset(s, file),
				    size);
			return -EBADMSG;
		}
		if (end - rec < size) {
			*ret_need = size;
			break;
		}
		cut->time_ns = 0;
		cut->file_off = file_off + (uint64_t)(rec - p);
		cut->bytes = rec;
		cut->len = size;
		cut->file = (uint16_t)file;
		cut->order = CUT_AT_ONCE;
		cut->flags = 0;
		if (type == PERF_RECORD_SAMPLE && sample_time + 8 <= size) {
			cut->time_ns = get_u64(rec + sample_time, swap);
			cut->flags = sample_flags;
			if (cut->time_ns && cut->time_ns != UINT64_MAX)
				cut->order = CUT_ORDERED;
		} else if (type < FIRST_TOOL_RECORD) {
			int off = time_off(s, rec, type, size);

			if (type == PERF_RECORD_SAMPLE)
				cut->flags = CUT_SAMPLE;
			if (off >= 0)
				cut->time_ns = get_u64(rec + off, swap);
			if (cut->time_ns && cut->time_ns != UINT64_MAX)
				cut->order = CUT_ORDERED;
		} else if (type == RECORD_SIMPLEPERF_CALLCHAIN && size >= SIMPLEPERF_CHAIN_BYTES) {
			s->has_chains = true;
			cut->time_ns = get_u64(rec + SIMPLEPERF_CHAIN_TIME_AT, swap);
			if (cut->time_ns && cut->time_ns != UINT64_MAX)
				cut->order = CUT_ORDERED;
		} else if (type == RECORD_FINISHED_ROUND) {
			cut->order = CUT_ROUND;
		} else {
			behind = trailing_bytes(rec, type, size, swap);
			if (type == RECORD_ID_INDEX && s->behind_first)
				perfdata_directory_ids_look(s, rec, size);
			if (cut->file_off >= s->taken_to &&
			    (s->file.is_pipe || perfdata_is_simpleperf(type, size))) {
				uint64_t whole = perfdata_pipe_record_bytes(s, rec, size);

				if ((uint64_t)(end - rec) < whole && whole <= MAX_TRACING_BYTES) {
					*ret_need = whole;
					break;
				}
				if (whole <= MAX_TRACING_BYTES)
					TRY(perfdata_pipe_take(s, rec, whole, cut->file_off));
			}
		}
		n++;
		rec += size;
	}
	for (int i = 0; __builtin_expect(s->unordered, 0) && i < n; i++) {
		if (ret[i].order == CUT_ORDERED)
			ret[i].order = CUT_AT_ONCE;
	}
	*ret_used = (uint64_t)(rec - p) + (behind < UINT64_MAX / 2 ? behind : UINT64_MAX / 2);
	return n;
}

int perfdata_cut(struct source *source, unsigned file, const uint8_t *p, size_t len,
		 uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used, size_t *ret_need)
{
	struct perfdata_source *s = perfdata_of(source);

	if (__builtin_expect(s->is_unsettled, 0) && len >= RECORD_HEADER_BYTES &&
	    !is_header_record(get_u32(p, s->file.swap)))
		TRY(perfdata_pipe_settle(s));
	return cut_records(s, file, p, len, file_off, ret, max, ret_used, ret_need);
}
