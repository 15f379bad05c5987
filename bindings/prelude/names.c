/* SPDX-License-Identifier: MIT */
/* Names of handlers and of arguments. */
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

const char *const prelude_define_names[4] = {
	[SONDE_DEFINE_FLAG_FIELD] = "define_flag_field",
	[SONDE_DEFINE_FLAG_VALUE] = "define_flag_value",
	[SONDE_DEFINE_SYMBOLIC_FIELD] = "define_symbolic_field",
	[SONDE_DEFINE_SYMBOLIC_VALUE] = "define_symbolic_value",
};

const struct prelude_context_function prelude_context_functions[PRELUDE_NR_CONTEXT] = {
	[PRELUDE_PC] = { "common_pc", "common_preempt_count" },
	[PRELUDE_FLAGS] = { "common_flags", "common_flags" },
	[PRELUDE_LOCK_DEPTH] = { "common_lock_depth", "common_lock_depth" },
};

int32_t prelude_context_value(const struct sonde_session *s, const struct sonde_event *ev,
			      enum prelude_context which)
{
	const struct sonde_schema *sc = sonde_event_schema(s, ev);
	const struct sonde_field *f =
		sc ? sonde_schema_field(sc, prelude_context_functions[which].field) : NULL;

	return f ? (int32_t)sonde_event_u64(ev, f) : 0;
}

int prelude_handler_name(const struct sonde_schema *sc, const char *separator, char *buf,
			 size_t size)
{
	int n = snprintf(buf, size, "%s%s%s", sonde_schema_system(sc), separator,
			 sonde_schema_event(sc));

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

bool prelude_pid_is_thread(const struct sonde_schema *sc)
{
	size_t nr = 0;
	const struct sonde_field *fields = sonde_schema_fields(sc, &nr);

	for (size_t i = 0; i < nr; i++)
		if (fields[i].is_common && !strcmp(fields[i].name, "common_pid"))
			return false;
	return nr > 0;
}

const char *prelude_meant(const struct sonde_nearest *n)
{
	const uint32_t quarter = (uint32_t)strlen(n->wanted) / 4;

	if (!n->distance || n->distance > (quarter ? quarter : 1))
		return NULL;
	return n->meant;
}
