/* SPDX-License-Identifier: MIT */
/*
 * Cuts perf.data into records: finds their sizes and times, nothing else. This code runs over every
 * byte, and again over windows that were dropped between the walk and the merge, so keep it short.
 */

#include "sources/perfdata/perfdata.h"

enum { RECORD_HEADER_BYTES = 8, FIRST_TOOL_RECORD = 64 };

static struct perfdata_event *cut_event_of_id(const struct perfdata_source *s, uint64_t id)
{
	uint64_t i = hash64_find(&s->by_id, id);

	if (i == HASH64_EMPTY)
		return id ? NULL : &s->events.v[0]; /* records of the tool carry id 0 */
	return &s->events.v[s->ids.v[i].event];
}

static inline bool cut_id_at(const uint8_t *rec, uint32_t len, const struct perfdata_layout *l,
			     bool swap, uint64_t *ret)
{
	bool is_sample = get_u32(rec, swap) == PERF_RECORD_SAMPLE;
	uint32_t off = is_sample ? l->id : l->end_id && l->end_id <= len ? len - l->end_id : 0;

	if (off < RECORD_HEADER_BYTES || off + 8 > len)
		return false;
	*ret = get_u64(rec + off, swap);
	return true;
}

struct perfdata_event *perfdata_event_of(const struct perfdata_source *s, const uint8_t *rec,
					 uint32_t len, uint64_t *ret_id)
{
	bool swap = s->file.swap;
	uint64_t id = 0;

	if (ret_id)
		*ret_id = 0;
	switch (s->id_rule) {
	case ID_ONE_EVENT:
		if (ret_id)
			cut_id_at(rec, len, &s->events.v[0].layout, swap, ret_id);
		return &s->events.v[0];
	case ID_SAME_PLACE:
		if (!cut_id_at(rec, len, &s->events.v[0].layout, swap, &id))
			return &s->events.v[0];
		if (ret_id)
			*ret_id = id;
		return cut_event_of_id(s, id);
	case ID_MIXED:
		break;
	}
	for (size_t i = 0; i < s->events.n; i++) {
		struct perfdata_event *e = &s->events.v[i];

		if (cut_id_at(rec, len, &e->layout, swap, &id) && id &&
		    cut_event_of_id(s, id) == e) {
			if (ret_id)
				*ret_id = id;
			return e;
		}
	}
	return get_u32(rec, swap) == PERF_RECORD_SAMPLE ? NULL : &s->events.v[0];
}

/* The offset of the record's time; 0 if it has none. */
static uint32_t cut_time_off(const struct perfdata_source *s, const uint8_t *rec, uint32_t type,
			     uint32_t len)
{
	uint32_t off, from_end;

	if (s->same_time_off) {
		off = s->time_off;
		from_end = s->time_from_end;
	} else {
		const struct perfdata_event *e = perfdata_event_of(s, rec, len, NULL);

		if (!e)
			return 0;
		off = e->layout.time;
		from_end = e->layout.end_time;
	}
	if (type != PERF_RECORD_SAMPLE)
		off = from_end && from_end <= len ? len - from_end : 0;
	return off >= RECORD_HEADER_BYTES && off + 8 <= len ? off : 0;
}

/* Bytes that follow a record without being part of it. The reader skips them. */
static uint64_t cut_trailing_bytes(const uint8_t *rec, uint32_t type, uint32_t len, bool swap)
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
	uint64_t behind = cut_trailing_bytes(rec, get_u32(rec, swap), size, swap);

	return size + (behind < UINT64_MAX / 2 ? behind : UINT64_MAX / 2);
}

/* Offset of the time in a sample if it is the same for all events; otherwise an offset beyond any
 * record. */
static uint32_t cut_common_sample_time(const struct perfdata_source *s)
{
	return s->same_time_off && s->time_off ? s->time_off : UINT32_MAX - 8;
}

/* 0 and UINT64_MAX are no times. */
static inline bool cut_has_meaning(uint64_t time_ns)
{
	return time_ns - 1 < UINT64_MAX - 1;
}

