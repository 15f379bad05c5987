/* SPDX-License-Identifier: MIT */
/*
 * The ring buffers that counters write to: one per cpu (or thread), shared by all events there; those that overwrite have
 * one of their own beside it.
 *
 *	head = ring_head(r);  ... records from r->tail to head ...  ring_release(r, head);
 */
#ifndef SONDE_CAPTURE_RINGS_H
#define SONDE_CAPTURE_RINGS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "capture/counter.h"
#include "capture/say.h"

struct ring {
	struct perf_event_mmap_page *control;
	const uint8_t *data;
	uint64_t mask;    /* data bytes - 1 */
	uint64_t tail;    /* how far we have read */
	uint64_t samples; /* for the owner: how many it took */
	uint32_t buffer;  /* that of its counters */
	int fd;           /* of the counter that owns it */
};

struct rings {
	/* in the order in which their counters were opened, one for each buffer there is */
	VEC(struct ring) list;
	/* those that overwrite: heads go down, tail is the head that was last read */
	VEC(struct ring) backward;
	size_t mapped_bytes; /* of one ring */
};

/*
 * Maps the ring of the first counter of each buffer and leads the buffer's other counters into it. data_pages: a power of
 * two. `may_shrink`: take fewer when the limit of locked memory forbids so many.
 */
int rings_map(struct rings *r, const struct counter *counters, size_t nr_counters,
	      size_t data_pages, bool may_shrink, const struct say *to);
/* Stops the rings that overwrite while they are read, or lets them go on. */
void rings_pause(struct rings *r, bool pause);
void rings_done(struct rings *r);

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

#endif
