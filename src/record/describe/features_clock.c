/* SPDX-License-Identifier: MIT */
/* The features of the header that describe a chosen clock. */

#include <time.h>

#include "base/now.h"
#include "record/describe/features.h"

enum { NS_PER_S = 1000000000, READINGS = 5, CLOCK_DATA_VERSION = 1 };

/*
 * Reads the clock of the day between two readings of ours. It keeps the shortest of
 * several tries.
 */
static void features_read_both(clockid_t clock, uint64_t *ret_day_ns, uint64_t *ret_clock_ns)
{
	uint64_t best_ns = UINT64_MAX;

	for (int i = 0; i < READINGS; i++) {
		const uint64_t before = now_ns(clock), day = now_ns(CLOCK_REALTIME);
		const uint64_t after = now_ns(clock);

		if (after - before >= best_ns)
			continue;
		best_ns = after - before;
		*ret_day_ns = day;
		*ret_clock_ns = before + (after - before) / 2;
	}
}

int features_add_clock(struct features *f, const struct capture_clock *c)
{
	struct outbuf resolution = { 0 }, data = { 0 };
	uint64_t day_ns = 0, clock_ns = 0;
	struct timespec step;

	if (!c->is_chosen)
		return 0;
	if (clock_getres(c->id, &step) == 0) {
		perfdata_put_u64(&resolution,
				 (uint64_t)step.tv_sec * NS_PER_S + (uint64_t)step.tv_nsec);
		TRY(features_add(f, FEAT_CLOCKID, &resolution));
	}
	features_read_both(c->id, &day_ns, &clock_ns);
	perfdata_put_u32(&data, CLOCK_DATA_VERSION);
	perfdata_put_u32(&data, (uint32_t)c->id);
	perfdata_put_u64(&data, day_ns);
	perfdata_put_u64(&data, clock_ns);
	return features_add(f, FEAT_CLOCK_DATA, &data);
}
