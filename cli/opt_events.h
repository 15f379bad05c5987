/* SPDX-License-Identifier: MIT */
/* -e, --pfm-events, --filter and -G: a list of events in the order of the command line. */
#ifndef SONDE_CLI_OPT_EVENTS_H
#define SONDE_CLI_OPT_EVENTS_H

#include <sonde/sonde.h>

#include "opt.h"

struct opt_events {
	struct sonde_record_event *list; /* owned; texts borrowed from argv or from texts */
	size_t n;
	char **texts; /* owned, both arrays and texts */
	size_t nr_texts;
};

/* All return 0, or -1 after opt_error(). */
int opt_events_add(struct opt_parser *p, struct opt_events *l, const char *events);
/* The value of --pfm-events. */
int opt_events_add_pfm(struct opt_parser *p, struct opt_events *l, const char *events);
/* For the events before it. */
int opt_events_filter(struct opt_parser *p, struct opt_events *l, const char *filter);
int opt_events_cgroup(struct opt_parser *p, struct opt_events *l, const char *cgroups);
int opt_events_trigger(struct opt_parser *p, struct opt_events *l, const char *trigger);
void opt_events_done(struct opt_events *l);

#endif
