/* SPDX-License-Identifier: MIT */
/*
 * Counts in samples (PERF_SAMPLE_READ). They grow from the start of the recording, and a reader
 * prints their growth since the previous sample. If the previous sample is not in a part, the
 * growth up to it is subtracted, so that each remaining sample keeps its growth. These counts are
 * the only values that are changed in a copied sample.
 *
 *	complete | 100 | 250 | 300 | 420 | 450 |        grown: 100 150 50 120 30
 *	part              | 300 - 250 |     | 450 - 250 - 120 |      50     30
 */
#ifndef SONDE_SINKS_PERF_COUNTER_READS_H
#define SONDE_SINKS_PERF_COUNTER_READS_H

#include "base/hash.h"
#include "base/vec.h"
#include "sources/perfdata/view.h"

struct counter_reads_count {
	uint64_t last; /* as recorded */
	uint64_t taken_off;
	unsigned part; /* the part of the sample that set `last` */
};

struct counter_reads_event {
	bool is_known, has_reads;
	uint64_t read_format;
	int id, at; /* offsets in a sample; -1 if not recorded */
};

struct counter_reads {
	struct perfdata_view *view;
	struct hash64 by_id; /* -> index in counts */
	VEC(struct counter_reads_count) counts;
	VEC(struct counter_reads_event) events;
};

/*
 * Takes a sample of the event with this index (as recorded) and changes its bytes for the part with
 * number `part`, from 1. If `part` is 0, the sample is in no part, and only its counts are noted.
 * Fails with -ENOMEM only.
 */
int counter_reads_take(struct counter_reads *r, size_t event, uint8_t *sample, uint32_t len,
		       bool swap, unsigned part);
void counter_reads_done(struct counter_reads *r);

#endif
