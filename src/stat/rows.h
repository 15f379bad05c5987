/* SPDX-License-Identifier: MIT */
/* Adds readings up to rows: one for each event and each cpu, core, socket or thread. */
#ifndef SONDE_STAT_ROWS_H
#define SONDE_STAT_ROWS_H

#include "sonde/sonde.h"
#include "stat/reading.h"
#include "stat/spread.h"

/* The counts of a row over the runs: other rows come and go with cpus and threads. */
struct row_spread {
	uint32_t event;
	int32_t cpu, core, die, socket, node, tid;
	struct spread spread, enabled, running;
};

struct stat_rows {
	enum sonde_stat_by by;
	bool no_scale;
	bool shows_threads_of_core; /* by cpu, an event with percore has the core's sum at each cpu
				     */
	bool leaves_out_idle;       /* threads without a count have no row; the busiest is first */
	VEC(struct sonde_stat_row) list;
	VEC(struct row_spread) spreads; /* of each row over the runs */
};

/*
 * Fills the list with the sums of a reading. is_run: the reading covers a complete run, so it also
 * counts for mean and deviation.
 */
int stat_rows_fill(struct stat_rows *r, const struct stat_subject *s,
		   const struct stat_reading *reading, bool is_run);
/*
 * The event whose rows have the counts of an event: the first one of the same name on another
 * source of sysfs; the event itself if there is none.
 */
size_t stat_rows_event(const struct stat_subject *s, size_t event);
void stat_rows_done(struct stat_rows *r);

#endif
