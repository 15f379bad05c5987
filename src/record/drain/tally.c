/* SPDX-License-Identifier: MIT */
#include "record/drain/tally.h"

#include <linux/perf_event.h>
#include <string.h>

#include "base/bytes.h"
#include "base/err.h"
#include "formats/perfdata/layout.h"

/* All our samples begin with the id; LOST_SAMPLES records end with it. */
enum { HEADER_BYTES = sizeof(struct perfdata_record_header), WORD_BYTES = 8 };

void tally_add(struct tally *t, uint64_t id, uint64_t n)
{
	uint64_t at = hash64_find(&t->by_id, id);

	if (at == HASH64_EMPTY || at >= t->list.n) {
		at = t->list.n;
		if (hash64_put(&t->by_id, id, at) < 0 ||
		    vec_push(&t->list, (struct tally_count){ .id = id }) < 0)
			return;
	}
	t->list.v[at].n += n;
}

void tally_add_sample(struct tally *t, uint64_t id)
{
	t->samples++;
	tally_add(t, id, 1);
}

void tally_add_record(struct tally *t, const void *record, size_t len)
{
	struct perfdata_record_header h;

	memcpy(&h, record, sizeof(h));
	if (h.type == PERF_RECORD_SAMPLE && len >= HEADER_BYTES + WORD_BYTES)
		tally_add_sample(t, load_u64((const uint8_t *)record + HEADER_BYTES));
	if (h.type == PERF_RECORD_LOST_SAMPLES && len >= h.size &&
	    h.size >= HEADER_BYTES + 2 * WORD_BYTES)
		tally_add(t, load_u64((const uint8_t *)record + h.size - WORD_BYTES),
			  load_u64((const uint8_t *)record + HEADER_BYTES));
}

/*
 * The word at byte `pos` of the pieces, 0 after their end. A word may continue in the next piece.
 */
static uint64_t tally_word(const struct iovec *pieces, int nr_pieces, uint64_t pos)
{
	uint8_t bytes[WORD_BYTES] = { 0 };
	size_t have = 0;

	for (int i = 0; i < nr_pieces && have < WORD_BYTES; i++) {
		const size_t len = pieces[i].iov_len;
		size_t n;

		if (pos >= len) {
			pos -= len;
			continue;
		}
		n = len - pos < WORD_BYTES - have ? (size_t)(len - pos) : WORD_BYTES - have;
		memcpy(bytes + have, (const char *)pieces[i].iov_base + pos, n);
		have += n;
		pos = 0;
	}
	return load_u64(bytes);
}

void tally_add_pieces(struct tally *t, const struct iovec *pieces, int nr_pieces, uint64_t done)
{
	uint64_t pos = 0, start = 0;

	for (int i = 0; i < nr_pieces; i++) {
		const struct iovec *p = &pieces[i];

		while (pos < start + p->iov_len) {
			struct perfdata_record_header h;

			memcpy(&h, (const char *)p->iov_base + (pos - start), sizeof(h));
			if (h.size < sizeof(h))
				return;
			if (pos >= done && h.type == PERF_RECORD_SAMPLE)
				tally_add_sample(t, tally_word(pieces + i, nr_pieces - i,
							       pos - start + HEADER_BYTES));
			pos += h.size;
		}
		start += p->iov_len;
	}
}

void tally_add_all(struct tally *to, const struct tally *from)
{
	to->samples += from->samples;
	for (size_t i = 0; i < from->list.n; i++)
		tally_add(to, from->list.v[i].id, from->list.v[i].n);
}

uint64_t tally_sum(const struct tally *t)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < t->list.n; i++)
		sum += t->list.v[i].n;
	return sum;
}

uint64_t tally_of(const struct tally *t, uint64_t id)
{
	const uint64_t at = hash64_find(&t->by_id, id);

	return at < t->list.n ? t->list.v[at].n : 0;
}

void tally_done(struct tally *t)
{
	vec_done(&t->list);
	hash64_done(&t->by_id);
	*t = (struct tally){ 0 };
}
