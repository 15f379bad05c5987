/* SPDX-License-Identifier: MIT */
/*
 * The kernel's side of a recording of ftrace's buffers: an instance of tracefs with the clock, the
 * size, the tasks and the events that the options name.
 */
#ifndef SONDE_RECORD_FTRACE_BUFFERS_H
#define SONDE_RECORD_FTRACE_BUFFERS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/cpus.h"
#include "capture/instance.h"
#include "capture/say.h"
#include "capture/setup/capture.h"
#include "formats/tracedat/page.h"

struct ftrace_buffers {
	struct trace_instance instance;
	struct ring_layout layout;
	char clock[32]; /* "perf" */
	uint64_t bytes; /* of the buffer of a cpu, as it was asked for */
};

struct ftrace_wishes {
	const char *clock; /* as in trace_clock; "perf" if NULL */
	const char *size;  /* of the buffer of a cpu, as "8M"; NULL: `bytes` of it */
	uint64_t bytes;    /* 0: 4 MiB */
	/* the size of a page, where the kernel (6.8) and the buffer's size allow it; 0: its own */
	unsigned page_kb;
	bool takes_all; /* all tracepoints; otherwise those that are marked in_ftrace */
};

/* The cpus whose buffers are read: the chosen ones, otherwise all that a task may run on. */
int ftrace_buffers_cpus(const struct target *t, struct capture_cpus *ret);
/* Opens trace_pipe_raw of a cpu, which does not block. */
int ftrace_buffers_open_cpu(const struct ftrace_buffers *b, int cpu, int *ret_fd);
/* Makes the instance, switched off. Instances of recorders that have died are removed. */
int ftrace_buffers_make(struct ftrace_buffers *b, const struct tracefs *top, const struct say *say);
/* Switches the events on; the instance stays switched off. */
int ftrace_buffers_set_up(struct ftrace_buffers *b, const struct capture *c,
			  const struct ftrace_wishes *wishes);
/* The number behind `name` in the text of per_cpu/cpuN/stats; 0 if there is none. */
uint64_t ftrace_buffers_stat(const char *stats, const char *name);
/* The events that a buffer had no room for, by that text. */
uint64_t ftrace_buffers_lost(const char *stats);

#endif
