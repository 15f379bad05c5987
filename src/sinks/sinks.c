/* SPDX-License-Identifier: MIT */
#include "sinks/sink.h"

#define SINK(name, word, folder, command) &name##_sink_ops,
const struct sink_ops *const sinks[NR_SINKS] = {
#include "sinks/table.def"
};
#undef SINK

#define SINK(name, word, folder, command) word,
const char *const sink_names[] = {
#include "sinks/table.def"
	NULL
};
#undef SINK
