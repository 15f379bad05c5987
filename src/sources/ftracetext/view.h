/* SPDX-License-Identifier: MIT */
/* What only ftrace's text in the latency format has, for sinks that print it as it is. */
#ifndef SONDE_SOURCES_FTRACETEXT_VIEW_H
#define SONDE_SOURCES_FTRACETEXT_VIEW_H

#include <stddef.h>
#include <stdint.h>

#include "model/event.h"

struct ftracetext_source;
struct source;

/* NULL if the source is no text in the latency format. */
const struct ftracetext_source *ftracetext_latency_view_of(struct source *s);
/* The lines in front of the first event. Not NUL-terminated. */
const char *ftracetext_latency_head(const struct ftracetext_source *s, size_t *ret_len);
/* The cpus of the machine; 0 if no trace.dat stores the text, which alone says it. */
uint32_t ftracetext_latency_cpus(const struct ftracetext_source *s);
/* The lines of the event: in a record of losses those in front of the next event. */
const char *ftracetext_latency_lines(const struct ftracetext_source *s, const struct event *ev,
				     size_t *ret_len);

#endif
