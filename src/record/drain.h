/* SPDX-License-Identifier: MIT */
/*
 * From the rings to the file. A pass looks at every ring once, hands what is there to the writer straight from the rings,
 * and ends with FINISHED_ROUND: an event of a later pass but one is never older than what this pass brought.
 * On the way the headers of the records are read, for the count of samples, first and last time, losses, mapped files.
 */
#ifndef SONDE_RECORD_DRAIN_H
#define SONDE_RECORD_DRAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/counters.h"
#include "formats/perfdata/writer.h"
#include "record/dsos.h"

/* What went into one file. */
struct drain_totals {
	uint64_t samples, lost; /* samples: written ones; lost: what LOST records tell */
	uint64_t first_time_ns, last_time_ns; /* of samples; 0, 0 while there is none */
};

struct drain {
	struct counters *counters;
	struct perfdata_writer *writer;
	bool is_live; /* somebody reads along: rounds go on until the last event is released */
	bool owes_round;
	struct dsos *dsos; /* gets what is mapped and hit; NULL: nobody wants it */
	struct dso_hits hits;
	struct drain_totals totals;
	uint64_t pending;    /* samples of the batch being made */
	uint64_t partly;     /* samples of the batch that failed which were written all the same */
	VEC(uint64_t) heads; /* of the pass being made, by ring */
};

/* 1: there was something, 0: nothing; <0: it could not be written. */
int drain_pass(struct drain *d);
/* After a pass that failed, with the counters disabled: how many samples are left behind in the rings. */
uint64_t drain_count_left(const struct drain *d);
void drain_done(struct drain *d);

#endif