static inline void cut_at_time(struct cut *cut, uint64_t time_ns)
{
	cut->time_ns = time_ns;
	if (cut_has_meaning(time_ns))
		cut->order = CUT_ORDERED;
}

/*
 * Returns the size of the record at rec, 0 if the batch ends before it because *ret_need bytes are
 * needed, or -EBADMSG if the record is damaged.
 */
static inline int cut_next_record_bytes(const uint8_t *rec, const uint8_t *end, bool swap,
					size_t *ret_need)
{
	int size;

	if (end - rec < RECORD_HEADER_BYTES) {
		*ret_need = RECORD_HEADER_BYTES;
		return 0;
	}
	size = get_u16(rec + 6, swap);
	if (size < RECORD_HEADER_BYTES)
		return -EBADMSG;
	if (end - rec < size) {
		*ret_need = size;
		return 0;
	}
	return size;
}

static int cut_count_bad_size(const struct perfdata_source *s, unsigned file, const uint8_t *rec,
			      uint64_t file_off)
{
	defects_add(s->opts.read_defects, DEFECT_BAD_SIZE, 1, "at 0x%llx%s: a record of %u bytes",
		    (unsigned long long)file_off, perfdata_behind_offset(s, file),
		    get_u16(rec + 6, s->file.swap));
	return -EBADMSG;
}

/* A record of the kernel. */
static void cut_kernel_record(const struct perfdata_source *s, struct cut *cut, uint32_t type)
{
	uint32_t off = cut_time_off(s, cut->bytes, type, cut->len);

	if (type == PERF_RECORD_SAMPLE)
		cut->flags = CUT_SAMPLE;
	if (off)
		cut_at_time(cut, get_u64(cut->bytes + off, s->file.swap));
}

/* True for a record that decides how others are read, unless it was handled already. */
static bool cut_is_header(const struct perfdata_source *s, unsigned file, uint64_t file_off,
			  uint32_t type, uint32_t len)
{
	if (file || file_off < s->taken_to)
		return false;
	if (type == RECORD_ID_INDEX)
		return s->behind_first;
	if (!s->file.is_pipe)
		return perfdata_is_simpleperf(type, len);
	return type == RECORD_HEADER_ATTR || type == RECORD_HEADER_FEATURE ||
	       type == RECORD_HEADER_TRACING_DATA || type == RECORD_HEADER_BUILD_ID ||
	       type == RECORD_EVENT_UPDATE;
}

/* Cuts a record of the recording program. Returns 1, or 0 if *ret_need bytes are needed. */
static int cut_tool_record(const struct perfdata_source *s, struct cut *cut, uint32_t type,
			   const uint8_t *end, uint64_t *ret_behind, size_t *ret_need)
{
	if (type == RECORD_SIMPLEPERF_CALLCHAIN && cut->len >= SIMPLEPERF_CHAIN_BYTES) {
		cut_at_time(cut, get_u64(cut->bytes + SIMPLEPERF_CHAIN_TIME_AT, s->file.swap));
		return 1;
	}
	if (type == RECORD_FINISHED_ROUND) {
		cut->order = CUT_ROUND;
		return 1;
	}
	if (cut_is_header(s, cut->file, cut->file_off, type, cut->len)) {
		uint64_t bytes = perfdata_pipe_record_bytes(s, cut->bytes, (uint16_t)cut->len);

		if (bytes <= MAX_TRACING_BYTES) {
			if ((uint64_t)(end - cut->bytes) < bytes) {
				*ret_need = bytes;
				return 0;
			}
			cut->order = CUT_HEADER;
		}
	}
	*ret_behind = cut_trailing_bytes(cut->bytes, type, cut->len, s->file.swap);
	return 1;
}

