/* SPDX-License-Identifier: MIT */
/*
 * The events of several recordings in one order: the event that is delivered next is the one of
 * least time.
 *
 *	A  a0 a1 . . a2        each recording orders and keeps state by itself, one event
 *	B  . . b0 b1 . b2      ahead; ids of schemas and texts are the session's
 *	-> a0 a1 b0 b1 a2 b2   equal times: the recording named first
 *
 * What is looked up for an event is looked up in its recording (struct event, `recording`), whose
 * state is as of it. The only recording of a session is not compared: its lane holds no head.
 */
#ifndef SONDE_SESSION_LANES_H
#define SONDE_SESSION_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/refused.h"

struct recording;

/* A recording as the session reads it. */
struct lane {
	struct recording *rec;
	/* its next event, which callers borrow; NULL: not yet read, or ended */
	const struct sonde_event *head;
	uint64_t at_ns; /* on the line, where the head belongs */
	bool ended, failed;
	struct refused refused;     /* by the filters */
	uint64_t defects_reported;  /* bit per enum defect */
	uint64_t defects_looked_at; /* defects.changes when all kinds were delivered */
};

struct merge {
	struct lane *lanes;    /* owned; one for each recording, at its place */
	struct lane *borrowed; /* whose head the caller borrows; NULL none */
	bool lacks;            /* a recording that has not ended has no head */
	bool started;          /* the first events of all were there */
	/*
	 * The least of the others than `borrowed`, when that was chosen: up to there nothing need
	 * be compared.
	 */
	uint64_t rival_ns;
	bool rival_first; /* of equal times; false without a rival, and rival_ns UINT64_MAX */
};

#endif
