/* SPDX-License-Identifier: MIT */
/*
 * Counts samples by the id of their counter: those that were taken from the buffers, or are still
 * in them, and are lost.
 */
#ifndef SONDE_RECORD_DRAIN_TALLY_H
#define SONDE_RECORD_DRAIN_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/hash.h"
#include "base/vec.h"

struct tally_count {
	uint64_t id, n;
};

struct tally {
	VEC(struct tally_count) list;
	struct hash64 by_id; /* index in the list */
	/* SAMPLE records; what LOST_SAMPLES records count is in the list only */
	uint64_t samples;
};

/* Without memory for a new id its events are missing in the list. */
void tally_add(struct tally *t, uint64_t id, uint64_t n);
/* A sample with its id. */
void tally_add_sample(struct tally *t, uint64_t id);
/* A record, `len` bytes of it are in memory: all of a LOST_SAMPLES, 16 of others. */
void tally_add_record(struct tally *t, const void *record, size_t len);
/*
 * The complete records behind the first `done` bytes of the pieces; a record may run from one piece
 * into the next.
 */
void tally_add_pieces(struct tally *t, const struct iovec *pieces, int nr_pieces, uint64_t done);
void tally_add_all(struct tally *to, const struct tally *from);
/* All of the list. */
uint64_t tally_sum(const struct tally *t);
uint64_t tally_of(const struct tally *t, uint64_t id);
void tally_done(struct tally *t);

#endif
