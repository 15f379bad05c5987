/* SPDX-License-Identifier: MIT */
/*
 * Counts refused samples until the first sample passes the filters, so that a run without output
 * can report what the recording contains instead.
 *
 *	if (!s->passed)
 *		refused_note(&lane->refused, ev, REFUSED_BY_TASK);
 */
#ifndef SONDE_SESSION_REFUSED_H
#define SONDE_SESSION_REFUSED_H

#include <stdbool.h>
#include <stdint.h>

#include "sonde/sonde.h"

/* The filter that refused a sample. The filters before it in this list let the sample pass. */
enum refused_by {
	REFUSED_BY_TIME,
	REFUSED_BY_CPU,
	REFUSED_BY_TASK,
	REFUSED_BY_NAME,
	REFUSED_BY_WHERE,
	REFUSED_BY_PLACE
};

enum refused_kind {
	REFUSED_CPUS,
	REFUSED_PIDS,
	REFUSED_TIDS,
	REFUSED_COMMS,
	REFUSED_SCHEMAS,
	NR_REFUSED
};

enum { REFUSED_SLOTS = 256, REFUSED_KEYS = 192 };

/*
 * Counts the samples by value, for one kind. Only the first REFUSED_KEYS values are counted;
 * has_more is set if there are others.
 */
struct refused_tally {
	struct refused_slot {
		uint64_t count; /* 0 if the slot is free */
		uint32_t key;
		uint32_t comm; /* the task's name, for pids and tids */
	} slots[REFUSED_SLOTS];
	unsigned nr;
	bool has_more;
};

struct refused {
	bool failed; /* memory ran out */
	uint64_t nr, first_ns, last_ns;
	/* owned; NR_REFUSED tallies; NULL until the first sample is noted */
	struct refused_tally *tallies;
};

void refused_note(struct refused *r, const struct sonde_event *ev, enum refused_by by);
/* Notes nr samples that were refused by their time, before they were decoded. */
void refused_note_times(struct refused *r, uint64_t nr, uint64_t first_ns, uint64_t last_ns);
/* Adds the counts of `from`. */
void refused_add(struct refused *r, const struct refused *from);
/*
 * Gets at most max values of a kind, the most frequent first. Returns the number of all values;
 * UINT32_MAX if there are more than were counted.
 */
unsigned refused_most(const struct refused *r, enum refused_kind kind,
		      const struct refused_slot **ret, unsigned max);
void refused_done(struct refused *r);

#endif
