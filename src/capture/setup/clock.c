/* SPDX-License-Identifier: MIT */
#include "capture/setup/clock.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>

#include "base/err.h"
#include "capture/probe.h"

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

static int clock_find(const char *text, int32_t *ret)
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

/* Counters of the processor may accept fewer clocks than this; explain_open() then reports it. */
static bool clock_kernel_takes(int32_t clock)
{
	struct perf_event_attr a = {
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.use_clockid = 1,
		.clockid = clock,
	};

	return capture_probe(&a) != EINVAL;
}

int capture_clock_parse(struct capture_clock *ret, const char *text)
{
	struct capture_clock c = { .is_chosen = true };
	struct timespec now;

	TRY(clock_find(text, &c.id));
	if (clock_gettime(c.id, &now) < 0)
		return err_errno(errno, "-k %s: this clock cannot be read", text);
	if (!clock_kernel_takes(c.id))
		return err_set(-EINVAL,
			       "-k %s: the kernel does not stamp events with this clock; it does "
			       "with monotonic, monotonic_raw, boottime, realtime and tai",
			       text);
	*ret = c;
	return 0;
}
