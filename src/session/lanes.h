/* SPDX-License-Identifier: MIT */
/*
 * Merges the events of several recordings: the event with the smallest time is delivered next.
 *
 *	A  a0 a1 . . a2        each recording orders and keeps state by itself, one event
 *	B  . . b0 b1 . b2      ahead; ids of schemas and texts are the session's
 *	-> a0 a1 b0 b1 a2 b2   equal times: the recording named first
 *
 * Lookups for an event use its recording (struct event, `recording`), whose state is as of the
 * event. If a session has only one recording, nothing is compared and its lane has no head.
 */
#ifndef SONDE_SESSION_LANES_H
#define SONDE_SESSION_LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "session/refused.h"

struct recording;

/* The session's place in a recording. */
struct lane {
	struct recording *rec;
	/* the next event, borrowed by callers; NULL if not yet read, or at the end */
	const struct sonde_event *head;
	uint64_t at_ns; /* the head's time on the line of time */
	bool ended, failed;
	struct refused refused;     /* samples that the filters refused */
	uint64_t defects_reported;  /* one bit for each enum defect */
	uint64_t defects_looked_at; /* defects.changes when all kinds had been delivered */
};

struct merge {
	struct lane *lanes;    /* owned; one for each recording, in the same order */
	struct lane *borrowed; /* the caller borrows its head; NULL if none */
	bool lacks;            /* a recording that has not ended has no head */
	bool started;          /* the first events of all recordings were read */
	/*
	 * The smallest time of the lanes other than `borrowed`, at the time of its choice. Up to
	 * this time its events need no comparison.
	 */
	uint64_t rival_ns;
	/* The rival wins at equal times. Without a rival: false, and rival_ns is UINT64_MAX. */
	bool rival_first;
};

#endif
