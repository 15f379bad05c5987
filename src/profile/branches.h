/* SPDX-License-Identifier: MIT */
/*
 * Branch stacks: with branches=1 each entry of a sample's branch stack counts as a sample of period
 * 1, at the target of the branch.
 */
#ifndef SONDE_PROFILE_BRANCHES_H
#define SONDE_PROFILE_BRANCHES_H

#include "model/event.h"
#include "profile/types.h"

/*
 * Finds the places of an entry and fills p->branch. *ret is the place of its row: the target, with
 * the mode of the sample. Returns 1, or 0 if the entry is hidden (hide-unresolved=1).
 */
int branches_find(struct profile *p, const struct event *ev, const struct sonde_branch *branch,
		  uint32_t *ret);
/* Counts the type of a branch that was added to a cell. */
int branches_count(struct profile *p, const struct event *ev, const struct sonde_branch *branch,
		   uint32_t cell);
/* With perf's rule the types are those of the rows' first branches. */
void branches_count_rows(struct profile *p);

int value_mispredict(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_in_tx(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_cycles(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_branch_sym(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_branch_addr(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);
int value_branch_ipc(struct profile *p, uint64_t raw, bool is_frame, struct profile_value *ret);

extern const struct value_order order_branch_dso, order_branch_sym, order_branch_addr,
	order_branch_flag, order_cycles;

#endif
