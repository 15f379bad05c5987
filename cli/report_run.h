/* SPDX-License-Identifier: MIT */
/* One run of a report: what was asked for, what the recording has, and what is printed. */
#ifndef SONDE_CLI_REPORT_RUN_H
#define SONDE_CLI_REPORT_RUN_H

#include "report_options.h"
#include "report_view.h"

struct report {
	const struct cli *cli;
	struct report_args *args;
	int status; /* status of the command, if report_print() returns 0 */
};

/* Data that a recording's event types contain. */
struct report_contents {
	bool chains, branches, accesses, only_tracepoints;
	bool call_stacks; /* some of the branches are calls that have not returned */
	bool namespaces;  /* records say in which namespaces threads are */
	size_t nr_events;
	uint32_t first_event; /* id of the first event type */
};

struct report_run {
	struct report *report;
	struct sonde_session *session;
	struct report_contents has;
	struct report_layout layout;
	struct report_view view;
};

#endif
