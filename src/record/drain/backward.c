/* SPDX-License-Identifier: MIT */
#include "record/drain/backward.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "base/outbuf.h"
#include "base/vec.h"
#include "formats/perfdata/layout.h"

enum { CHUNK_BYTES = 1 << 20 };

struct places {
	VEC(uint64_t) list; /* positions of records in a ring, the newest first */
};

static struct perfdata_record_header backward_header_at(const struct ring *r, uint64_t pos)
{
	const uint64_t word = load_u64(r->data + (pos & r->mask));
	struct perfdata_record_header h;

	memcpy(&h, &word, sizeof(h));
	return h;
}

/* Finds the complete records from the head on that are new and not overwritten. */
static int backward_find_records(const struct ring *r, uint64_t head, struct places *to)
{
	const uint64_t fresh = r->tail - head, room = r->mask + 1;
	const uint64_t bytes = fresh < room ? fresh : room;
	uint64_t done = 0;

	while (done + sizeof(struct perfdata_record_header) <= bytes) {
		const struct perfdata_record_header h = backward_header_at(r, head + done);

		if (h.size < sizeof(h) || h.size & 7 || done + h.size > bytes)
			break;
		TRY(vec_push(&to->list, head + done));
		done += h.size;
	}
	return 0;
}

static int backward_put_record(const struct ring *r, uint64_t pos, struct outbuf *to)
{
	const uint16_t size = backward_header_at(r, pos).size;
	char *at = outbuf_room(to, size);

	if (!at)
		return err_nomem();
	for (size_t i = 0; i < size; i += 8)
		memcpy(at + i, r->data + ((pos + i) & r->mask), 8);
	outbuf_advance(to, size);
	return 0;
}

/* Writes the new records of a ring, the oldest first. */
static int backward_dump_ring(struct ring *r, struct drain *d, struct tally *left)
{
	const uint64_t head = ring_head(r);
	struct places places = { 0 };
	struct outbuf chunk = { 0 };
	int e = backward_find_records(r, head, &places);
	size_t n = places.list.n;

	while (n && e == 0) {
		e = backward_put_record(r, places.list.v[--n], &chunk);
		if (e == 0 && (chunk.len >= CHUNK_BYTES || !n)) {
			e = drain_block(d, chunk.data, chunk.len);
			chunk.len = 0;
		}
	}
	while (n) {
		const uint64_t pos = places.list.v[--n];

		if (backward_header_at(r, pos).type == PERF_RECORD_SAMPLE)
			tally_add_sample(left, load_u64(r->data + ((pos + 8) & r->mask)));
	}
	r->tail = head;
	vec_done(&places.list);
	outbuf_done(&chunk);
	return e;
}

int backward_dump(struct counters *c, struct drain *d, bool is_end, struct tally *left)
{
	int e = 0;

	if (!c->rings.backward.n)
		return 0;
	/* Pauses all rings at once, so that the file covers the same time on all cpus. */
	rings_pause(&c->rings, true);
	vec_foreach(r, &c->rings.backward) {
		const int result = backward_dump_ring(r, d, left);

		if (result < 0 && e == 0)
			e = result;
	}
	if (!is_end)
		rings_pause(&c->rings, false);
	return e < 0 ? e : drain_round(d);
}
