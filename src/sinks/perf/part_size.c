/* SPDX-License-Identifier: MIT */
#include "sinks/perf/part_size.h"

#include <stdlib.h>
#include <string.h>

#include "base/err.h"

int part_size_parse(const char *text, struct part_size *ret)
{
	static const struct {
		const char *unit;
		bool is_time;
		uint64_t factor;
	} units[] = {
		{ "B", false, 1 },
		{ "K", false, 1 << 10 },
		{ "M", false, 1 << 20 },
		{ "G", false, 1 << 30 },
		{ "ns", true, 1 },
		{ "us", true, 1000 },
		{ "ms", true, 1000000 },
		{ "s", true, 1000000000 },
		{ "m", true, UINT64_C(60000000000) },
		{ "h", true, UINT64_C(3600000000000) },
	};
	char *end;
	uint64_t n;

	errno = 0;
	n = *text >= '0' && *text <= '9' ? strtoull(text, &end, 10) : 0;
	for (size_t i = 0; n && !errno && i < sizeof(units) / sizeof(*units); i++) {
		if (strcmp(end, units[i].unit) != 0 || n > UINT64_MAX / units[i].factor)
			continue;
		*ret = (struct part_size){ 0 };
		*(units[i].is_time ? &ret->ns : &ret->bytes) = n * units[i].factor;
		return 0;
	}
	return err_set(
		-EINVAL,
		"--every %s: a size (1G, 512M, 64K) or a time (60s, 500ms, 5m, 1h) is expected",
		text);
}
