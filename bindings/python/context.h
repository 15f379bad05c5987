/* SPDX-License-Identifier: MIT */
/* The capsule that scripts call `context`, and the functions of perf_trace_context. */
#ifndef SONDE_PY_CONTEXT_H
#define SONDE_PY_CONTEXT_H

#include "cpython.h"
#include "sonde/sonde.h"

/*
 * The state behind the functions of perf_trace_context; owned by the capsule that scripts call
 * `context`.
 */
struct perf_context {
	struct sonde_session *s;
	const struct sonde_event *ev; /* NULL outside an event */
	const struct sonde_rules *rules;
	bool itrace_is_set; /* perf_set_itrace_options() was called, or --itrace was given */
};
/* In context.c: makes the capsule. NULL with an exception. */
PyObject *context_new(struct sonde_session *s, struct perf_context **ret);

#endif
