/* SPDX-License-Identifier: MIT */
/* Names: of handlers, of arguments, and how near two names are. */
#include "prelude.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *const prelude_arg_names[PRELUDE_NR_COMMON + 1] = {
	[PRELUDE_EVENT_NAME] = "event_name",
	[PRELUDE_CONTEXT] = "context",
	[PRELUDE_CPU] = "common_cpu",
	[PRELUDE_SECS] = "common_secs",
	[PRELUDE_NSECS] = "common_nsecs",
	[PRELUDE_PID] = "common_pid",
	[PRELUDE_COMM] = "common_comm",
	[PRELUDE_CALLCHAIN] = "common_callchain",
	[PRELUDE_SAMPLE_DICT] = "perf_sample_dict",
};

const char *const prelude_unhandled_keys[PRELUDE_NR_COMMON - PRELUDE_CPU] = {
	"common_cpu", "common_s", "common_ns", "common_pid", "common_comm", "common_callchain",
};

int prelude_handler_name(const struct sonde_schema *sc, char *buf, size_t size)
{
	int n = snprintf(buf, size, "%s__%s", sonde_schema_system(sc), sonde_schema_event(sc));

	return n < 0 || (size_t)n >= size ? -ENAMETOOLONG : 0;
}

const struct sonde_field *prelude_fields(const struct sonde_schema *sc, size_t *ret_nr)
{
	size_t nr;
	const struct sonde_field *f = sonde_schema_fields(sc, &nr);

	while (nr && f->is_common) {
		f++;
		nr--;
	}
	*ret_nr = nr;
	return f;
}

#define LONGEST 128

size_t prelude_distance(const char *a, const char *b, size_t max)
{
	/* Three rows of the usual table: d[i][j] = distance between the first i letters of a and the first j of b. */
	uint8_t rows[3][LONGEST + 1];
	size_t la = strlen(a), lb = strlen(b);

	if (la > LONGEST || lb > LONGEST || (la > lb ? la - lb : lb - la) > max)
		return max + 1;
	for (size_t j = 0; j <= lb; j++)
		rows[0][j] = (uint8_t)j;
	for (size_t i = 1; i <= la; i++) {
		uint8_t *now = rows[i % 3], *last = rows[(i + 2) % 3], *older = rows[(i + 1) % 3];

		now[0] = (uint8_t)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned int best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1u < best)
				best = last[j] + 1u;
			if (now[j - 1] + 1u < best)
				best = now[j - 1] + 1u;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    older[j - 2] + 1u < best)
				best = older[j - 2] + 1u;
			now[j] = (uint8_t)best;
		}
	}
	return rows[la % 3][lb] > max ? max + 1 : rows[la % 3][lb];
}
