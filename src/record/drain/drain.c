/* SPDX-License-Identifier: MIT */
#include "record/drain/drain.h"

#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "formats/perfdata/layout.h"

enum {
	RECORD_BYTES_MAX = 64 << 10,
	/*
	 * header 8, IDENTIFIER 8, IP 8, TID 8: all our attrs have these. Most also have TIME, which
	 * is next.
	 */
	SAMPLE_ID_AT = 8,
	SAMPLE_TIME_AT = 32,
	LOST_COUNT_AT = 16,
	/* at most: a header, and two pieces if the records wrap around the end of a ring */
	PIECES_AT_ONCE = 3,
	/*
	 * The drain does not sleep while a ring had more bytes than this. A busy machine wakes a
	 * sleeper late: the emptier the rings are before the sleep, the less is lost.
	 */
	PRESSED_BYTES = 2 << 10,
};

int drain_find_times(const struct capture_events *events, const struct counters *counters,
		     struct hash64 *ret_untimed, enum drain_times *ret)
{
	size_t untimed = 0;

	for (size_t i = 0; i < events->list.n; i++)
		untimed += !(events->list.v[i].attr.sample_type & PERF_SAMPLE_TIME);
	*ret = !untimed                    ? DRAIN_TIMES_ALL
	       : untimed == events->list.n ? DRAIN_TIMES_NONE
					   : DRAIN_TIMES_SOME;
	if (*ret != DRAIN_TIMES_SOME)
		return 0;
	for (size_t i = 0; i < counters->list.n; i++) {
		const struct counter *n = &counters->list.v[i];

		if (!(events->list.v[n->event].attr.sample_type & PERF_SAMPLE_TIME))
			TRY(hash64_put(ret_untimed, n->id, 1));
	}
	return 0;
}

/* The sizes of records and rings are multiples of 8, so a word never crosses the end of a ring. */
static uint64_t drain_word(const struct ring *r, uint64_t pos)
{
	return load_u64(r->data + (pos & r->mask));
}

static bool drain_has_time(const struct drain *d, const struct ring *r, uint64_t pos)
{
	if (d->times == DRAIN_TIMES_ALL)
		return true;
	return d->times == DRAIN_TIMES_SOME &&
	       hash64_find(d->untimed, drain_word(r, pos + SAMPLE_ID_AT)) == HASH64_EMPTY;
}

static void drain_note_time(struct drain_totals *t, uint64_t time_ns)
{
	if (time_ns > t->last_time_ns)
		t->last_time_ns = time_ns;
	if (time_ns < t->first_time_ns || !t->first_time_ns)
		t->first_time_ns = time_ns;
}

/*
 * The kernel prepares a mapping's record once for all its readers. If one reader requests build ids
 * (`--buildid-mmap` of another recorder), the readers after it get a record that is marked as
 * containing a build id but contains device and inode.
 */
static bool drain_is_marked_falsely(const struct drain *d, const struct perfdata_record_header *h)
{
	return h->type == PERF_RECORD_MMAP2 && h->misc & PERF_RECORD_MISC_MMAP_BUILD_ID &&
	       !d->has_build_ids;
}

struct drain_span {
	uint64_t end; /* end of its last record */
	bool is_bad;  /* the ring is damaged there */
	bool is_marked_falsely;
};

/*
 * Reads the headers of [from, to), up to `room` bytes. A falsely marked record is a span of its
 * own.
 */
static struct drain_span drain_account(struct drain *d, const struct ring *r, uint64_t from,
				       uint64_t to, size_t room)
{
	struct drain_span span = { 0 };
	uint64_t pos = from;

	while (pos < to) {
		const uint64_t header = drain_word(r, pos);
		struct perfdata_record_header h;

		memcpy(&h, &header, sizeof(h));
		if (h.size < sizeof(h) || h.size > to - pos) {
			span.is_bad = true;
			break;
		}
		if (pos + h.size - from > room || span.is_marked_falsely)
			break;
		if (drain_is_marked_falsely(d, &h)) {
			if (pos > from)
				break;
			span.is_marked_falsely = true;
			h.misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
		}
		switch (h.type) {
		case PERF_RECORD_SAMPLE:
			d->pending++;
			if (drain_has_time(d, r, pos))
				drain_note_time(&d->totals, drain_word(r, pos + SAMPLE_TIME_AT));
			if (d->dsos)
				dso_hits_sample(d->dsos, &d->hits, r, pos, &h);
			break;
		case PERF_RECORD_LOST:
			d->totals.lost += drain_word(r, pos + LOST_COUNT_AT);
			break;
		case PERF_RECORD_BPF_EVENT:
			if (d->bpf && (uint16_t)drain_word(r, pos + 8) == PERF_BPF_EVENT_PROG_LOAD)
				bpf_programs_add(d->bpf, (uint32_t)(drain_word(r, pos + 8) >> 32));
			break;
		case PERF_RECORD_MMAP2:
		case PERF_RECORD_FORK:
		case PERF_RECORD_EXIT:
		case PERF_RECORD_COMM:
			if (d->dsos)
				dsos_record(d->dsos, r, pos, &h);
			break;
		}
		if (d->follow && h.type != PERF_RECORD_SAMPLE)
			follow_record(d->follow, r, pos, h);
		if (d->feed.pass && h.type != PERF_RECORD_SAMPLE && d->feed_error >= 0)
			d->feed_error = d->feed.record(d->feed.ctx, r, pos, &h);
		pos += h.size;
	}
	span.end = pos;
	return span;
}

