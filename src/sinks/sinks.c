/* SPDX-License-Identifier: MIT */
#include "sinks/sink.h"

/* One line for each; the first is the default. */
#define SINKS(SINK)                \
	SINK(text, "text")         \
	SINK(jsonl, "jsonl")       \
	SINK(evlist, "evlist")     \
	SINK(evlist_json, "evlist-json") \
	SINK(buildids, "buildids") \
	SINK(buildids_json, "buildids-json") \
	SINK(info, "info")         \
	SINK(info_json, "info-json") \
	SINK(perfdata, "perfdata")

#define OPS(name, word) &name##_sink_ops,
const struct sink_ops *const sinks[NR_SINKS] = { SINKS(OPS) };

#define NAME(name, word) word,
const char *const sink_names[] = { SINKS(NAME) NULL };

_Static_assert(sizeof(sink_names) / sizeof(*sink_names) == NR_SINKS + 1, "a name for each sink");
