/* SPDX-License-Identifier: MIT */
/* Finds the clock of the events, from their attrs and the features CLOCKID and CLOCK_DATA. */

#include "sources/perfdata/perfdata.h"

/*
 * CLOCKID: u64 resolution in ns.
 * CLOCK_DATA: u32 version | u32 clock | u64 time of day | u64 time of the clock, ns.
 */
void perfdata_clock(struct source *source, struct source_clock *ret)
{
	struct perfdata_source *s = perfdata_of(source);
	struct source_clock c = { .id = -1, .reference_id = -1 };
	uint32_t version, id;
	struct bytes b;

	/* All events of a recording have the same clock, because their times are compared. */
	c.is_known = s->events.n > 0;
	if (c.is_known && s->events.v[0].attr.use_clockid)
		c.id = s->events.v[0].attr.clockid;
	if (perfdata_section(s, FEAT_CLOCKID, &b) > 0)
		c.has_resolution = bytes_u64(&b, "resolution", &c.resolution_ns) >= 0;
	if (perfdata_section(s, FEAT_CLOCK_DATA, &b) > 0 &&
	    bytes_u32(&b, "version", &version) >= 0 && bytes_u32(&b, "clock", &id) >= 0 &&
	    bytes_u64(&b, "time of day", &c.wall_ns) >= 0 &&
	    bytes_u64(&b, "time", &c.clock_ns) >= 0 && c.wall_ns) { /* 0: never filled in */
		c.reference_id = (int32_t)id;
		c.has_reference = true;
	}
	err_clear();
	*ret = c;
}
