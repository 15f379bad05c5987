/* SPDX-License-Identifier: MIT */
/*
 * How many records of each type a recording has, and how many samples each event, as perf report
 * --stats prints them:
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
	VEC(struct record_event_counts) events; /* by schema id */
};

/*
 * Counts a record; raw is its event of perfdata_view_raw(), whose losses are counted. NULL: they
 * are not. -ENOMEM
 */
int record_counts_add(struct record_counts *c, const struct event *raw,
		      const struct perfdata_view_record *rec);
/* Counts samples of an event. -ENOMEM */
int record_counts_add_samples(struct record_counts *c, const struct sonde_schema *sc, uint64_t nr);
/*
 * Adds what is not among the cuts: records that were unpacked into others. To be called once,
 * behind the last record.
 */
void record_counts_finish(struct record_counts *c, const struct recording *rec);
/* with_empty: also types without records, and events without samples. */
void record_counts_put(struct record_counts *c, const struct recording *rec, bool with_empty,
		       struct outbuf *out);
void record_counts_done(struct record_counts *c);

#endif
