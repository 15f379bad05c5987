/* SPDX-License-Identifier: MIT */
/* The features of the header that describe the events. */

#include "record/describe/features.h"

/*
 * u32 nr, nr x { str name, u32 index of the leader, u32 number of events }: groups of more than one
 */
int features_add_groups(struct features *f, const struct capture_events *events)
{
	struct outbuf groups = { 0 }, o = { 0 };
	uint32_t nr = 0;
	int r = 0;

	for (size_t i = 0; i < events->list.n; i++) {
		const struct capture_event *e = &events->list.v[i];
		const size_t members = e->leader == i ? capture_events_members(events, i) : 0;

		if (members < 2)
			continue;
		nr++;
		perfdata_put_string(&groups, e->group_name ? e->group_name : "{anon_group}");
		perfdata_put_u32(&groups, (uint32_t)i);
		perfdata_put_u32(&groups, (uint32_t)members);
	}
	if (nr) {
		perfdata_put_u32(&o, nr);
		outbuf_put(&o, groups.data, groups.len);
		o.failed |= groups.failed;
		r = features_add(f, FEAT_GROUP_DESC, &o);
	}
	outbuf_done(&groups);
	return r;
}
