/* SPDX-License-Identifier: MIT */
/*
 * The frames that the stacks of a table refer to: each place once, numbered from 0 in the order of
 * their first occurrence. Numbers never change.
 *
 *	stack 3   0 | 1 | 5	positions, innermost first
 *	frames    ip          symbol         offset  dso
 *	       0  0xffff...   finish_task    0x42    [kernel.kallsyms]
 *	       1  ...
 *
 * The same addresses are other places after another program was mapped there. A chain is therefore
 * looked up once for each state of the mappings that it was found with.
 */
#ifndef SONDE_COLUMNS_FRAMES_H
#define SONDE_COLUMNS_FRAMES_H

#include "base/outbuf.h"
#include "base/vec.h"
#include "columns/table.h"

struct frames {
	struct table table;       /* columns ip, symbol, offset, dso; the rows are never flushed */
	struct dictionary places; /* struct frames_place, as bytes; its codes are the rows */
	/* Chains with their addresses and the stamps of mappings, and the code of each stack. */
	struct dictionary chains;
	VEC(int32_t) stacks;
	struct outbuf key, positions, scratch;
};

/* Returns 0 and *ret, which frames_free() frees; -ENOMEM. */
int frames_new(struct frames **ret);
void frames_free(struct frames *f);
/*
 * The code of a chain in a dictionary of lists of positions. The event is as the session delivers
 * it. Returns 0, -ENOMEM, -EFBIG.
 */
int frames_code(struct frames *f, const struct event *ev, const struct sonde_frame *chain,
		size_t nr, struct dictionary *stacks, int32_t *ret);

#endif
