/* SPDX-License-Identifier: MIT */
/*
 * Numbers for answers about frames that stay valid. Samples of a task share most of their frames,
 * so a caller that keeps its answers by ip and turn asks the session only about new ones:
 *
 *	prelude_near_begin(&near, ev);                  once for each event
 *	turn = prelude_near_turn(&near, ev, frame);     0 if the answer must not be kept
 *
 * Equal turns and equal ips mean equal answers of sonde_event_located().
 */
#ifndef SONDE_PRELUDE_NEAR_H
#define SONDE_PRELUDE_NEAR_H

#include "sonde/sonde.h"

/* Zero is a valid start. */
struct prelude_near {
	int32_t pid, tid;
	uint64_t map_epoch;
	/* The current turns; answers about the kernel do not depend on the task. */
	uint64_t user_turn, kernel_turn, last_turn;
};

enum { PRELUDE_MODE_KERNEL = 1, PRELUDE_MODE_USER = 2 }; /* sonde_event.cpumode */

static inline void prelude_near_begin(struct prelude_near *n, const struct sonde_event *ev)
{
	if (n->map_epoch != ev->map_epoch || !n->last_turn) {
		n->kernel_turn = ++n->last_turn;
		n->user_turn = ++n->last_turn;
	} else if (n->pid != ev->pid || n->tid != ev->tid) {
		n->user_turn = ++n->last_turn;
	}
	n->pid = ev->pid;
	n->tid = ev->tid;
	n->map_epoch = ev->map_epoch;
}

/*
 * After exec, code of the kernel runs with user frames of the old program while the mappings are
 * already those of the new one. So the turn of user frames is 0 unless the event is of user space.
 */
static inline uint64_t prelude_near_turn(const struct prelude_near *n, const struct sonde_event *ev,
					 const struct sonde_frame *f)
{
	if (f->flags & SONDE_FRAME_INLINED || !ev->map_epoch)
		return 0;
	if (f->cpumode == PRELUDE_MODE_KERNEL)
		return n->kernel_turn;
	return f->cpumode == PRELUDE_MODE_USER && ev->cpumode == PRELUDE_MODE_USER ? n->user_turn
										   : 0;
}

/* The place of an ip in a table of 4096 entries. */
enum { PRELUDE_NEAR_PLACES = 4096 };
static inline size_t prelude_near_place(uint64_t ip)
{
	return ip * 0x9e3779b97f4a7c15ull >> 52;
}

#endif
