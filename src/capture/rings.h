/* SPDX-License-Identifier: MIT */
/*
 * The ring buffers that counters write to. All events of a cpu (or thread) share one; events that
 * overwrite share a second one.
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
	uint64_t tail;    /* position up to which we have read */
	uint64_t samples; /* for the owner: number of samples taken */
	uint32_t buffer;  /* the buffer of its counters */
	int fd;           /* descriptor of the counter that owns the ring */
};

struct rings {
	/* one per buffer, in the order in which their counters were opened */
	VEC(struct ring) list;
	/* rings that overwrite: head decreases, tail is the head at the last read */
	VEC(struct ring) backward;
	size_t mapped_bytes; /* size of the mapping of one ring */
};

/*
 * Maps the ring of the first counter of each buffer, and redirects the buffer's other counters into
 * it. data_pages must be a power of two. `may_shrink`: take fewer pages if the limit of locked
 * memory does not allow that many.
 */
int rings_map(struct rings *r, const struct counter *counters, size_t nr_counters,
	      size_t data_pages, bool may_shrink, const struct say *to);
/* Pauses or resumes the overwriting rings; they are paused while they are read. */
void rings_pause(struct rings *r, bool pause);
void rings_done(struct rings *r);

static inline uint64_t ring_head(const struct ring *r)
{
	return __atomic_load_n(&r->control->data_head, __ATOMIC_ACQUIRE);
}

/* Returns the room before pos to the kernel. */
static inline void ring_release(struct ring *r, uint64_t pos)
{
	r->tail = pos;
	__atomic_store_n(&r->control->data_tail, pos, __ATOMIC_SEQ_CST);
}

#endif