struct drain_batch {
	struct iovec pieces[OUTLET_BATCH_PIECES];
	/* replace the headers of falsely marked records */
	struct perfdata_record_header headers[OUTLET_BATCH_PIECES];
	int nr_pieces, nr_headers;
	size_t bytes;
	size_t first_ring, end_ring; /* the rings whose data the batch contains */
};

/* Counts the contents of a batch, and returns its room to the kernel. */
static struct outlet_batch drain_take(struct drain *d, const struct drain_batch *b)
{
	const struct outlet_batch ret = { b->pieces, b->nr_pieces, b->bytes };

	d->totals.samples += d->pending;
	d->pending = 0;
	return ret;
}

static void drain_release(struct drain *d, struct drain_batch *b)
{
	for (size_t i = b->first_ring; i < b->end_ring; i++)
		if (d->done.v[i] != d->rings[i].tail)
			ring_release(&d->rings[i], d->done.v[i]);
	*b = (struct drain_batch){ .first_ring = b->end_ring ? b->end_ring - 1 : 0 };
}

static int drain_put(struct drain *d, struct drain_batch *b)
{
	const struct outlet_batch taken = drain_take(d, b);
	const int r = taken.bytes ? outlet_put(d->outlet, &taken) : 0;

	drain_release(d, b);
	return r;
}

/* The bytes of [from, to), in two pieces if they wrap around the end of the ring. */
static void drain_add_pieces(struct drain_batch *b, const struct ring *r, uint64_t from,
			     uint64_t to)
{
	const uint64_t at = from & r->mask;
	const size_t len = (size_t)(to - from);
	const size_t straight = len < r->mask + 1 - at ? len : (size_t)(r->mask + 1 - at);

	b->pieces[b->nr_pieces++] = (struct iovec){ (void *)(r->data + at), straight };
	if (len > straight)
		b->pieces[b->nr_pieces++] = (struct iovec){ (void *)r->data, len - straight };
	b->bytes += len;
}

static void drain_add_span(struct drain_batch *b, const struct ring *r, uint64_t from,
			   const struct drain_span *span)
{
	struct perfdata_record_header *h = &b->headers[b->nr_headers];

	if (span->is_marked_falsely) {
		const uint64_t header = drain_word(r, from);

		memcpy(h, &header, sizeof(*h));
		h->misc &= (uint16_t)~PERF_RECORD_MISC_MMAP_BUILD_ID;
		b->pieces[b->nr_pieces++] = (struct iovec){ h, sizeof(*h) };
		b->bytes += sizeof(*h);
		b->nr_headers++;
		from += sizeof(*h);
	}
	if (span->end > from)
		drain_add_pieces(b, r, from, span->end);
}

static int drain_add_ring(struct drain *d, struct drain_batch *b, size_t ring)
{
	struct ring *r = &d->rings[ring];
	const uint64_t head = d->heads.v[ring];
	uint64_t pos = r->tail;

	while (pos < head) {
		const size_t wanted = outlet_wants(d->outlet);
		/* A batch accepts any record as its only one. */
		const size_t room = b->bytes                    ? wanted - b->bytes
				    : wanted > RECORD_BYTES_MAX ? wanted
								: RECORD_BYTES_MAX;
		const uint64_t before = d->pending;
		const struct drain_span span = drain_account(d, r, pos, head, room);

		r->samples += d->pending - before;
		drain_add_span(b, r, pos, &span);
		pos = d->done.v[ring] = span.end;
		b->end_ring = ring + 1;
		if (span.is_bad)
			return err_set(-EIO, "the kernel's buffer of a cpu holds no valid records");
		if (pos < head || b->nr_pieces > OUTLET_BATCH_PIECES - PIECES_AT_ONCE ||
		    b->bytes >= outlet_wants(d->outlet))
			TRY(drain_put(d, b));
	}
	return 0;
}

static const struct perfdata_record_header round_record = {
	.type = RECORD_FINISHED_ROUND,
	.size = sizeof(round_record),
};

