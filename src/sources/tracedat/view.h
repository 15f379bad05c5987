/* SPDX-License-Identifier: MIT */
/* What only recordings of trace-cmd have, for sinks that print it. */
#ifndef SONDE_SOURCES_TRACEDAT_VIEW_H
#define SONDE_SOURCES_TRACEDAT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "model/event.h"

struct source;
struct tracedat_source;

/* NULL for other inputs, and for NULL. */
struct tracedat_source *tracedat_view_of(struct source *s);
/* The name in the saved command lines; NULL if they do not have the task. */
const char *tracedat_saved_comm(const struct tracedat_source *s, int32_t pid);
/* The number of cpus of the recorded machine, as far as the file says. */
uint32_t tracedat_count_cpus(const struct tracedat_source *s);
/* Names of buffers: "" is the top buffer. NULL after the last. */
const char *tracedat_buffer_name(const struct tracedat_source *s, unsigned i);
/* The name of the buffer that has the event. */
const char *tracedat_buffer_of(const struct tracedat_source *s, const struct event *ev);
/* True if times are shown as they were recorded, as trace-cmd does for some clocks. */
bool tracedat_has_plain_times(const struct tracedat_source *s);

#endif
