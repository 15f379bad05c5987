/* SPDX-License-Identifier: MIT */
/* -e, --filter and -G: a list of events in the order of the command line. */
#ifndef SONDE_CLI_OPT_EVENTS_H
#define SONDE_CLI_OPT_EVENTS_H

#include <sonde/sonde.h>

#include "opt.h"

/* Adds to an owned list. Returns 0, or -1 after opt_error(). */
int opt_add_event(struct opt_parser *p, struct sonde_record_event **events, size_t *nr,
		  const struct sonde_record_event *e);
/* The same for what belongs to the events before it. option: "-G", for messages. */
int opt_add_to_event(struct opt_parser *p, const char *option, struct sonde_record_event **events,
		     size_t *nr, const struct sonde_record_event *e);

#endif
