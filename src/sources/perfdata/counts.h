/* SPDX-License-Identifier: MIT */
/*
 * The counts of a recording of `perf stat`. Its records hold sums since the start: the sets of cpus and threads first, then
 * counts, then a round that says that all were told. A round gives an event `stat` for each event, thread and cpu with what
 * the count grew by since the round before, scaled to all of the time as far as the counter ran, and then `stat_round`.
 *
 * perf 6.1 does not do so for a recording that adds up all cpus: its text shows the sums as they are (events that are
 * `is_summed_up`), its scripts get one growth for all cpus and threads together (cpu and thread -1).
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
