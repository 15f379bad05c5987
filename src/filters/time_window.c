/* SPDX-License-Identifier: MIT */
#include "filters/time_window.h"

#include <string.h>

#include "base/err.h"

#define NS_PER_S    1000000000u
#define MAX_SECONDS (UINT64_MAX / NS_PER_S) /* 18446744073 s: 584 years after boot */

/* "12", "12.5", ".5", "12."; the whole of p[0..len) must be used. */
static bool parse_seconds(const char *p, size_t len, uint64_t *ret_ns)
{
	const char *end = p + len, *start = p;
	uint64_t s = 0, ns = 0, unit = NS_PER_S;

	for (; p < end && *p >= '0' && *p <= '9'; p++) {
		s = s * 10 + (unsigned)(*p - '0');
		if (s > MAX_SECONDS)
			return false;
	}
	if (p < end && *p == '.') {
		if (len == 1)
			return false;
		for (p++; p < end && *p >= '0' && *p <= '9'; p++) {
			if (unit == 1)
				return false;
			unit /= 10;
			ns += (unsigned)(*p - '0') * unit;
		}
	}
	if (p != end || p == start || __builtin_add_overflow(s * NS_PER_S, ns, ret_ns))
		return false;
	return true;
}

int time_window_parse(const char *text, struct time_window *ret)
{
	struct time_window w = TIME_WINDOW_ALL;
	const char *comma = strchr(text, ',');

	if (!comma)
		return err_set(-EINVAL,
			       "Invalid time string '%s': a window is FROM,TO in seconds; either "
			       "side may be empty",
			       text);
	if (comma != text && !parse_seconds(text, (size_t)(comma - text), &w.from_ns))
		return err_set(-EINVAL,
			       "Invalid time string '%s': the start is not a number of seconds "
			       "with up to 9 decimals",
			       text);
	if (comma[1] && !parse_seconds(comma + 1, strlen(comma + 1), &w.to_ns))
		return err_set(-EINVAL,
			       "Invalid time string '%s': the end is not a number of seconds with "
			       "up to 9 decimals",
			       text);
	if (!w.to_ns)
		w.to_ns = UINT64_MAX;
	if (w.to_ns < w.from_ns)
		return err_set(-EINVAL, "Invalid time string '%s': it ends before it begins", text);
	*ret = w;
	return 0;
}
