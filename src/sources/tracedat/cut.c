/* SPDX-License-Identifier: MIT */
/*
 * Finds the records of pages, and their times. A page is a unit. The page of a record that lost
 * events precede is itself a record in front of it, at the time of the first event.
 */

#include "sources/tracedat/tracedat.h"

/* Pages have one size, so the next one is read. */
static void cut_report_damage(const struct tracedat_source *s, uint64_t off, const char *what)
{
	defects_add(s->opts.read_defects, DEFECT_BAD_RECORD, 1, "%s at 0x%llx of %.120s", what,
		    (unsigned long long)off, s->opts.path);
}

/* ---- saved command lines --------------------------------------------------------------------- */

enum { LONGEST_LINE = 4096 };

/* Each line is a record. Names hold for the complete recording, so they have no time. */
static int cut_lines(const struct tracedat_source *s, unsigned file, const uint8_t *p, size_t len,
		     uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		     size_t *ret_need)
{
	const struct tracedat_range *range = &s->ranges.v[file];
	size_t at = 0;
	int n = 0;

	if (len > range->end - file_off)
		len = (size_t)(range->end - file_off);
	while (n < max && at < len) {
		const uint8_t *nl = memchr(p + at, '\n', len - at);
		const size_t line = nl ? (size_t)(nl - (p + at)) + 1 : len - at;

		/* The last line may lack its end. */
		if (!nl && file_off + len < range->end && line <= LONGEST_LINE) {
			*ret_need = line + 1;
			break;
		}
		if (line <= LONGEST_LINE)
			ret[n++] = (struct cut){
				.file_off = file_off + at,
				.bytes = p + at,
				.len = (uint32_t)line,
				.file = (uint16_t)file,
				.order = CUT_AT_ONCE,
			};
		at += line;
	}
	*ret_used = at;
	return n;
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* The event's own time counts, so that a record of lost events is not in front of earlier ones. */
static uint64_t cut_time_of_first(const struct ring_layout *l, const uint8_t *page,
				  const struct ring_page *head)
{
	struct ring_record first = { .time = head->time };
	uint64_t time = head->time;
	uint32_t at = l->data_off;

	ring_next(l, page, head->end, &at, &time, &first);
	return first.time;
}

static void cut_put(const struct tracedat_source *s, unsigned file, struct cut *ret,
		    const uint8_t *bytes, uint32_t len, uint64_t off, uint64_t raw_time,
		    uint8_t flags)
{
	const struct tracedat_range *range = &s->ranges.v[file];

	*ret = (struct cut){
		.time_ns = tracedat_time(range, raw_time),
		.file_off = off,
		.bytes = bytes,
		.len = len,
		.file = (uint16_t)file,
		.order = s->opts.unordered ? CUT_AT_ONCE : CUT_ORDERED,
		.flags = flags,
	};
}

/* Names of tasks come from some events, so those are read even if nobody wants them. */
static uint8_t cut_flags_of(const struct tracedat_source *s, const uint8_t *data, uint32_t len)
{
	if (len < s->type_off + 2 || s->types[get_u16(data + s->type_off, s->is_swapped)].naming)
		return CUT_SAMPLE;
	return CUT_SAMPLE | CUT_STATELESS;
}

/* Cuts records of a page from p on, which is at file_off. Returns their number. */
static int cut_page(const struct tracedat_source *s, unsigned file, struct unit *unit,
		    const uint8_t *p, uint64_t file_off, struct cut *ret, int max,
		    uint64_t *ret_end)
{
	const struct ring_layout *l = &s->ranges.v[file].instance->layout;
	const uint32_t end = (uint32_t)(unit->off + unit->len - file_off);
	uint32_t at = 0;
	int n = 0;

	while (n < max) {
		struct ring_record rec;
		const int r = ring_next(l, p, end, &at, &unit->time_base, &rec);

		if (r > 0) {
			cut_put(s, file, &ret[n++], p + rec.at, rec.len, file_off + rec.at,
				rec.time,
				cut_flags_of(s, p + rec.at + rec.head, rec.len - rec.head));
			continue;
		}
		if (r < 0 && unit->off + unit->len < s->ranges.v[file].end)
			cut_report_damage(s, file_off + at,
					  "a record of no valid size, and the rest of its page,");
		*ret_end = unit->off + l->page_bytes;
		return n;
	}
	*ret_end = at < end ? file_off + at : unit->off + l->page_bytes;
	return n;
}

/*
 * Begins the page at p, which has len bytes. Returns the number of cuts, 1 if events were lost in
 * front of it.
 */
static int cut_begin_page(const struct tracedat_source *s, unsigned file, const uint8_t *p,
			  uint32_t len, uint64_t file_off, struct unit *unit, struct cut *ret)
{
	const struct tracedat_range *range = &s->ranges.v[file];
	const struct ring_layout *l = &range->instance->layout;
	struct ring_page head;

	if (!ring_page_read(l, p, len, &head)) {
		cut_report_damage(s, file_off, "a page with more data than its size");
		head = (struct ring_page){ .end = l->data_off };
	}
	if (len < l->page_bytes)
		defects_add(s->opts.read_defects, DEFECT_TRUNCATED, 1, "page at 0x%llx of %.120s",
			    (unsigned long long)file_off, s->opts.path);
	*unit = (struct unit){
		.off = file_off,
		.len = head.end,
		.time_base = head.time,
		.cpu = range->cpu,
		.ctx = range->instance,
	};
	if (!head.has_lost)
		return 0;
	cut_put(s, file, ret, p, len, file_off, cut_time_of_first(l, p, &head), 0);
	return 1;
}

int tracedat_cut(const struct source *source, unsigned file, struct unit *unit, const uint8_t *p,
		 size_t len, uint64_t file_off, struct cut *ret, int max, uint64_t *ret_used,
		 size_t *ret_need)
{
	const struct tracedat_source *s = tracedat_const_of(source);
	const struct tracedat_range *range = &s->ranges.v[file];
	uint64_t at = file_off;
	int n = 0;

	*ret_need = 0;
	*ret_used = 0;
	if (!range->instance)
		return cut_lines(s, file, p, len, file_off, ret, max, ret_used, ret_need);
	while (!n && at < range->end) {
		const struct ring_layout *l = &range->instance->layout;
		const bool is_inside = unit->len && at < unit->off + unit->len;
		uint64_t end = is_inside ? unit->off + unit->len : at + l->page_bytes;

		/* The last page may be cut off. */
		if (end > range->end && range->end - at >= l->data_off)
			end = range->end;
		if (end - file_off > len) {
			*ret_need = (size_t)(end - at);
			break;
		}
		if (!is_inside) {
			n = cut_begin_page(s, file, p + (at - file_off), (uint32_t)(end - at), at,
					   unit, ret);
			at += l->data_off;
		}
		n += cut_page(s, file, unit, p + (at - file_off), at, ret + n, max - n, &at);
		*ret_used = at - file_off;
	}
	return n;
}
