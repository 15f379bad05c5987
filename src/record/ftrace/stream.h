/* SPDX-License-Identifier: MIT */
/*
 * Tracepoints as a stream (ftrace=1, output to a pipe): they are taken out of ftrace's buffers, and
 * passed on as the samples that a perf event would have given. An event costs the kernel less there
 * than in a ring of perf's: docs/speed.md has figures.
 *
 *	tracepoint -> instance of tracefs -> trace_pipe_raw -> page -> samples --.
 *	fork, exec ... -> dummy event of perf -> ring ---------------------------+-> drain -> pipe
 *
 * The buffers have the thread of an event only. Its process, and whether it is one of those to
 * record, are known by the records of forks, which precede it: the drain takes these first.
 *
 *	TRY(ftrace_stream_new(&s, &capture, is_wish, say));  // before the events are configured
 *	TRY(ftrace_stream_check(s, &capture.events));        // when they are
 *	TRY(ftrace_stream_open(s, &capture, workload, &drain));  // once the filters are complete
 *	ftrace_stream_switch(s, true);
 *	... drain_pass() calls the stream ...
 *	TRY(ftrace_stream_count(s, &counts));
 *	TRY(ftrace_stream_end(s));
 *	ftrace_stream_free(s);
 */
#ifndef SONDE_RECORD_FTRACE_STREAM_H
#define SONDE_RECORD_FTRACE_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "capture/say.h"
#include "capture/setup/capture.h"
#include "record/drain/drain.h"

struct ftrace_stream;

/*
 * Marks the tracepoints, which are then not opened as perf events, and makes the instance. is_wish:
 * if that is not possible, *ret is NULL and nothing is marked; otherwise it is an error.
 */
int ftrace_stream_new(struct ftrace_stream **ret, struct capture *c, bool is_wish,
		      const struct say *say);
/* Refuses marked events that are to be recorded with more; with is_wish they lose their mark. */
int ftrace_stream_check(struct ftrace_stream *s, struct capture_events *events);
/*
 * Opens the buffers, switched off. workload: the command's process, whose events count from its
 * exec on; 0 if there is none. The drain is borrowed, and is given the stream's samples.
 */
int ftrace_stream_open(struct ftrace_stream *s, const struct capture *c, pid_t workload,
		       struct drain *drain);
int ftrace_stream_switch(struct ftrace_stream *s, bool on);
/* Descriptors that are readable when a buffer is filling. */
size_t ftrace_stream_nr_fds(const struct ftrace_stream *s);
int ftrace_stream_fd(const struct ftrace_stream *s, size_t i);
struct ftrace_stream_counts {
	uint64_t lost; /* the buffers had no room for them */
	uint64_t left; /* they are still in the buffers */
};

/* Counts events, once the stream is switched off. */
int ftrace_stream_count(struct ftrace_stream *s, struct ftrace_stream_counts *ret);
/* After the last pass and the counts: gives the drain the losses that no page has reported. */
int ftrace_stream_end(struct ftrace_stream *s);
void ftrace_stream_free(struct ftrace_stream *s); /* NULL is fine */

#endif
