/* SPDX-License-Identifier: MIT */
#include "formats/tracedat/page_writer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/err.h"
#include "base/write_all.h"
#include "formats/tracedat/page.h"

enum { TYPE_TIME_EXTEND = 30, MOST_SHORT_BYTES = 28 * 4, EXTEND_BYTES = 8, LONG_HEAD_BYTES = 8 };

#define COMMIT_HAS_LOST  (UINT64_C(1) << 31)
#define COMMIT_HAS_COUNT (UINT64_C(1) << 30)
#define MOST_DELTA       ((UINT64_C(1) << RING_DELTA_BITS) - 1)

static uint32_t writer_data_off(const struct ring_writer *w)
{
	return 8 + w->commit_bytes;
}

int ring_writer_init(struct ring_writer *w, int fd, uint32_t page_bytes, uint8_t commit_bytes)
{
	*w = (struct ring_writer){ .fd = fd,
				   .page_bytes = page_bytes,
				   .commit_bytes = commit_bytes };
	w->page = calloc(1, page_bytes);
	return w->page ? 0 : err_nomem();
}

/* The room for records: behind them is the number of lost events. */
static uint32_t writer_end_of(const struct ring_writer *w)
{
	return w->page_bytes - w->commit_bytes;
}

uint32_t ring_writer_most(const struct ring_writer *w)
{
	return (writer_end_of(w) - writer_data_off(w) - LONG_HEAD_BYTES) & ~3u;
}

/* Type and time difference; their places in the word depend on the byte order. */
static void writer_put_word(struct ring_writer *w, uint32_t type, uint64_t delta)
{
	const bool is_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	const uint32_t word =
		is_big ? type << RING_DELTA_BITS | (uint32_t)delta : (uint32_t)delta << 5 | type;

	memcpy(w->page + w->at, &word, sizeof(word));
	w->at += sizeof(word);
}

static void writer_put_u32(struct ring_writer *w, uint32_t v)
{
	memcpy(w->page + w->at, &v, sizeof(v));
	w->at += sizeof(v);
}

static void writer_put_long(const struct ring_writer *w, uint32_t at, uint64_t v)
{
	const uint32_t low = v > UINT32_MAX ? UINT32_MAX : (uint32_t)v;

	if (w->commit_bytes == 8)
		memcpy(w->page + at, &v, sizeof(v));
	else
		memcpy(w->page + at, &low, sizeof(low));
}

static int writer_flush(struct ring_writer *w)
{
	uint64_t commit = w->at - writer_data_off(w);
	int r;

	if (w->has_lost)
		commit |= COMMIT_HAS_LOST | (w->lost ? COMMIT_HAS_COUNT : 0);
	writer_put_long(w, 8, commit);
	if (w->has_lost && w->lost)
		writer_put_long(w, w->at, w->lost);
	r = write_all(w->fd, w->page, w->page_bytes);
	if (r < 0)
		return err_errno(-r, "cannot write a temporary file");
	w->bytes += w->page_bytes;
	w->at = 0;
	w->has_lost = false;
	w->lost = 0;
	return 0;
}

static void writer_begin(struct ring_writer *w, uint64_t time)
{
	memset(w->page, 0, w->page_bytes);
	memcpy(w->page, &time, sizeof(time));
	w->at = writer_data_off(w);
	w->time = time;
}

int ring_writer_put(struct ring_writer *w, uint64_t time, const void *record, uint32_t len)
{
	const uint32_t padded = (len + 3) & ~3u;
	const bool is_long = padded > MOST_SHORT_BYTES || !padded;
	const uint32_t bytes = padded + (is_long ? LONG_HEAD_BYTES : 4);

	if (w->at && (time < w->time || bytes + (time - w->time > MOST_DELTA ? EXTEND_BYTES : 0) >
						writer_end_of(w) - w->at))
		TRY(writer_flush(w));
	if (!w->at)
		writer_begin(w, time);
	if (time - w->time > MOST_DELTA) {
		const uint64_t delta = time - w->time;

		/* more than 59 bits are years: such a time is on a page of its own */
		if (delta >> RING_TIME_BITS) {
			TRY(writer_flush(w));
			writer_begin(w, time);
		} else {
			writer_put_word(w, TYPE_TIME_EXTEND, delta & MOST_DELTA);
			writer_put_u32(w, (uint32_t)(delta >> RING_DELTA_BITS));
			w->time = time;
		}
	}
	writer_put_word(w, is_long ? 0 : padded / 4, time - w->time);
	if (is_long)
		writer_put_u32(w, padded + 4);
	memcpy(w->page + w->at, record, len);
	w->at += padded;
	w->time = time;
	return 0;
}

int ring_writer_lost(struct ring_writer *w, uint64_t time, uint64_t lost)
{
	const bool is_first = !w->at || w->at == writer_data_off(w);

	if (w->at && !is_first)
		TRY(writer_flush(w));
	if (!w->at)
		writer_begin(w, time);
	/* an unknown number makes the sum unknown */
	w->lost = (w->has_lost && !w->lost) || !lost ? 0 : w->lost + lost;
	w->has_lost = true;
	return 0;
}

int ring_writer_end(struct ring_writer *w)
{
	return w->at ? writer_flush(w) : 0;
}

void ring_writer_done(struct ring_writer *w)
{
	free(w->page);
	w->page = NULL;
}

void ring_put_header_page(struct outbuf *o, uint32_t page_bytes, uint8_t commit_bytes)
{
	const unsigned data = 8 + commit_bytes;

	outbuf_fmt(o,
		   "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		   "\tfield: local_t commit;\toffset:8;\tsize:%u;\tsigned:1;\n"
		   "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
		   "\tfield: char data;\toffset:%u;\tsize:%u;\tsigned:1;\n",
		   commit_bytes, data, page_bytes - data);
}

void ring_put_header_event(struct outbuf *o)
{
	outbuf_str(o, "# compressed entry header\n"
		      "\ttype_len    :    5 bits\n"
		      "\ttime_delta  :   27 bits\n"
		      "\tarray       :   32 bits\n"
		      "\n"
		      "\tpadding     : type == 29\n"
		      "\ttime_extend : type == 30\n"
		      "\ttime_stamp : type == 31\n"
		      "\tdata max type_len  == 28\n");
}
