/* SPDX-License-Identifier: MIT */
/*
 * A list of names of events, with commas between; those inside slashes belong to a name. A name may be a pattern (*, ?, []),
 * a tracepoint's without its system, another event's without its modifiers:
 *
 *	sched_switch,irq:*,cycles,cpu/event=0x3c,umask=0x0/
 */
#ifndef SONDE_FILTERS_EVENT_NAMES_H
#define SONDE_FILTERS_EVENT_NAMES_H

#include <stdbool.h>
#include <stddef.h>

struct event_names {
	char **names; /* owned, NULL-terminated; NULL: no list was given, everything is in it */
	size_t nr;
};

/* -ENOMEM; -EINVAL for a name without a letter. */
int event_names_parse(const char *text, struct event_names *ret);
void event_names_done(struct event_names *l);
/* Whether a name of the list means an event of this name. */
bool event_names_match(const char *listed, const char *name, bool is_tracepoint);
bool event_names_hold(const struct event_names *l, const char *name, bool is_tracepoint);

#endif
