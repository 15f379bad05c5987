/* SPDX-License-Identifier: MIT */
/*
 * Branch stacks as parts of call chains (branch-history=1). The path of a sample is its branches,
 * each with its target and its source, then its call chain. A loop of equal branches is one of
 * them, with a number of iterations.
 *
 *	callgraph=callee  to from | to from | ... | innermost ... outermost   newest branch first
 *	callgraph=caller  to from | to from | ... | outermost ... innermost   oldest branch first
 *
 * Each cell has the sums of its branches, one for each frame of its path.
 */
#ifndef SONDE_PROFILE_HISTORY_H
#define SONDE_PROFILE_HISTORY_H

#include "model/event.h"
#include "profile/branch_types.h"
#include "profile/types.h"

enum history_kind { HISTORY_CHAIN, HISTORY_TARGET, HISTORY_SOURCE };

/* The frame of a sample's path. */
struct history_step {
	uint64_t ip, from, flags; /* from, flags: of the branch */
	uint64_t loop_cycles;
	uint32_t loops; /* iterations that were left out after a source */
	uint8_t kind;   /* enum history_kind */
	uint8_t cpumode;
};

/* The branches of a frame; sums over samples. */
struct history_sums {
	uint64_t branches, predicted, aborts, cycles;
	uint64_t loops, loop_cycles, sources;
	/* Number of the first and the last sample, times 4, and the kind of the frame then. */
	uint64_t first, last;
	struct branch_types types; /* of targets */
};

struct history {
	VEC(struct history_step) steps; /* of the current path, as profile.frames */
	VEC(struct history_sums) sums;
	VEC(uint64_t) begins;          /* indexed by cell: in sums */
	VEC(struct history_sums) tree; /* of the nodes of profile.tree: see sums_at there */
};

int history_init(struct profile *p);
void history_done(struct profile *p);
/* True if the branches of the event's samples are parts of their chains. */
bool history_has_branches(const struct profile *p, const struct event *ev);
/* Fills profile.frames with the places of a sample's path. Returns their number. */
int history_fill(struct profile *p, const struct event *ev);
/* The same for a chain without branches that profile.frames already has. */
int history_fill_chain(struct profile *p);
/* Adds the current path's branches to the sums of its cell. */
int history_add(struct profile *p, uint32_t cell);
void history_sum(struct history_sums *to, const struct history_sums *more);

/* The sums of the frame at an index of call_paths.frames. */
static inline const struct history_sums *history_at(const struct profile *p, uint32_t cell,
						    uint32_t frame_at)
{
	const uint32_t begin = pathset_begin(&p->call_paths, cell_path(p, cell));

	return &p->history->sums.v[p->history->begins.v[cell] + frame_at - begin];
}

#endif
