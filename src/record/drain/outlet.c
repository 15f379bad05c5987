/* SPDX-License-Identifier: MIT */
#include "record/drain/outlet.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "formats/perfdata/layout.h"

enum {
	WRITE_BYTES =
		256 << 10, /* compressed ones are written when they are so many, or the pass ends */
	MARKS_MAX = 64 << 10
};

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
	vec_done(&b->marks);
	free(b->bytes);
	free(b);
}

static int set_up(struct outlet *o, const struct outlet_options *opts)
{
	if (opts->level)
		TRY(zip_new(&o->zip, opts->level, opts->padded));
	if ((opts->level || opts->ahead_bytes) && !(o->block = outlet_block_new()))
		return err_nomem();
	return opts->ahead_bytes ? outlet_thread_start(o, opts->ahead_bytes) : 0;
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
	r = set_up(o, opts);
	if (r < 0) {
		outlet_free(o);
		return r;
	}
	*ret = o;
	return 0;
}

size_t outlet_wants(const struct outlet *o)
{
	return o->zip ? zip_wants(o->zip) : OUTLET_BATCH_BYTES;
}

/* Samples in the first `bytes` of the pieces; whole records, which may run from one piece into the next. */
static uint64_t count_samples(const struct iovec *pieces, int nr_pieces, uint64_t bytes)
{
	uint64_t pos = 0, start = 0, samples = 0;

	for (int i = 0; i < nr_pieces; i++) {
		const struct iovec *p = &pieces[i];

		while (pos < bytes && pos < start + p->iov_len) {
			struct perfdata_record_header h;

			memcpy(&h, (const char *)p->iov_base + (pos - start), sizeof(h));
			if (h.size < sizeof(h))
				return samples;
			samples += h.type == PERF_RECORD_SAMPLE;
			pos += h.size;
		}
		start += p->iov_len;
	}
	return samples;
}

static int write_plain(struct outlet *o, const struct iovec *pieces, int nr_pieces,
		       uint64_t samples)
{
	const uint64_t before = perfdata_writer_data_size(o->writer);
	const int r = perfdata_writer_append(o->writer, pieces, nr_pieces);
	const uint64_t written = perfdata_writer_data_size(o->writer) - before;

	atomic_fetch_add_explicit(&o->written, written, memory_order_relaxed);
	if (r < 0)
		o->given_up += samples - count_samples(pieces, nr_pieces, written);
	return r;
}

/* Keeps in mind where batches end in the file, for the case that its end must be given up. */
static int keep_marks(struct outlet *o, const struct outlet_block *b, uint64_t before)
{
	const struct outlet_mark last =
		o->marks.n ? o->marks.v[o->marks.n - 1] : (struct outlet_mark){ 0 };

	if (o->marks.n + b->marks.n > MARKS_MAX) {
		const size_t half = o->marks.n / 2;

		memmove(o->marks.v, o->marks.v + half, (o->marks.n - half) * sizeof(*o->marks.v));
		o->marks.n -= half;
	}
	TRY(vec_reserve(&o->marks, b->marks.n));
	for (size_t i = 0; i < b->marks.n; i++)
		o->marks.v[o->marks.n++] =
			(struct outlet_mark){ .end = before + b->marks.v[i].end,
					      .samples = last.samples + b->marks.v[i].samples };
	return 0;
}

/* Samples behind the first data_size bytes. */
static uint64_t samples_behind(const struct outlet *o, uint64_t data_size)
{
	size_t n = o->marks.n;
	uint64_t all;

	if (!n)
		return 0;
	all = o->marks.v[n - 1].samples;
	while (n && o->marks.v[n - 1].end > data_size)
		n--;
	return all - (n ? o->marks.v[n - 1].samples : 0);
}

static void empty(struct outlet_block *b)
{
	b->len = 0;
	b->samples = 0;
	vec_clear(&b->marks);
}

