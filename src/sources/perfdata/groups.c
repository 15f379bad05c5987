/* SPDX-License-Identifier: MIT */
/* The recorded groups of event types: the section GROUP_DESC. */

#include "formats/perfdata/groups.h"

#include "base/err.h"
#include "sources/perfdata/perfdata.h"
#include "sources/perfdata/view.h"

/* The i-th group; false if there is none, or if the section is damaged before it. */
static bool groups_read(struct perfdata_view *view, size_t i, struct perfdata_group *ret)
{
	struct bytes b = { 0 };
	uint32_t nr;

	if (!view || perfdata_view_section(view, FEAT_GROUP_DESC, &b) <= 0 ||
	    bytes_u32(&b, "number of groups", &nr) < 0 || i >= nr)
		return false;
	for (i++; i; i--) {
		if (perfdata_group_read(&b, ret) < 0)
			return false;
	}
	return true;
}

bool perfdata_group_at(struct source *source, size_t i, struct source_group *ret)
{
	struct perfdata_source *s = perfdata_of(source);
	const struct sonde_schema **members;
	struct perfdata_group g;

	if (!groups_read(perfdata_view_of(source), i, &g)) {
		err_clear();
		return false;
	}
	if (g.leader >= s->events.n || g.members > s->events.n - g.leader)
		return false;
	members = arena_array(&s->arena, g.members + 1, sizeof(*members));
	if (!members)
		return false;
	for (uint32_t m = 0; m < g.members; m++)
		members[m] = s->events.v[g.leader + m].schema;
	*ret = (struct source_group){
		.name = g.name,
		.name_len = g.name_len,
		.members = members,
		.nr_members = g.members,
	};
	return true;
}