int drain_block(struct drain *d, const void *records, size_t len)
{
	const struct ring r = { .data = records, .mask = INT64_MAX };
	const size_t wanted = outlet_wants(d->outlet);
	const size_t room = wanted > RECORD_BYTES_MAX ? wanted : RECORD_BYTES_MAX;

	for (uint64_t pos = 0; pos < len;) {
		struct drain_batch b = { 0 };
		struct outlet_batch taken;
		const struct drain_span span = drain_account(d, &r, pos, len, room);

		if (span.is_bad)
			return err_set(-EIO, "the kernel's buffer of a cpu holds no valid records");
		drain_add_span(&b, &r, pos, &span);
		taken = drain_take(d, &b);
		TRY(outlet_put(d->outlet, &taken));
		pos = span.end;
	}
	return 0;
}

int drain_round(struct drain *d)
{
	return outlet_flush(d->outlet, &(struct outlet_batch){ 0 }, &round_record,
			    sizeof(round_record));
}

/* Before the thread moves, writes the data that it read on the current cpus. */
static int drain_move_to(struct drain *d, struct drain_batch *b, size_t ring)
{
	const uint32_t buffer = d->rings[ring].buffer;

	if (affinity_differs(d->affinity, buffer) && b->bytes)
		TRY(drain_put(d, b));
	affinity_move(d->affinity, buffer);
	return 0;
}

static int drain_reserve(struct drain *d)
{
	if (d->heads.n == d->nr_rings)
		return 0;
	vec_clear(&d->heads);
	vec_clear(&d->done);
	TRY(vec_reserve(&d->heads, d->nr_rings));
	TRY(vec_reserve(&d->done, d->nr_rings));
	d->heads.n = d->done.n = d->nr_rings;
	return 0;
}

/* Records that arrive later belong to the next round. */
static void drain_read_heads(struct drain *d)
{
	for (size_t i = 0; i < d->nr_rings; i++) {
		d->heads.v[i] = ring_head(&d->rings[i]);
		d->done.v[i] = d->rings[i].tail;
	}
}

int drain_catch_up(struct drain *d)
{
	struct drain_batch b = { 0 };

	drain_read_heads(d);
	for (size_t i = 0; i < d->nr_rings; i++)
		if (d->heads.v[i] != d->rings[i].tail)
			TRY(drain_add_ring(d, &b, i));
	TRY(drain_put(d, &b));
	return d->feed_error;
}

int drain_pass(struct drain *d)
{
	struct drain_batch b = { 0 };
	struct outlet_batch last;
	bool any = false, all = true;
	int e;

	d->is_pressed = false;
	TRY(drain_reserve(d));
	if (d->feed.pass) {
		e = d->feed.pass(d->feed.ctx);
		TRY(e);
		any = e > 0;
	}
	drain_read_heads(d);
	for (size_t i = 0; i < d->nr_rings; i++) {
		const uint64_t bytes = d->heads.v[i] - d->rings[i].tail;

		if (bytes && (bytes >= d->least_bytes || d->takes_all)) {
			any = true;
			if (d->affinity)
				TRY(drain_move_to(d, &b, i));
			d->is_pressed |= bytes > PRESSED_BYTES || bytes > d->rings[i].mask / 4;
			TRY(drain_add_ring(d, &b, i));
		} else if (bytes) {
			all = false;
		}
	}
	/* Readers release an event at the end of the second round after it. */
	if (!any && !d->owes_round)
		return 0;
	if (all)
		d->owes_round = any && d->is_live;
	last = drain_take(d, &b);
	e = outlet_flush(d->outlet, &last, &round_record,
			 all && !d->has_no_rounds ? sizeof(round_record) : 0);
	drain_release(d, &b);
	if (d->dsos)
		dsos_relieve(d->dsos, &d->hits);
	e = e < 0 ? e : d->feed_error;
	return e < 0 ? e : any;
}

void drain_count_left(const struct drain *d, struct tally *to)
{
	for (size_t i = 0; i < d->nr_rings; i++) {
		const struct ring *r = &d->rings[i];
		const uint64_t head = ring_head(r);
		uint64_t pos = r->tail;

		while (pos < head) {
			const uint64_t header = drain_word(r, pos);
			struct perfdata_record_header h;

			memcpy(&h, &header, sizeof(h));
			if (h.size < sizeof(h))
				break;
			if (h.type == PERF_RECORD_SAMPLE)
				tally_add_sample(to, drain_word(r, pos + SAMPLE_ID_AT));
			pos += h.size;
		}
	}
}

void drain_absorb(struct drain *to, struct drain *from)
{
	to->totals.samples += from->totals.samples;
	to->totals.lost += from->totals.lost;
	if (from->totals.last_time_ns) {
		drain_note_time(&to->totals, from->totals.first_time_ns);
		drain_note_time(&to->totals, from->totals.last_time_ns);
	}
	if (from->dsos)
		dsos_settle(from->dsos, &from->hits);
	to->hits.any_kernel |= from->hits.any_kernel;
	from->totals = (struct drain_totals){ 0 };
}

void drain_done(struct drain *d)
{
	vec_done(&d->heads);
	vec_done(&d->done);
	dso_hits_done(&d->hits);
}
