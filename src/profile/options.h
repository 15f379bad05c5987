/* SPDX-License-Identifier: MIT */
/* The text form of a profile: see sonde_profile_new(). */
#ifndef SONDE_PROFILE_OPTIONS_H
#define SONDE_PROFILE_OPTIONS_H

#include <stdint.h>

enum callgraph_order { CALLGRAPH_NONE, CALLGRAPH_CALLEE, CALLGRAPH_CALLER };
enum callgraph_key { CALLGRAPH_FUNCTION, CALLGRAPH_ADDRESS, CALLGRAPH_SRCLINE };
enum tree_order { TREE_BY_SIZE, TREE_BY_PLACE };
enum profile_groups { GROUPS_RECORDED, GROUPS_NONE, GROUPS_ALL };

enum { PROFILE_WEIGHTS = 4 };

struct profile_options {
	char *keys;             /* owned, like all texts here; NULL if not given */
	uint32_t callgraph;     /* enum callgraph_order */
	uint32_t callgraph_key; /* enum callgraph_key */
	uint32_t children, borrow_chains;
	uint32_t groups; /* enum profile_groups */
	uint32_t raw_fields, hide_unresolved, nanoseconds, parents_only;
	uint32_t branches, branch_history, blocks;
	uint32_t full_source_path, empty_tables;
	uint32_t tree_order; /* enum tree_order */
	uint32_t weight_as_period;
	char *parent, *ignore_callees;
	char *comms, *dsos, *symbols, *pids, *tids;
	char *weights;                           /* the lines weight=NAME */
	uint64_t time_quantum, max_keys, socket; /* socket: KEY_NO_NUMBER for all */
};

int profile_options_parse(struct profile_options *o, const char *text, const char *origin);
void profile_options_done(struct profile_options *o);

#endif
