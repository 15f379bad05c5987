/* SPDX-License-Identifier: MIT */
/*
 * Counts what filters refused as long as no sample passes them, so that a run without an answer can
 * say what the recording has instead. Nothing is noted any more once a sample has passed.
 *
 *	if (!s->passed)
 *		refused_note(&lane->refused, ev, REFUSED_BY_TASK);
 */
#ifndef SONDE_SESSION_REFUSED_H
#define SONDE_SESSION_REFUSED_H

#include <stdbool.h>
#include <stdint.h>

#include "sonde/sonde.h"

/* The filter that refused a sample; those before it in this list let it pass. */
enum refused_by {
	REFUSED_BY_TIME,
	REFUSED_BY_CPU,
	REFUSED_BY_TASK,
	REFUSED_BY_NAME,
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
 * How many samples have each value of one kind; values behind the first REFUSED_KEYS are counted
 * together.
 */
struct refused_tally {
	struct refused_slot {
		uint64_t count; /* 0: free */
		uint32_t key;
		uint32_t comm; /* of pids and tids: the task's name */
	} slots[REFUSED_SLOTS];
	unsigned nr;
	bool has_more;
};

struct refused {
	bool failed; /* memory ran out */
	uint64_t nr, first_ns, last_ns;
	/* owned, NR_REFUSED of them; NULL until the first one is noted */
	struct refused_tally *tallies;
};

void refused_note(struct refused *r, const struct sonde_event *ev, enum refused_by by);
/* A sample that was refused for its time before it was decoded. */
void refused_note_times(struct refused *r, uint64_t nr, uint64_t first_ns, uint64_t last_ns);
/* Adds what `from` counted. */
void refused_add(struct refused *r, const struct refused *from);
/*
 * The values of a kind by falling count, at most max of them; how many there are in all,
 * UINT32_MAX: more than were kept.
 */
unsigned refused_most(const struct refused *r, enum refused_kind kind,
		      const struct refused_slot **ret, unsigned max);
void refused_done(struct refused *r);

#endif
