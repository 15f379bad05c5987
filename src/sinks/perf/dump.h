/* SPDX-License-Identifier: MIT */
/*
 * The dump of records (-D): prints each record as bytes, then as text; a sample's usual line
 * follows.
 *
 *	                                                         (an empty line)
 *	0x2e8@perf.data [0x110]: event: 69
 *	.
 *	. ... raw event: size 272 bytes
 *	.  0000:  45 00 00 00 00 00 10 01 08 00 00 00 00 00 00 00  E...............
 *	                                                         (an empty line)
 *	0 0 0x2e8 [0x110]: PERF_RECORD_ID_INDEX nr: 8
 */
#ifndef SONDE_SINKS_PERF_DUMP_H
#define SONDE_SINKS_PERF_DUMP_H

#include "base/bytes.h"
#include "base/outbuf.h"
#include "model/event.h"
#include "sinks/line_options.h"
#include "sources/source.h"

struct perfdata_view_record;

struct perf_dump {
	const struct line_options *lines; /* options of the lines that follow each record */
	bool is_unsorted;
	bool is_pipe; /* the input has no name; offsets count from its first record */
	/* Dump like perf report -D, which handles fewer kinds of records than perf script -D. */
	bool is_report;
};

/* True if the dump can be in the order of time; first: the recording's first event type. */
bool perf_dump_is_ordered(const struct perf_dump *d, const struct sonde_schema *first);
/* Dumps a record from perfdata_view_raw(), of the file `path`. */
void perf_dump_put(const struct event *ev, const struct perf_dump *d, const char *path,
		   struct outbuf *out);
/* Prints " ... thread:" and " ...... dso:" in front of the line of a sample's event. */
void perf_dump_thread_put(const struct event *ev, struct outbuf *out);

/* dump_tool.c: prints the text of a record that the recorder wrote; false if it is damaged. */
bool perf_dump_tool_put(const struct event *ev, const struct perfdata_view_record *rec,
			struct outbuf *out);
/*
 * Prints a record that contains the recorder's results: counts, errors of trace decoders. False if
 * it is another record. *head_put is true once the head of the table of counts is written.
 */
bool perf_result_put(const struct event *ev, bool in_dump, bool *head_put, struct outbuf *out);
/* dump_sample.c: prints the values of a sample. */
void perf_dump_sample_put(const struct event *ev, const struct perfdata_view_record *rec,
			  struct outbuf *out);

#endif
