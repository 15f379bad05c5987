/* SPDX-License-Identifier: MIT */
/* A line of ftrace's text: tracefs' trace and trace_pipe (docs/formats/ftracetext.md). */
#ifndef SONDE_FORMATS_FTRACETEXT_LINE_H
#define SONDE_FORMATS_FTRACETEXT_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ftracetext_kind {
	FTRACETEXT_OTHER, /* belongs to the event in front of it */
	FTRACETEXT_HEAD,  /* a comment, or empty */
	FTRACETEXT_EVENT,
	FTRACETEXT_GRAPH, /* of the tracer function_graph: maybe without a time */
	FTRACETEXT_LOST
};

struct ftracetext_line {
	enum ftracetext_kind kind;
	const char *comm; /* EVENT; borrowed */
	size_t comm_len;
	int32_t pid, tgid, cpu; /* -1 if the line does not say */
	bool has_flags, has_time;
	bool is_latency;        /* in the columns of the latency format */
	uint8_t flags, preempt; /* of common_flags, common_preempt_count */
	uint64_t time_ns;
	const char *text; /* after the columns; borrowed */
	size_t text_len;
	uint64_t lost;
};

/* line has no end of line. */
void ftracetext_line_read(const char *line, size_t len, struct ftracetext_line *ret);
/*
 * "entries-in-buffer/entries-written: 10/25" in a comment. False if the line has no such counts.
 */
bool ftracetext_counts_read(const char *line, size_t len, uint64_t *ret_kept,
			    uint64_t *ret_written);

#endif
