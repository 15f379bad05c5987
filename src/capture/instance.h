/* SPDX-License-Identifier: MIT */
/*
 * An instance of tracefs: ftrace's buffers, clock, events, filters and triggers of our own. Its
 * name, sonde-PID-STARTTIME, says which process made it, so that one whose process has died can be
 * found. The top buffer and other instances are never changed.
 */
#ifndef SONDE_CAPTURE_INSTANCE_H
#define SONDE_CAPTURE_INSTANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/say.h"
#include "capture/tracefs.h"

struct trace_instance {
	struct tracefs at; /* root is the instance's folder; "" if there is none */
};

/* Made switched off: nothing is recorded until "1" is written to tracing_on. */
int trace_instance_make(struct trace_instance *ret, const struct tracefs *top);
/* Removes those whose process is gone, and reports each. */
void trace_instance_remove_stale(const struct tracefs *top, const struct say *say);
/*
 * Writes a text to a file of the instance; files with lists take it as one more entry. Returns 0,
 * or the negative errno without a message.
 */
int trace_instance_write(const struct trace_instance *i, const char *path, const char *text);
/* All files of it must be closed. */
void trace_instance_remove(struct trace_instance *i);

#endif