/* True if another one follows the header record `cut`, which ends at rec. */
static bool cut_header_follows(const struct perfdata_source *s, const struct cut *cut,
			       const uint8_t *rec, const uint8_t *end)
{
	const bool swap = s->file.swap;

	return end - rec >= RECORD_HEADER_BYTES &&
	       cut_is_header(s, cut->file, cut->file_off + cut->len, get_u32(rec, swap),
			     get_u16(rec + 6, swap));
}

/*
 * Peeks at the time of a complete record and sets its order and flags. Returns 1, or 0 if *ret_need
 * bytes are needed.
 */
static inline int cut_record(const struct perfdata_source *s, struct cut *cut, uint8_t sample_flags,
			     uint32_t sample_time, const uint8_t *end, uint64_t *ret_behind,
			     size_t *ret_need)
{
	const bool swap = s->file.swap;
	const uint32_t type = get_u32(cut->bytes, swap);

	if (type >= FIRST_TOOL_RECORD)
		return cut_tool_record(s, cut, type, end, ret_behind, ret_need);
	if (type == PERF_RECORD_SAMPLE && sample_time + 8 <= cut->len) {
		cut->flags = sample_flags;
		cut_at_time(cut, get_u64(cut->bytes + sample_time, swap));
	} else {
		cut_kernel_record(s, cut, type);
	}
	return 1;
}

static void cut_forget_order(struct cut *cuts, int n)
{
	for (int i = 0; i < n; i++) {
		if (cuts[i].order == CUT_ORDERED)
			cuts[i].order = CUT_AT_ONCE;
	}
}

/* The places in samples that cut_samples() looks at. */
struct sample_places {
	uint32_t time_at, least; /* least: bytes of a sample that has all of them */
	uint32_t id_at;
	const uint64_t *unwanted_ids; /* NULL if the ids are not looked at */
	uint64_t unwanted_mask;
};

static struct sample_places cut_sample_places(const struct perfdata_source *s, uint32_t time_at)
{
	const uint32_t id_at = s->same_id_off;

	return (struct sample_places){
		.time_at = time_at,
		.least = (s->unwanted_ids && id_at > time_at ? id_at : time_at) + 8,
		.id_at = id_at,
		.unwanted_ids = s->unwanted_ids,
		.unwanted_mask = s->unwanted_mask,
	};
}

/*
 * Cuts samples whose time is at time_at: the common case, many times in a row. Stops at any other
 * record, at an incomplete one, and at one without a usable time. like: the values that all these
 * cuts share. swap, and marks if ids are looked at: constants in each call.
 */
static inline __attribute__((always_inline)) int cut_samples(const struct cut *like,
							     const struct sample_places *places,
							     const uint8_t **rec,
							     const uint8_t *end, bool swap,
							     bool marks, struct cut *ret, int max)
{
	const uint64_t to_off = like->file_off - (uintptr_t)like->bytes;
	const struct sample_places at = *places;
	const struct cut same = *like;
	const uint8_t *p = *rec;
	int n = 0;

	for (; n < max && end - p >= RECORD_HEADER_BYTES; n++) {
		const uint32_t size = get_u16(p + 6, swap);
		uint8_t flags = same.flags;
		uint64_t time_ns;

		if (get_u32(p, swap) != PERF_RECORD_SAMPLE || size > (size_t)(end - p) ||
		    size < at.least)
			break;
		time_ns = get_u64(p + at.time_at, swap);
		if (!cut_has_meaning(time_ns))
			break;
		if (marks) {
			const uint64_t id = get_u64(p + at.id_at, swap);

			flags |= at.unwanted_ids[id & at.unwanted_mask] == id ? CUT_UNWANTED : 0;
		}
		ret[n] = (struct cut){
			.time_ns = time_ns,
			.file_off = to_off + (uintptr_t)p,
			.bytes = p,
			.len = size,
			.file = same.file,
			.order = CUT_ORDERED,
			.flags = flags,
		};
		p += size;
	}
	*rec = p;
	return n;
}

