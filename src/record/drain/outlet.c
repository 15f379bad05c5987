/* SPDX-License-Identifier: MIT */
#include "record/drain/outlet.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/perfdata/layout.h"

enum {
	/* compressed bytes are written when there are this many, or at the end of a pass */
	WRITE_BYTES = 256 << 10,
	MARKS_MAX = 64 << 10,
	COUNTS_MAX = 1 << 20,
};

static void outlet_marks_done(struct outlet_marks *m)
{
	vec_done(&m->list);
	vec_done(&m->counts);
}

struct outlet_block *outlet_block_new(void)
{
	struct outlet_block *b = calloc(1, sizeof(*b));

	if (b && !(b->bytes = malloc(OUTLET_BLOCK_BYTES))) {
		free(b);
		return NULL;
	}
	return b;
}

void outlet_block_free(struct outlet_block *b)
{
	if (!b)
		return;
	outlet_marks_done(&b->marks);
	free(b->bytes);
	free(b);
}

static int outlet_set_up(struct outlet *o, const struct outlet_options *opts)
{
	if (opts->level)
		TRY(zip_new(&o->zip, opts->level, opts->padded));
	if ((opts->level || opts->ahead_bytes) && !(o->block = outlet_block_new()))
		return err_nomem();
	return opts->ahead_bytes ? outlet_thread_start(o, opts->ahead_bytes) : 0;
}

/*
 * Adds the samples of a record that the writer dropped to given_up. Compressed data is not covered
 * here: its marks count the samples.
 */
static void outlet_note_dropped(void *ctx, const void *record, size_t len)
{
	struct outlet *o = ctx;

	tally_add_record(&o->given_up, record, len);
}

int outlet_new(struct outlet **ret, struct perfdata_writer *writer,
	       const struct outlet_options *opts)
{
	struct outlet *o = calloc(1, sizeof(*o));
	int r;

	if (!o)
		return err_nomem();
	o->writer = writer;
	o->ahead_bytes = opts->ahead_bytes;
	perfdata_writer_on_drop(writer, outlet_note_dropped, o);
	r = outlet_set_up(o, opts);
	if (r < 0) {
		outlet_free(o);
		return r;
	}
	*ret = o;
	return 0;
}

size_t outlet_wants(const struct outlet *o)
{
	return o->zip ? ZIP_CHUNK_BYTES : OUTLET_BATCH_BYTES;
}

static int outlet_write_plain(struct outlet *o, const struct iovec *pieces, int nr_pieces)
{
	const uint64_t before = perfdata_writer_data_size(o->writer);
	const int r = perfdata_writer_append(o->writer, pieces, nr_pieces);
	const uint64_t written = perfdata_writer_data_size(o->writer) - before;

	atomic_fetch_add_explicit(&o->written, written, memory_order_relaxed);
	if (r < 0)
		tally_add_pieces(&o->given_up, pieces, nr_pieces, written);
	return r;
}

/*
 * Moves the marks of `from` to the end of `to`. base: where the block of `from` begins in the data
 * of `to`.
 */
static int outlet_marks_join(struct outlet_marks *to, struct outlet_marks *from, uint64_t base)
{
	const size_t nr_counts = to->counts.n;

	TRY(vec_reserve(&to->list, from->list.n));
	TRY(vec_reserve(&to->counts, from->counts.n));
	vec_foreach(m, &from->list)
		to->list.v[to->list.n++] =
			(struct outlet_mark){ base + m->end, nr_counts + m->counts_end };
	vec_foreach(c, &from->counts)
		to->counts.v[to->counts.n++] = *c;
	vec_clear(&from->list);
	vec_clear(&from->counts);
	return 0;
}

/* Adds the samples of batches that end after the first data_size bytes. */
static void outlet_marks_behind(const struct outlet_marks *m, uint64_t data_size, struct tally *to)
{
	size_t n = m->list.n;

	while (n && m->list.v[n - 1].end > data_size)
		n--;
	for (size_t i = n ? m->list.v[n - 1].counts_end : 0; i < m->counts.n; i++) {
		to->samples += m->counts.v[i].n;
		tally_add(to, m->counts.v[i].id, m->counts.v[i].n);
	}
}

