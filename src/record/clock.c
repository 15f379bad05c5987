/* SPDX-License-Identifier: MIT */
#include "record/clock.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "base/err.h"
#include "base/now.h"
#include "capture/probe.h"

enum { NS_PER_S = 1000000000, READINGS = 5, CLOCK_DATA_VERSION = 1 };

static const struct {
	const char *name;
	clockid_t id;
} clocks[] = {
	{ "monotonic", CLOCK_MONOTONIC },
	{ "monotonic_raw", CLOCK_MONOTONIC_RAW },
	{ "realtime", CLOCK_REALTIME },
	{ "boottime", CLOCK_BOOTTIME },
	{ "tai", CLOCK_TAI },
	{ "mono", CLOCK_MONOTONIC },
	{ "raw", CLOCK_MONOTONIC_RAW },
	{ "real", CLOCK_REALTIME },
	{ "boot", CLOCK_BOOTTIME },
};

static int find(const char *text, int32_t *ret)
{
	const char *name = strncasecmp(text, "CLOCK_", 6) ? text : text + 6;
	char *end;
	long nr;

	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (!strcasecmp(name, clocks[i].name)) {
			*ret = clocks[i].id;
			return 0;
		}
	errno = 0;
	nr = strtol(text, &end, 10);
	if (end == text || *end || errno || nr < INT32_MIN || nr > INT32_MAX)
		return err_set(-EBADR,
			       "-k %s: the clocks are monotonic, monotonic_raw, boottime, realtime "
			       "and tai, or their numbers",
			       text);
	*ret = (int32_t)nr;
	return 0;
}

/* Counters of the processor may know fewer clocks than this: explain_open() tells then. */
static bool kernel_takes(int32_t clock)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE,
				     .config = PERF_COUNT_SW_DUMMY,
				     .use_clockid = 1,
				     .clockid = clock };

	return capture_probe(&a) != EINVAL;
}

int record_clock_parse(struct record_clock *ret, const char *text)
{
	struct record_clock c = { .is_chosen = true };
	struct timespec now;

	TRY(find(text, &c.id));
	if (clock_gettime(c.id, &now) < 0)
		return err_errno(errno, "-k %s: this clock cannot be read", text);
	if (!kernel_takes(c.id))
		return err_set(-EINVAL,
			       "-k %s: the kernel does not stamp events with this clock; it does "
			       "with monotonic, monotonic_raw, boottime, realtime and tai",
			       text);
	*ret = c;
	return 0;
}

/* The day's clock read between two readings of ours: of several tries the one that took least. */
static void read_both(clockid_t clock, uint64_t *ret_day_ns, uint64_t *ret_clock_ns)
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

int record_clock_add_features(const struct record_clock *c, struct features *f)
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
	read_both(c->id, &day_ns, &clock_ns);
	perfdata_put_u32(&data, CLOCK_DATA_VERSION);
	perfdata_put_u32(&data, (uint32_t)c->id);
	perfdata_put_u64(&data, day_ns);
	perfdata_put_u64(&data, clock_ns);
	return features_add(f, FEAT_CLOCK_DATA, &data);
}