/* cut_samples() with its constants. */
static inline int cut_plain_samples(const struct cut *like, const struct sample_places *places,
				    const uint8_t **rec, const uint8_t *end, bool swap,
				    struct cut *ret, int max)
{
	if (__builtin_expect(places->unwanted_ids != NULL, 0))
		return swap ? cut_samples(like, places, rec, end, true, true, ret, max)
			    : cut_samples(like, places, rec, end, false, true, ret, max);
	return swap ? cut_samples(like, places, rec, end, true, false, ret, max)
		    : cut_samples(like, places, rec, end, false, false, ret, max);
}

static bool cut_can_mark(const struct perfdata_source *s)
{
	/* In a pipe, and where simpleperf writes, records between the samples can add ids. */
	return s->id_rule == ID_SAME_PLACE && s->events.v[0].layout.id && !s->has_reads &&
	       !s->has_chains && !s->file.is_pipe && !s->behind_first;
}

/* The kernel numbers ids one after the other, so few of them have the same place. */
int perfdata_mark_unwanted(struct source *source)
{
	struct perfdata_source *s = perfdata_of(source);
	size_t room = 64;
	bool marks = false;

	free(s->unwanted_ids);
	s->unwanted_ids = NULL;
	if (!cut_can_mark(s))
		return 0;
	while (room < s->ids.n * 2)
		room *= 2;
	s->unwanted_ids = calloc(room, sizeof(*s->unwanted_ids));
	if (!s->unwanted_ids)
		return err_nomem();
	s->unwanted_mask = room - 1;
	vec_foreach(entry, &s->ids) {
		uint64_t *place = &s->unwanted_ids[entry->id & s->unwanted_mask];
		const struct perfdata_event *e = cut_event_of_id(s, entry->id);

		if (*place || !entry->id || !e || !e->schema->unwanted)
			continue;
		*place = entry->id;
		marks = true;
	}
	if (marks)
		return 1;
	free(s->unwanted_ids);
	s->unwanted_ids = NULL;
	return 0;
}

int perfdata_cut(const struct source *source, unsigned file, struct unit *unit, const uint8_t *p,
		 size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		 size_t *ret_need)
{
	const struct perfdata_source *s = (const struct perfdata_source *)source;
	const bool swap = s->file.swap;
	const uint8_t *rec = p, *end = p + len;
	const uint32_t sample_time = cut_common_sample_time(s);
	/* Reads of counters give differences, so each read needs the previous one. */
	const uint8_t sample_flags = CUT_SAMPLE | (s->has_reads ? 0 : CUT_STATELESS);
	const struct sample_places places = cut_sample_places(s, sample_time);
	const struct cut like = {
		.file_off = file_off,
		.bytes = p,
		.file = (uint16_t)file,
		.flags = sample_flags,
	};
	uint64_t behind = 0;
	int n = 0;

	*ret_need = 0;
	*ret_used = 0;
	for (; !behind; n++) {
		struct cut *cut;
		int size;

		n += cut_plain_samples(&like, &places, &rec, end, swap, ret + n, max - n);
		if (n == max)
			break;
		cut = &ret[n];
		size = cut_next_record_bytes(rec, end, swap, ret_need);
		if (size < 0 && !n) /* counted if it is the first one of a batch */
			return cut_count_bad_size(s, file, rec, file_off);
		if (size <= 0)
			break;
		*cut = (struct cut){
			.file_off = file_off + (uint64_t)(rec - p),
			.bytes = rec,
			.len = (uint32_t)size,
			.file = (uint16_t)file,
			.order = CUT_AT_ONCE,
		};
		if (!cut_record(s, cut, sample_flags, sample_time, end, &behind, ret_need))
			break;
		rec += size;
		if (cut->order == CUT_HEADER && !cut_header_follows(s, cut, rec, end))
			max = n + 1;
	}
	if (__builtin_expect(s->unordered, 0))
		cut_forget_order(ret, n);
	*ret_used = (uint64_t)(rec - p) + (behind < UINT64_MAX / 2 ? behind : UINT64_MAX / 2);
	return n;
}
