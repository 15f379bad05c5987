/* SPDX-License-Identifier: MIT */
#include "formats/perfdata/groups.h"

#include <string.h>

#include "formats/perfdata/header.h"

/* The text that recorders write for a group without a name. */
static const char nameless[] = "{anon_group}";

int perfdata_group_read(struct bytes *b, struct perfdata_group *ret)
{
	struct perfdata_group g = { 0 };

	TRY(perfdata_string_read(b, "name", &g.name, &g.name_len));
	TRY(bytes_u32(b, "leader", &g.leader));
	TRY(bytes_u32(b, "members", &g.members));
	if (g.name_len == sizeof(nameless) - 1 && !memcmp(g.name, nameless, g.name_len))
		g.name_len = 0;
	*ret = g;
	return 0;
}
