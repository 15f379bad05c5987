/* SPDX-License-Identifier: MIT */
/*
 * Writes pages of the kernel's ring buffer (page.h) from records, one cpu's to one file.
 *
 *	struct ring_writer w;
 *
 *	ring_writer_init(&w, fd, page_bytes, sizeof(long));
 *	ring_writer_put(&w, time, record, len);	// any number of times
 *	ring_writer_end(&w);
 *	ring_writer_done(&w);
 */
#ifndef SONDE_FORMATS_TRACEDAT_PAGE_WRITER_H
#define SONDE_FORMATS_TRACEDAT_PAGE_WRITER_H

#include "base/outbuf.h"

struct ring_writer {
	int fd; /* borrowed */
	uint32_t page_bytes;
	uint8_t commit_bytes; /* the size of the recorded kernel's long */
	uint8_t *page;        /* owned */
	uint32_t at;          /* the place of the next record; 0 if no page has begun */
	uint64_t time;        /* of the last record */
	bool has_lost;        /* events were lost in front of this page */
	uint64_t lost;        /* their number; 0 if unknown */
	uint64_t bytes;       /* of all complete pages */
};

int ring_writer_init(struct ring_writer *w, int fd, uint32_t page_bytes, uint8_t commit_bytes);
/* The longest record that a page has room for. */
uint32_t ring_writer_most(const struct ring_writer *w);
/*
 * Puts a record of at most ring_writer_most() bytes. A record that is older than the one before it
 * begins a new page.
 */
int ring_writer_put(struct ring_writer *w, uint64_t time, const void *record, uint32_t len);
/* Events were lost in front of the next record; 0: their number is unknown. */
int ring_writer_lost(struct ring_writer *w, uint64_t time, uint64_t lost);
int ring_writer_end(struct ring_writer *w);
void ring_writer_done(struct ring_writer *w);

/* The texts that describe such pages, as tracefs has them: header_page and header_event. */
void ring_put_header_page(struct outbuf *o, uint32_t page_bytes, uint8_t commit_bytes);
void ring_put_header_event(struct outbuf *o);

#endif