/* Keeps the ends of batches in the file, in case the end of the file must be given up. */
static int outlet_keep_marks(struct outlet *o, struct outlet_block *b, uint64_t before)
{
	struct outlet_marks *m = &o->marks;

	if (m->list.n + b->marks.list.n > MARKS_MAX || m->counts.n > COUNTS_MAX) {
		const size_t half = m->list.n / 2, gone = half ? m->list.v[half - 1].counts_end : 0;

		memmove(m->list.v, m->list.v + half, (m->list.n - half) * sizeof(*m->list.v));
		m->list.n -= half;
		memmove(m->counts.v, m->counts.v + gone,
			(m->counts.n - gone) * sizeof(*m->counts.v));
		m->counts.n -= gone;
		vec_foreach(mark, &m->list)
			mark->counts_end -= gone;
	}
	return outlet_marks_join(m, &b->marks, before);
}

static void outlet_empty(struct outlet_block *b)
{
	b->len = 0;
	vec_clear(&b->marks.list);
	vec_clear(&b->marks.counts);
}

bool outlet_block_join(struct outlet_block *to, struct outlet_block *b)
{
	if (to->len + b->len > OUTLET_BLOCK_BYTES ||
	    outlet_marks_join(&to->marks, &b->marks, to->len) < 0)
		return false;
	memcpy(to->bytes + to->len, b->bytes, b->len);
	to->len += b->len;
	outlet_empty(b);
	return true;
}

void outlet_block_drop(struct outlet *o, struct outlet_block *b)
{
	o->has_gap = true;
	if (o->zip)
		outlet_marks_behind(&b->marks, 0, &o->given_up);
	else
		tally_add_pieces(&o->given_up, &(struct iovec){ b->bytes, b->len }, 1, 0);
	outlet_empty(b);
}

int outlet_block_write(struct outlet *o, struct outlet_block *b)
{
	const struct iovec piece = { b->bytes, b->len };
	const uint64_t before = perfdata_writer_data_size(o->writer);
	int r = 0;

	if (!o->zip)
		r = outlet_write_plain(o, &piece, 1);
	else {
		r = outlet_keep_marks(o, b, before);
		if (r < 0)
			outlet_marks_behind(&b->marks, 0, &o->given_up);
		else
			r = perfdata_writer_append(o->writer, &piece, 1);
		atomic_fetch_add_explicit(&o->written,
					  perfdata_writer_data_size(o->writer) - before,
					  memory_order_relaxed);
	}
	o->has_gap |= r < 0;
	outlet_empty(b);
	return r;
}

/* Makes room for this many bytes in the current block. */
static int outlet_make_room(struct outlet *o, size_t bytes)
{
	const size_t full = o->zip && !o->thread ? WRITE_BYTES : OUTLET_BLOCK_BYTES;

	if (!o->block->len || o->block->len + bytes <= full)
		return 0;
	return o->thread ? outlet_thread_submit(o) : outlet_block_write(o, o->block);
}

/* Counts the records of a batch, by counter. */
static int outlet_mark_counts(struct outlet *o, const struct outlet_batch *b,
			      struct outlet_marks *m)
{
	int r;

	tally_add_pieces(&o->batch, b->pieces, b->nr_pieces, 0);
	r = vec_reserve(&m->counts, o->batch.list.n);
	vec_foreach(c, &o->batch.list) {
		if (r == 0 && c->n)
			m->counts.v[m->counts.n++] = *c;
		c->n = 0;
	}
	return r;
}

