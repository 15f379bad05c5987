/* SPDX-License-Identifier: MIT */
/*
 * Counts that samples hold (PERF_SAMPLE_READ). They grow from the beginning of the recording on,
 * and a reader prints how much they grew since the sample before. In a part samples before
 * may be missing: what was counted in them is taken off, so that each remaining sample has
 * the same growth. It is the one thing that is changed in a copied record.
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
	unsigned part; /* that was counted into last */
};

struct counter_reads_event {
	bool is_known, has_reads;
	uint64_t read_format;
	int id, at; /* offsets in a sample; -1: not recorded */
};

struct counter_reads {
	struct perfdata_view *view;
	struct hash64 by_id; /* -> index in counts */
	VEC(struct counter_reads_count) counts;
	VEC(struct counter_reads_event) events;
};

/*
 * A sample of the event-th event (as recorded) goes into a part, which is counted from 1; 0: into
 * none, only its counts are noted. Its bytes are changed. -ENOMEM only.
 */
int counter_reads_take(struct counter_reads *r, size_t event, uint8_t *sample, uint32_t len,
		       bool swap, unsigned part);
void counter_reads_done(struct counter_reads *r);

#endif
