/* SPDX-License-Identifier: MIT */
/*
 * Events opened on cpus and tasks, and the ring buffers they write to: one per cpu (or thread), shared by all
 * events there.
 *
 *	struct counters c = { .say = say };
 *	TRY(counters_open(&c, &events, &target));
 *	TRY(counters_map(&c, pages, false));
 *	counters_enable(&c);  ... ring_head(), records, ring_release() ...  counters_disable(&c);
 *	counters_close(&c);
 *
 * What the kernel is too old or the user too little trusted for is given up in small steps, aloud; where no step is
 * left the message names cause and remedy.
 */
#ifndef SONDE_CAPTURE_COUNTERS_H
#define SONDE_CAPTURE_COUNTERS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/events.h"
#include "capture/say.h"

struct counters_target {
	const int *cpus; /* online ones, ascending */
	size_t nr_cpus;
	const int32_t *tids; /* one entry -1: everything that runs on the cpus */
	size_t nr_tids;
	bool tids_may_vanish;
	uint32_t
		wakeup_bytes; /* wakes who polls when so much is new; attrs that say it themselves count */
	bool per_thread; /* cpus is one -1: a ring for each of tids instead of each cpu */
};

struct counter {
	int fd;
	uint32_t event; /* index in the list of events */
	int cpu;
	uint32_t buffer; /* index in target.cpus, per thread in target.tids: one ring for each */
	int32_t tid;
	uint64_t id;          /* in the records of this counter */
	uint64_t read_format; /* PERF_FORMAT_*: what reading it gives */
	bool backward;        /* attr.write_backward: its ring overwrites the oldest records */
	/* for the owner: what it counted, what of that was lost, and how much of this is told already */
	uint64_t counted, lost, lost_told;
};

struct ring {
	struct perf_event_mmap_page *control;
	const uint8_t *data;
	uint64_t mask;    /* data bytes - 1 */
	uint64_t tail;    /* how far we have read */
	uint64_t samples; /* for the owner: how many it took */
	uint32_t buffer;  /* that of its counters */
	int fd;           /* of the counter that owns it */
};

struct counters {
	struct say say;
	VEC(struct counter) list;
	VEC(struct ring)
	rings; /* in the order in which they were opened, one for each buffer there is */
	VEC(struct ring)
	backward; /* rings that overwrite: heads go down, tail is the head that was last read */
	size_t mapped_bytes; /* of one ring */
	unsigned dropped;    /* how many new features this kernel does not know (counters.c) */
	bool no_file_limit;  /* RLIMIT_NOFILE is raised as far as it goes */
};

/* The filters are looked at, but not set yet: a message tells what is wrong with one. */
int counters_open(struct counters *c, struct capture_events *events,
		  const struct counters_target *target);
/* data_pages: a power of two. `may_shrink`: take fewer when the limit of locked memory forbids so many. */
int counters_map(struct counters *c, size_t data_pages, bool may_shrink);
/* Sets them. A counter takes one filter, once: the texts must be complete. */
int counters_filter(struct counters *c, const struct capture_events *events);
/* Stops the rings that overwrite while they are read, or lets them go on. */
void counters_pause(struct counters *c, bool pause);
int counters_enable(struct counters *c);
void counters_disable(struct counters *c);
/* The counters of one event only. */
int counters_enable_event(struct counters *c, uint32_t event);
void counters_disable_event(struct counters *c, uint32_t event);
/*
 * What a counter has counted so far, and how many records the kernel dropped for it; what it gave to children that have
 * ended is included. false: this kernel does not count what it drops.
 */
bool counter_read(const struct counter *n, uint64_t *ret_value, uint64_t *ret_dropped);
void counters_close(struct counters *c);

static inline uint64_t ring_head(const struct ring *r)
{
	return __atomic_load_n(&r->control->data_head, __ATOMIC_ACQUIRE);
}

/* Gives the room before pos back to the kernel. */
static inline void ring_release(struct ring *r, uint64_t pos)
{
	r->tail = pos;
	__atomic_store_n(&r->control->data_tail, pos, __ATOMIC_SEQ_CST);
}

/* Whether this kernel tells build ids with mappings (attr.build_id, since 5.12). */
bool counters_know_build_ids(void);

/* The current value of /proc/sys/kernel/NAME, or fallback. */
long kernel_setting(const char *name, long fallback);

#endif