int outlet_put(struct outlet *o, const struct outlet_batch *b)
{
	struct outlet_block *block;
	size_t len;
	int r;

	if (!o->block)
		return outlet_write_plain(o, b->pieces, b->nr_pieces);
	r = outlet_make_room(o, o->zip ? ZIP_ROOM_BYTES : b->bytes);
	block = o->block;
	if (r == 0 && !o->zip) {
		for (int i = 0; i < b->nr_pieces; i++) {
			memcpy(block->bytes + block->len, b->pieces[i].iov_base,
			       b->pieces[i].iov_len);
			block->len += b->pieces[i].iov_len;
		}
		return 0;
	}
	if (r == 0)
		r = vec_reserve(&block->marks.list, 1);
	if (r == 0)
		r = outlet_mark_counts(o, b, &block->marks);
	if (r == 0)
		r = zip_chunk(o->zip, b->pieces, b->nr_pieces, block->bytes + block->len, &len);
	if (r < 0) {
		o->has_gap = true;
		tally_add_pieces(&o->refused, b->pieces, b->nr_pieces, 0);
		return r;
	}
	block->len += len;
	block->marks.list.v[block->marks.list.n++] =
		(struct outlet_mark){ block->len, block->marks.counts.n };
	o->plain_bytes += b->bytes;
	o->packed_bytes += len;
	return 0;
}

int outlet_flush(struct outlet *o, const struct outlet_batch *last, const void *plain, size_t len)
{
	if (!o->block) {
		struct iovec pieces[OUTLET_BATCH_PIECES + 1];
		int n = 0;

		for (; n < last->nr_pieces; n++)
			pieces[n] = last->pieces[n];
		if (len)
			pieces[n++] = (struct iovec){ (void *)plain, len };
		return n ? outlet_write_plain(o, pieces, n) : 0;
	}
	if (last->bytes)
		TRY(outlet_put(o, last));
	if (len) {
		TRY(outlet_make_room(o, len));
		memcpy(o->block->bytes + o->block->len, plain, len);
		o->block->len += len;
	}
	if (!o->block->len)
		return 0;
	return o->thread ? outlet_thread_submit(o) : outlet_block_write(o, o->block);
}

/* Ends the compressed data with its checksum, after the thread has written all pending data. */
static int outlet_end_frame(struct outlet *o)
{
	struct outlet_block *block = o->block;
	size_t len, plain_len;

	TRY(vec_reserve(&block->marks.list, 1));
	TRY(zip_end(o->zip, block->bytes, &len, &plain_len));
	if (!len)
		return 0;
	block->len = len;
	block->marks.list.v[block->marks.list.n++] =
		(struct outlet_mark){ len, block->marks.counts.n };
	o->plain_bytes += plain_len;
	o->packed_bytes += len;
	return outlet_block_write(o, block);
}

int outlet_finish(struct outlet *o)
{
	const int r = o->block ? outlet_flush(o, &(struct outlet_batch){ 0 }, NULL, 0) : 0;
	const int end = o->thread ? outlet_thread_end(o) : 0;

	if (r < 0 || end < 0)
		return r < 0 ? r : end;
	return o->zip && !o->has_gap ? outlet_end_frame(o) : 0;
}

int outlet_resume(struct outlet *o)
{
	return o->ahead_bytes && !o->thread ? outlet_thread_start(o, o->ahead_bytes) : 0;
}

void outlet_given_up(const struct outlet *o, struct tally *to)
{
	tally_add_all(to, &o->refused);
	tally_add_all(to, &o->given_up);
	outlet_marks_behind(&o->marks, perfdata_writer_data_size(o->writer), to);
}

uint64_t outlet_samples_given_up(const struct outlet *o)
{
	struct tally t = { 0 };
	uint64_t samples;

	outlet_given_up(o, &t);
	samples = t.samples;
	tally_done(&t);
	return samples;
}

void outlet_free(struct outlet *o)
{
	if (!o)
		return;
	if (o->thread)
		outlet_thread_end(o);
	perfdata_writer_on_drop(o->writer, NULL, NULL);
	outlet_block_free(o->block);
	zip_free(o->zip);
	outlet_marks_done(&o->marks);
	tally_done(&o->refused);
	tally_done(&o->given_up);
	tally_done(&o->batch);
	free(o);
}
