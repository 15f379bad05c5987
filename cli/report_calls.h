/* SPDX-License-Identifier: MIT */
/* The call tree of a row of a profile, with the texts of its frames, for report_graph.h. */
#ifndef SONDE_CLI_REPORT_CALLS_H
#define SONDE_CLI_REPORT_CALLS_H

#include "report_options.h"

#include <sonde/sonde.h>

/* Memory that is used again for each tree. */
struct report_calls {
	/* owned; blocks of nodes, linked by the first node of each block */
	struct report_call *nodes;
	size_t nr, room;
	char **names; /* owned; texts of frames by place, made when first needed */
	size_t nr_names;
	char **notes; /* owned; those of the nodes; NULL without branches */
	size_t nr_notes, notes_room;
};

/*
 * Makes the tree of a row; it is valid until the next call. Nodes of less than `least` have no
 * callees. Returns 1 and the tree's first root, 0 if there is none, or a negative errno.
 */
int report_calls_make(struct report_calls *c, struct sonde_profile *p, const struct report_args *a,
		      uint32_t table, uint64_t row, uint64_t least, struct report_call **ret);
void report_calls_done(struct report_calls *c);

#endif
