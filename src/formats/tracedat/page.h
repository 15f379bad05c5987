/* SPDX-License-Identifier: MIT */
/*
 * A page of the kernel's ring buffer:
 *
 *	u64 time | long commit | records ... | number of lost events, if the commit says so
 *
 * A record has a word of a type of 5 bits and a time difference of 27 bits. All numbers are in the
 * byte order of the recorded machine.
 */
#ifndef SONDE_FORMATS_TRACEDAT_PAGE_H
#define SONDE_FORMATS_TRACEDAT_PAGE_H

#include "base/bytes.h"

enum {
	RING_LARGEST_PAGE = 16 << 20,
	RING_SMALLEST_PAGE = 64,
	RING_DELTA_BITS = 27,
	RING_TIME_BITS = 59 /* of an absolute time stamp; the page's time has the others */
};

struct ring_layout {
	uint32_t page_bytes;
	uint16_t commit_off, data_off; /* from the text of header_page */
	uint8_t commit_bytes;          /* the size of the recorded kernel's long */
	bool swap, is_big;             /* is_big: the recorded machine is big-endian */
};

struct ring_page {
	uint64_t time; /* in units of the recording's clock */
	uint32_t end;  /* where the records end */
	/* Events were lost in front of the page's first one. */
	bool has_lost;
	uint64_t lost; /* their number; 0 if unknown */
};

/* One record that is an event. */
struct ring_record {
	uint64_t time;
	uint32_t at, len; /* place in the page, with the record's header */
	uint32_t head;    /* bytes of the header */
};

/*
 * Reads the layout from the text of header_page. The page's size is in the text, too; files may
 * have a better one. -EBADMSG with a message.
 */
int ring_layout_read(struct bytes text, struct ring_layout *ret);

/*
 * Reads the head of the page at p. A truncated page has fewer than page_bytes bytes, at
 * least data_off; its records then end where it was cut. False if a page has more records than its
 * size.
 */
bool ring_page_read(const struct ring_layout *l, const uint8_t *p, uint32_t len,
		    struct ring_page *ret);

/* The bytes of a record's header: a longer one has its length in a word of its own. */
static inline uint32_t ring_head_bytes(const uint8_t *record, bool swap, bool is_big)
{
	const uint32_t word = get_u32(record, swap);

	return (is_big ? word >> RING_DELTA_BITS : word & 31) ? 4 : 8;
}

/*
 * Finds the next event from *at on. *time is the time up to there, of the page or of the record
 * before it. Both move on. Returns 1; 0 at the end of the page; -1 if no record can be at *at.
 */
int ring_next(const struct ring_layout *l, const uint8_t *page, uint32_t end, uint32_t *at,
	      uint64_t *time, struct ring_record *ret);

#endif
