/* SPDX-License-Identifier: MIT */
#include "sinks/sink.h"

/* One line for each; the first is the default. */
#define SINKS(SINK)  \
	SINK(text)   \
	SINK(jsonl)  \
	SINK(evlist) \
	SINK(buildids)

#define OPS(name) &name##_sink_ops,
const struct sink_ops *const sinks[] = { SINKS(OPS) };

#define NAME(name) #name,
const char *const sink_names[] = { SINKS(NAME) NULL };
