/* SPDX-License-Identifier: MIT */
/*
 * Counts lost samples by the id of their counter: samples that were taken from the buffers but not
 * written, and samples left in the buffers.
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
	/*
	 * number of SAMPLE records; the samples that LOST_SAMPLES records report are counted in the
	 * list only
	 */
	uint64_t samples;
};

/* If out of memory for a new id, its samples are missing in the list. */
void tally_add(struct tally *t, uint64_t id, uint64_t n);
/* Counts a sample with this id. */
void tally_add_sample(struct tally *t, uint64_t id);
/* Counts a record of which `len` bytes are in memory: all of a LOST_SAMPLES, 16 of any other. */
void tally_add_record(struct tally *t, const void *record, size_t len);
/*
 * Counts the samples that begin at or after byte `done` of the pieces. A record may continue in the
 * next piece.
 */
void tally_add_pieces(struct tally *t, const struct iovec *pieces, int nr_pieces, uint64_t done);
void tally_add_all(struct tally *to, const struct tally *from);
/* The sum of the list. */
uint64_t tally_sum(const struct tally *t);
uint64_t tally_of(const struct tally *t, uint64_t id);
void tally_done(struct tally *t);

#endif
