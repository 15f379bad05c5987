/* SPDX-License-Identifier: MIT */
/*
 * Lines of records of state (--show-task-events and its like), and the texts of records that they share with the dump.
 *
 *	             wl 10511  4346.335597: PERF_RECORD_COMM exec: wl:10511/10511
 *	head, as of a sample of its event   text: name of the record, what it says
 */
#ifndef SONDE_SINKS_PERF_RECORDS_H
#define SONDE_SINKS_PERF_RECORDS_H

#include "model/event.h"
#include "sinks/line_options.h"
#include "sources/source.h"

/* Whether this event is one that is shown; *ret is filled if it is. */
bool perf_record_shown(const struct line_options *o, const struct event *ev,
		       struct source_record *ret);
/*
 * The task whose name stands in front of a record: that of the head, which pid and tid of `ret_head` (a copy of ev with
 * the record's ids) need not be. False: the record has no head.
 */
bool perf_record_head(const struct event *ev, const struct source_record *rec,
		      struct event *ret_head, int32_t *ret_pid, int32_t *ret_tid);
/* "M", "E", "S", "Sp" or "": what misc says beside the cpu mode. */
const char *perf_record_misc(const struct source_record *rec);

/* "COMM", "FINISHED_ROUND", ...; "UNKNOWN". */
const char *perf_record_name(uint32_t type);
/* What a record says, from behind its name to its final line feed; false: it is damaged, and nothing was written. */
bool perf_record_body(const struct event *ev, const struct source_record *rec, struct outbuf *out);

#endif
