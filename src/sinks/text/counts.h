/* SPDX-License-Identifier: MIT */
/*
 * The counts of a recording of `perf stat`: a table behind each round, a line for each event, thread and cpu.
 *
 *	CPU   THREAD             VAL             ENA             RUN            TIME EVENT
 *	  0       -1       100355880       100356360       100356360       100185295 cpu-clock
 *
 * The records hold sums since the start; shown is by how much they grew since the round before, as far as the counter ran
 * scaled to all of the time. (perf 6.1 shows sums as they are when it was to add up all cpus.) Its records come as themselves (event.listed): the sets of cpus and threads first, then counts, then the round.
 */
#ifndef SONDE_SINKS_TEXT_COUNTS_H
#define SONDE_SINKS_TEXT_COUNTS_H

#include "base/outbuf.h"
#include "base/vec.h"
#include "model/event.h"

struct text_count {
	uint64_t value, enabled_ns, running_ns;
};

struct text_counts {
	VEC(int32_t) cpus;
	VEC(int32_t) tids;
	VEC(struct text_count) counts; /* [event][tid][cpu], all 0 before the first one comes */
	VEC(struct text_count) before; /* of the round before */
	size_t nr_events;
	bool head_put;
	bool is_sum;   /* all cpus together were asked for */
	bool unscaled; /* counts are shown as they are */
};

void text_counts_done(struct text_counts *c);
/* Takes what a record says, and writes the table if it ends a round. -ENOMEM only. */
int text_counts_take(struct text_counts *c, const struct event *ev, struct outbuf *out);

#endif
