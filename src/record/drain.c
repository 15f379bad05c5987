/* SPDX-License-Identifier: MIT */
#include "record/drain.h"

#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "formats/perfdata/layout.h"

enum {
	BATCH_BYTES = 1 << 20, /* one write; the kernel gets the room back behind each */
	BATCH_PIECES = 64,
	SAMPLE_TIME_AT = 32, /* header 8, IDENTIFIER 8, IP 8, TID 8: all our attrs have these */
	LOST_COUNT_AT = 16,
};

/* Records and rings are multiples of 8: a word never runs over the end of a ring. */
static uint64_t word(const struct ring *r, uint64_t pos)
{
	return load_u64(r->data + (pos & r->mask));
}

/* Reads the headers of [from, to); returns where the last whole record ends: `to`, unless the ring is damaged. */
static uint64_t account(struct drain *d, const struct ring *r, uint64_t from, uint64_t to)
{
	uint64_t pos = from;

	while (pos < to) {
		const uint64_t header = word(r, pos);
		struct perfdata_record_header h;
		uint64_t time_ns;

		memcpy(&h, &header, sizeof(h));
		if (h.size < sizeof(h) || h.size > to - pos)
			break;
		switch (h.type) {
		case PERF_RECORD_SAMPLE:
			d->pending++;
			time_ns = word(r, pos + SAMPLE_TIME_AT);
			if (time_ns > d->totals.last_time_ns)
				d->totals.last_time_ns = time_ns;
			if (time_ns < d->totals.first_time_ns || !d->totals.first_time_ns)
				d->totals.first_time_ns = time_ns;
			if (d->dsos)
				dso_hits_sample(d->dsos, &d->hits, r, pos, &h);
			break;
		case PERF_RECORD_LOST:
			d->totals.lost += word(r, pos + LOST_COUNT_AT);
			break;
		case PERF_RECORD_MMAP2:
		case PERF_RECORD_FORK:
		case PERF_RECORD_EXIT:
		case PERF_RECORD_COMM:
			if (d->dsos)
				dsos_record(d->dsos, r, pos, &h);
			break;
		}
		pos += h.size;
	}
	return pos;
}

struct batch {
	struct iovec pieces[BATCH_PIECES];
	int nr_pieces;
	size_t bytes;
	size_t first_ring, end_ring; /* whose room is given back with this batch */
};

/* Samples in the first `bytes` of the pieces; whole records, which may run from one piece into the next. */
static uint64_t count_pieces(const struct batch *b, uint64_t bytes)
{
	uint64_t pos = 0, start = 0, samples = 0;

	for (int i = 0; i < b->nr_pieces; i++) {
		const struct iovec *p = &b->pieces[i];

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

static int flush(struct drain *d, struct batch *b)
{
	const uint64_t before = perfdata_writer_data_size(d->writer);
	int r = 0;

	if (b->nr_pieces)
		r = perfdata_writer_append(d->writer, b->pieces, b->nr_pieces);
	if (r < 0)
		d->partly = count_pieces(b, perfdata_writer_data_size(d->writer) - before);
	d->totals.samples += r < 0 ? d->partly : d->pending;
	d->pending = 0;
	if (r == 0)
		for (size_t i = b->first_ring; i < b->end_ring; i++)
			if (d->heads.v[i] != d->counters->rings.v[i].tail)
				ring_release(&d->counters->rings.v[i], d->heads.v[i]);
	*b = (struct batch){ .first_ring = b->end_ring, .end_ring = b->end_ring };
	return r;
}

/* The bytes of [tail, head), in two pieces when they run over the end of the ring. */
static void add_ring(struct batch *b, const struct ring *r, uint64_t head)
{
	const uint64_t at = r->tail & r->mask;
	const size_t len = (size_t)(head - r->tail);
	const size_t straight = len < r->mask + 1 - at ? len : (size_t)(r->mask + 1 - at);

	b->pieces[b->nr_pieces++] = (struct iovec){ (void *)(r->data + at), straight };
	if (len > straight)
		b->pieces[b->nr_pieces++] = (struct iovec){ (void *)r->data, len - straight };
	b->bytes += len;
}

int drain_pass(struct drain *d)
{
	static const struct perfdata_record_header round = { .type = RECORD_FINISHED_ROUND,
							     .size = sizeof(round) };
	struct batch b = { 0 };
	bool any = false;

	if (d->heads.n != d->counters->rings.n) {
		vec_clear(&d->heads);
		TRY(vec_reserve(&d->heads, d->counters->rings.n));
		d->heads.n = d->counters->rings.n;
	}
	/* All heads first: what comes meanwhile belongs to the next round. */
	for (size_t i = 0; i < d->heads.n; i++)
		d->heads.v[i] = ring_head(&d->counters->rings.v[i]);
	for (size_t i = 0; i < d->heads.n; i++) {
		const struct ring *r = &d->counters->rings.v[i];

		b.end_ring = i + 1;
		if (d->heads.v[i] == r->tail)
			continue;
		any = true;
		if (account(d, r, r->tail, d->heads.v[i]) != d->heads.v[i])
			return err_set(-EIO, "the kernel's buffer of a cpu holds no valid records");
		add_ring(&b, r, d->heads.v[i]);
		if (b.bytes >= BATCH_BYTES || b.nr_pieces > BATCH_PIECES - 4)
			TRY(flush(d, &b));
	}
	/* Readers take an event for settled at the end of the second round behind it. */
	if (!any && !d->owes_round)
		return 0;
	d->owes_round = any && d->is_live;
	b.pieces[b.nr_pieces++] = (struct iovec){ (void *)&round, sizeof(round) };
	TRY(flush(d, &b));
	if (d->dsos)
		dsos_relieve(d->dsos, &d->hits);
	return any;
}

uint64_t drain_count_left(const struct drain *d)
{
	uint64_t samples = 0;

	vec_foreach(r, &d->counters->rings) {
		const uint64_t head = ring_head(r);
		uint64_t pos = r->tail;

		while (pos < head) {
			const uint64_t header = word(r, pos);
			struct perfdata_record_header h;

			memcpy(&h, &header, sizeof(h));
			if (h.size < sizeof(h))
				break;
			samples += h.type == PERF_RECORD_SAMPLE;
			pos += h.size;
		}
	}
	return samples > d->partly ? samples - d->partly : 0;
}

void drain_done(struct drain *d)
{
	vec_done(&d->heads);
	dso_hits_done(&d->hits);
}
