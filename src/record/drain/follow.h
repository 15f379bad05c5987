/* SPDX-License-Identifier: MIT */
/*
 * What a file that begins in the middle of a recording must know of the events before it: which
 * processes were born, and, while its beginning is being made, what happened to processes
 * meanwhile.
 */
#ifndef SONDE_RECORD_DRAIN_FOLLOW_H
#define SONDE_RECORD_DRAIN_FOLLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/outbuf.h"
#include "base/vec.h"
#include "capture/counters.h"
#include "formats/perfdata/layout.h"

struct follow_pids {
	VEC(int32_t) list;
};

struct follow {
	_Atomic uint64_t *forked; /* a bit for each pid of a process born while recording */
	uint32_t nr_pids;         /* how many bits */
	/*
	 * records of state are copied, too: only where one thread drains, --threads makes no
	 * further files
	 */
	bool keeps;
	struct outbuf kept;
};

int follow_init(struct follow *f);
/* A record other than a sample, at pos of a ring. Threads may call it at once, unless it keeps. */
void follow_record(struct follow *f, const struct ring *r, uint64_t pos,
		   struct perfdata_record_header h);
/* Appends the pids of those that are still there; forgets the others. */
int follow_list(struct follow *f, struct follow_pids *pids);
void follow_done(struct follow *f);

#endif
