/* SPDX-License-Identifier: MIT */
/*
 * Lines of records of state (--show-task-events and similar options), and the texts of records that
 * these lines share with the dump.
 *
 *	             wl 10511  4346.335597: PERF_RECORD_COMM exec: wl:10511/10511
 *	head, as of a sample of its event   text: name of the record, what it says
 */
#ifndef SONDE_SINKS_PERF_RECORDS_H
#define SONDE_SINKS_PERF_RECORDS_H

#include "model/event.h"
#include "sinks/line_options.h"
#include "sinks/text/provider.h"
#include "sources/source.h"

struct perfdata_view_record;
struct sink_record;
struct recording;
struct text_options;

/*
 * -EINVAL with a message if the options ask for lists of records that the recording does not have.
 */
int perf_records_check(const struct recording *rec, const struct text_options *o);

/*
 * True if this event of kind SONDE_RECORD has a line; *ret is filled then. For a record of the
 * recorder the raw record has the line, for others the event.
 */
bool perf_record_shown(const struct line_options *o, const struct event *ev, bool is_raw,
		       struct text_record_head *ret);
/*
 * Reads the record as it is stored, for its line and for the dump. The caller zeroes *ret. Fails
 * with -ENOMEM only.
 */
int perf_records_read(const struct sink_record *record, struct event *ret);
/*
 * Prints the line after its head. In a dump, an EXIT is both in its own line and in the dump's
 * line.
 */
void perf_record_put(const struct event *ev, bool in_dump, struct outbuf *out);
/* The letters for misc's bits other than the cpu mode: "M", "E", "S", "Sp" or "". */
const char *perf_record_misc(const struct event *ev);

/* "COMM", "FINISHED_ROUND", ...; "UNKNOWN" for other types. */
const char *perf_record_name(uint32_t type);
/*
 * Prints a record's text after its name, with its line feed. False if the record is damaged; then
 * nothing is written.
 */
bool perf_record_body(const struct event *ev, const struct perfdata_view_record *rec,
		      struct outbuf *out);

#endif
