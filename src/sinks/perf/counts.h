/* SPDX-License-Identifier: MIT */
/*
 * The counts of a recording of `perf stat`: a table with a line for each event, thread and cpu of
 * each round.
 *
 *	CPU   THREAD             VAL             ENA             RUN            TIME EVENT
 *	  0       -1       100355880       100356360       100356360       100185295 cpu-clock
 *
 * (If perf 6.1 was asked to add up all cpus, it shows unchanged sums: sources/perfdata/counts.h.)
 */
#ifndef SONDE_SINKS_PERF_COUNTS_H
#define SONDE_SINKS_PERF_COUNTS_H

#include "base/outbuf.h"
#include "model/event.h"

/* Prints an event `stat`. *head_put is true once the line above the table is written. */
void perf_count_put(const struct event *ev, bool *head_put, struct outbuf *out);

#endif
