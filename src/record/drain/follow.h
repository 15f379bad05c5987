/* SPDX-License-Identifier: MIT */
/*
 * The state that a file needs if it begins in the middle of a recording: the processes born since
 * the recording started, and the changes of processes while the file's beginning is prepared.
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
	uint32_t nr_pids;         /* number of bits */
	/*
	 * records of state are also copied; only with a single draining thread, because --threads
	 * makes no further files
	 */
	bool keeps;
	struct outbuf kept;
};

int follow_init(struct follow *f);
/*
 * Notes a record other than a sample, at pos of a ring. Several threads may call it at once, except
 * while `keeps` is set.
 */
void follow_record(struct follow *f, const struct ring *r, uint64_t pos,
		   struct perfdata_record_header h);
/* Appends the pids of the noted processes that still exist, and forgets the others. */
int follow_list(struct follow *f, struct follow_pids *pids);
void follow_done(struct follow *f);

#endif
