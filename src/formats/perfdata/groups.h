/* SPDX-License-Identifier: MIT */
/*
 * The section GROUP_DESC: u32 nr, nr x { name, u32 index of the leader, u32 members }. No event is
 * in two groups.
 */
#ifndef SONDE_FORMATS_PERFDATA_GROUPS_H
#define SONDE_FORMATS_PERFDATA_GROUPS_H

#include "base/bytes.h"

struct perfdata_group {
	const char *name; /* borrowed, not NUL-terminated; empty if the group has no name */
	size_t name_len;
	uint32_t leader, members; /* members includes the leader */
};

/* Reads the next of the groups that the section counts. */
int perfdata_group_read(struct bytes *b, struct perfdata_group *ret);

#endif
