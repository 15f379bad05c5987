/* SPDX-License-Identifier: MIT */
/*
 * The counts of a recording of `perf stat`. Its records hold sums since the start: first the sets
 * of cpus and threads, then the counts, then a round, which says that the counts are complete. A
 * round makes an event `stat` for each event, thread and cpu, and then `stat_round`. An event
 * `stat` has the growth of its count since the round before, scaled to the time enabled if the
 * counter ran for a part of it.
 *
 * perf 6.1 treats a recording that adds up all cpus in another way: its text shows the sums as they
 * are (events that are `is_summed_up`), its scripts get one growth for all cpus and threads
 * together (cpu and thread -1).
 */
#ifndef SONDE_SOURCES_PERFDATA_COUNTS_H
#define SONDE_SOURCES_PERFDATA_COUNTS_H

#include "sources/perfdata/perfdata.h"

/* Takes what a record of these says; damage is left to those who list records. -ENOMEM only. */
int perfdata_counts_take(struct perfdata_source *s, const struct cut *rec, uint32_t type);
/* Event i of a round: as source_ops.decode. */
int perfdata_counts_decode(struct perfdata_source *s, const struct cut *rec, unsigned i,
			   struct event *ret);
void perfdata_counts_free(struct perfdata_counts *c); /* NULL is fine */

#endif
