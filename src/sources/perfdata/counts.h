/* SPDX-License-Identifier: MIT */
/*
 * The counts of a recording of `perf stat`. Its records hold sums since the start: first the sets
 * of cpus and threads, then the counts, then a round, which says that the counts are complete. A
 * round makes an event `stat` for each event, thread and cpu, and then `stat_round`. An event
 * `stat` has the growth of its count since the round before, scaled to the time enabled if the
 * counter ran for a part of it.
 *
 * perf 6.1 differs for a recording that adds up all cpus. Its text shows the sums unchanged (events
 * with `is_summed_up`). Its scripts get one growth for all cpus and threads together (cpu and
 * thread are -1).
 */
#ifndef SONDE_SOURCES_PERFDATA_COUNTS_H
#define SONDE_SOURCES_PERFDATA_COUNTS_H

#include "sources/perfdata/perfdata.h"

/*
 * Takes a record of counts. Ignores damage, which lists of records report. Fails with -ENOMEM only.
 */
int perfdata_counts_take(struct perfdata_source *s, const struct cut *rec, uint32_t type);
/* Makes event i of a round. Returns the same as source_ops.decode. */
int perfdata_counts_decode(struct perfdata_source *s, const struct cut *rec, unsigned i,
			   struct event *ret);
void perfdata_counts_free(struct perfdata_counts *c); /* NULL is fine */

#endif
