/* SPDX-License-Identifier: MIT */
/* The section GROUP_DESC: u32 nr, nr x { name, u32 index of the leader, u32 members }; no event is in two groups. */
#ifndef SONDE_FORMATS_PERFDATA_GROUPS_H
#define SONDE_FORMATS_PERFDATA_GROUPS_H

#include "base/bytes.h"

struct perfdata_group {
	const char *name; /* lent, not NUL-terminated; empty for those that were given none */
	size_t name_len;
	uint32_t leader, members; /* the leader counts as one */
};

/* The next of the groups that the section counts. */
int perfdata_group_read(struct bytes *b, struct perfdata_group *ret);

#endif