bool outlet_block_join(struct outlet_block *to, struct outlet_block *b)
{
	if (to->len + b->len > OUTLET_BLOCK_BYTES || vec_reserve(&to->marks, b->marks.n) < 0)
		return false;
	memcpy(to->bytes + to->len, b->bytes, b->len);
	for (size_t i = 0; i < b->marks.n; i++)
		to->marks.v[to->marks.n++] =
			(struct outlet_mark){ .end = to->len + b->marks.v[i].end,
					      .samples = to->samples + b->marks.v[i].samples };
	to->len += b->len;
	to->samples += b->samples;
	empty(b);
	return true;
}

void outlet_block_drop(struct outlet *o, struct outlet_block *b)
{
	o->given_up += b->samples;
	empty(b);
}

int outlet_block_write(struct outlet *o, struct outlet_block *b)
{
	const struct iovec piece = { b->bytes, b->len };
	const uint64_t before = perfdata_writer_data_size(o->writer);
	int r = 0;

	if (!o->zip)
		r = write_plain(o, &piece, 1, b->samples);
	else {
		r = keep_marks(o, b, before);
		if (r < 0)
			o->given_up += b->samples;
		else
			r = perfdata_writer_append(o->writer, &piece, 1);
		atomic_fetch_add_explicit(&o->written,
					  perfdata_writer_data_size(o->writer) - before,
					  memory_order_relaxed);
	}
	empty(b);
	return r;
}

/* Room for so much more in the block at hand. */
static int make_room(struct outlet *o, size_t bytes)
{
	const size_t full = o->zip && !o->thread ? WRITE_BYTES : OUTLET_BLOCK_BYTES;

	if (!o->block->len || o->block->len + bytes <= full)
		return 0;
	return o->thread ? outlet_thread_submit(o) : outlet_block_write(o, o->block);
}

int outlet_put(struct outlet *o, const struct outlet_batch *b)
{
	struct outlet_block *block;
	size_t len;
	int r;

	if (!o->block)
		return write_plain(o, b->pieces, b->nr_pieces, b->samples);
	r = make_room(o, o->zip ? ZIP_ROOM_BYTES : b->bytes);
	block = o->block;
	if (r == 0 && !o->zip) {
		for (int i = 0; i < b->nr_pieces; i++) {
			memcpy(block->bytes + block->len, b->pieces[i].iov_base,
			       b->pieces[i].iov_len);
			block->len += b->pieces[i].iov_len;
		}
		block->samples += b->samples;
		return 0;
	}
	if (r == 0)
		r = vec_reserve(&block->marks, 1);
	if (r == 0)
		r = zip_unit(o->zip, b->pieces, b->nr_pieces, block->bytes + block->len, &len);
	if (r < 0) {
		o->refused += b->samples;
		return r;
	}
	block->len += len;
	block->samples += b->samples;
	block->marks.v[block->marks.n++] = (struct outlet_mark){ block->len, block->samples };
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
		return n ? write_plain(o, pieces, n, last->samples) : 0;
	}
	if (last->bytes)
		TRY(outlet_put(o, last));
	if (len) {
		TRY(make_room(o, len));
		memcpy(o->block->bytes + o->block->len, plain, len);
		o->block->len += len;
	}
	if (!o->block->len)
		return 0;
	return o->thread ? outlet_thread_submit(o) : outlet_block_write(o, o->block);
}

int outlet_finish(struct outlet *o)
{
	const int r = o->block ? outlet_flush(o, &(struct outlet_batch){ 0 }, NULL, 0) : 0;
	const int end = o->thread ? outlet_thread_end(o) : 0;

	return r < 0 ? r : end;
}

int outlet_resume(struct outlet *o)
{
	return o->ahead_bytes && !o->thread ? outlet_thread_start(o, o->ahead_bytes) : 0;
}

uint64_t outlet_samples_given_up(const struct outlet *o)
{
	return o->refused + o->given_up + samples_behind(o, perfdata_writer_data_size(o->writer));
}

void outlet_free(struct outlet *o)
{
	if (!o)
		return;
	if (o->thread)
		outlet_thread_end(o);
	outlet_block_free(o->block);
	zip_free(o->zip);
	vec_done(&o->marks);
	free(o);
}
