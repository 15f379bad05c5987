/* SPDX-License-Identifier: MIT */
/*
 * Counts the records of each type and the samples of each event. Printed like perf report --stats:
 *
 *	                                                         (an empty line)
 *	Aggregated stats:
 *	           TOTAL events:         97
 *	            MMAP events:          1  ( 1.0%)
 *	cpu-clock stats:
 *	          SAMPLE events:         77
 */
#ifndef SONDE_SINKS_PERF_RECORD_COUNTS_H
#define SONDE_SINKS_PERF_RECORD_COUNTS_H

#include "base/outbuf.h"
#include "base/vec.h"
#include "model/event.h"

struct recording;
struct perfdata_view_record;

/* Types from 64 on are the recorder's own. */
enum { RECORD_COUNT_TYPES = 128 };

struct record_event_counts {
	const struct sonde_schema *schema;
	uint64_t samples, lost;
};

struct record_counts {
	uint64_t by_type[RECORD_COUNT_TYPES], total;
	VEC(struct record_event_counts) events; /* indexed by schema id */
	bool forgets_names;                     /* events have the names of their attrs */
};

/*
 * Counts a record. `raw` is its event from perfdata_view_raw(), whose losses are also counted; if
 * NULL, losses are not counted. Fails with -ENOMEM only.
 */
int record_counts_add(struct record_counts *c, const struct event *raw,
		      const struct perfdata_view_record *rec);
/* Counts samples of an event. Fails with -ENOMEM only. */
int record_counts_add_samples(struct record_counts *c, const struct sonde_schema *sc, uint64_t nr);
/*
 * Adds the compressed records, which have no cuts because they were unpacked into others. Call it
 * once, after the last record.
 */
void record_counts_finish(struct record_counts *c, const struct recording *rec);
/* with_empty: prints also types without records, and events without samples. */
void record_counts_put(struct record_counts *c, const struct recording *rec, bool with_empty,
		       struct outbuf *out);
void record_counts_done(struct record_counts *c);

#endif
