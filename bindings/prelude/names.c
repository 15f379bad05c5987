/* SPDX-License-Identifier: MIT */
/* Names: of handlers and of arguments. */
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
