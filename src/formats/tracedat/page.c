/* SPDX-License-Identifier: MIT */
#include "formats/tracedat/page.h"

#include <stdlib.h>

/* Types of records. 1 to 28: the length of the data in words. */
enum { RECORD_LONG = 0, RECORD_PADDING = 29, RECORD_TIME_EXTEND = 30, RECORD_TIME_STAMP = 31 };

/* Flags of the commit, which has the size of the records in its low bits. */
enum { COMMIT_SIZE_BITS = 27 };
#define COMMIT_HAS_LOST  (UINT32_C(1) << 31)
#define COMMIT_HAS_COUNT (UINT32_C(1) << 30)

/* ---- the text of header_page ----------------------------------------------------------------- */

/* Finds the number after `key` in the line of the field. */
static bool page_find_number(const char *line, const char *end, const char *key, uint32_t *ret)
{
	const char *at = memmem(line, (size_t)(end - line), key, strlen(key));
	uint32_t v = 0;

	if (!at)
		return false;
	at += strlen(key);
	if (at == end || *at < '0' || *at > '9')
		return false;
	for (; at < end && *at >= '0' && *at <= '9' && v <= RING_LARGEST_PAGE; at++)
		v = v * 10 + (uint32_t)(*at - '0');
	*ret = v;
	return v <= RING_LARGEST_PAGE;
}

static int page_find_field(const struct bytes *text, const char *name, uint32_t *ret_off,
			   uint32_t *ret_size)
{
	const char *at = (const char *)text->pos, *const end = (const char *)text->end, *nl;
	const size_t len = strlen(name);

	for (; at < end; at = nl == end ? end : nl + 1) {
		const char *found;

		nl = memchr(at, '\n', (size_t)(end - at));
		nl = nl ? nl : end;
		found = memmem(at, (size_t)(nl - at), name, len);
		if (!found || found == at || found[-1] != ' ')
			continue;
		if (!page_find_number(at, nl, "offset:", ret_off) ||
		    !page_find_number(at, nl, "size:", ret_size))
			break;
		return 0;
	}
	return bytes_fail(text, -EBADMSG, "the description of pages has no field '%.*s'",
			  (int)len - 1, name);
}

int ring_layout_read(struct bytes text, struct ring_layout *ret)
{
	uint32_t time_off, time_bytes, commit_off, commit_bytes, data_off, data_bytes;

	TRY(page_find_field(&text, "timestamp;", &time_off, &time_bytes));
	TRY(page_find_field(&text, "commit;", &commit_off, &commit_bytes));
	TRY(page_find_field(&text, "data;", &data_off, &data_bytes));
	if (time_off || time_bytes != 8 || (commit_bytes != 4 && commit_bytes != 8) ||
	    commit_off < 8 || commit_off > 64 || data_off < commit_off + commit_bytes ||
	    data_off > 128 || data_bytes < RING_SMALLEST_PAGE)
		return bytes_fail(&text, -EBADMSG,
				  "pages cannot be read: a time of %u bytes at %u, a commit of "
				  "%u bytes at %u, %u bytes of data at %u",
				  time_bytes, time_off, commit_bytes, commit_off, data_bytes,
				  data_off);
	ret->page_bytes = data_off + data_bytes;
	ret->commit_off = (uint16_t)commit_off;
	ret->commit_bytes = (uint8_t)commit_bytes;
	ret->data_off = (uint16_t)data_off;
	return 0;
}

/* ---- pages ----------------------------------------------------------------------------------- */

bool ring_page_read(const struct ring_layout *l, const uint8_t *p, uint32_t len,
		    struct ring_page *ret)
{
	const uint64_t commit = l->commit_bytes == 8 ? get_u64(p + l->commit_off, l->swap)
						     : get_u32(p + l->commit_off, l->swap);
	const uint32_t bytes = commit & ((1u << COMMIT_SIZE_BITS) - 1);

	if (bytes > l->page_bytes - l->data_off)
		return false;
	*ret = (struct ring_page){
		.time = get_u64(p, l->swap),
		.end = l->data_off + bytes,
		.has_lost = commit & COMMIT_HAS_LOST,
	};
	if (ret->has_lost && commit & COMMIT_HAS_COUNT && len >= ret->end + l->commit_bytes)
		ret->lost = l->commit_bytes == 8 ? get_u64(p + ret->end, l->swap)
						 : get_u32(p + ret->end, l->swap);
	if (ret->end > len)
		ret->end = len;
	return true;
}

int ring_next(const struct ring_layout *l, const uint8_t *page, uint32_t end, uint32_t *at,
	      uint64_t *time, struct ring_record *ret)
{
	const uint64_t low_time = (UINT64_C(1) << RING_TIME_BITS) - 1;

	while (end - *at >= 4) {
		const uint8_t *p = page + *at;
		const uint32_t word = get_u32(p, l->swap);
		const uint32_t type = l->is_big ? word >> RING_DELTA_BITS : word & 31;
		const uint32_t delta = l->is_big ? word & ((1u << RING_DELTA_BITS) - 1) : word >> 5;
		const uint32_t left = end - *at;
		uint32_t len = 4 + type * 4, more = 0;

		if (type == RECORD_LONG || type >= RECORD_PADDING) {
			if (type == RECORD_PADDING && !delta)
				return 0;
			if (left < 8)
				return -1;
			more = get_u32(p + 4, l->swap);
			if (type == RECORD_LONG || type == RECORD_PADDING) {
				if (more < 4 || more > left - 4)
					return -1;
				len = 4 + more;
			} else {
				len = 8;
			}
		}
		if (len > left)
			return -1;
		switch (type) {
		case RECORD_TIME_EXTEND:
			*time += ((uint64_t)more << RING_DELTA_BITS) + delta;
			break;
		case RECORD_TIME_STAMP:
			*time = (*time & ~low_time) |
				((((uint64_t)more << RING_DELTA_BITS) + delta) & low_time);
			break;
		default:
			*time += delta;
			break;
		}
		ret->at = *at;
		*at += len;
		if (type < RECORD_PADDING) {
			ret->time = *time;
			ret->len = len;
			ret->head = type ? 4 : 8;
			return 1;
		}
	}
	return 0;
}
