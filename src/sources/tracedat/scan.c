/* SPDX-License-Identifier: MIT */
/*
 * Finds which event types the recording has. trace-cmd describes all events of a system, and text
 * is aligned with the names of event types. Only the beginning of each cpu's pages is read.
 */

#include <stdlib.h>
#include <unistd.h>

#include "sources/tracedat/tracedat.h"

enum { SCAN_BYTES = 1 << 20, SCAN_MOST = 16 << 20 };

static void scan_page(struct tracedat_source *s, const struct ring_layout *l, const uint8_t *page)
{
	struct ring_record rec;
	struct ring_page head;
	uint32_t at = l->data_off;
	uint64_t time = 0;

	if (!ring_page_read(l, page, l->page_bytes, &head))
		return;
	while (ring_next(l, page, head.end, &at, &time, &rec) > 0) {
		struct sonde_schema *sc;

		if (rec.len < rec.head + s->type_off + 2)
			continue;
		sc = s->types[get_u16(page + rec.at + rec.head + s->type_off, s->is_swapped)]
			     .schema;
		if (sc)
			sc->is_unseen = false;
	}
}

/* Returns the number of bytes read; 0 if there are none. */
static size_t scan_range(struct tracedat_source *s, const struct tracedat_range *range,
			 uint8_t *room)
{
	const struct ring_layout *l = &range->instance->layout;
	const uint64_t want = range->end - range->begin;
	const ssize_t got = pread(range->fd, room, want < SCAN_BYTES ? (size_t)want : SCAN_BYTES,
				  (off_t)range->begin);

	for (ssize_t at = 0; got - at >= (ssize_t)l->page_bytes; at += l->page_bytes)
		scan_page(s, l, room + at);
	return got > 0 ? (size_t)got : 0;
}

int tracedat_scan(struct tracedat_source *s)
{
	uint8_t *room = malloc(SCAN_BYTES);
	size_t bytes = 0;

	if (!room)
		return err_nomem();
	vec_foreach(range, &s->ranges) {
		if (range->instance && bytes < SCAN_MOST)
			bytes += scan_range(s, range, room);
	}
	free(room);
	return 0;
}
